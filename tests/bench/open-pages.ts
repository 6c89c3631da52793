/** Measures the cost of open pages for ingest: each has an event stream and refreshes itself like the pages' script. */
import { Agent, type ClientRequest, get } from 'node:http'
import { askOf } from './asking.ts'
import { workedBy, workedByAll } from './children.ts'
import { type Load, post, warmUp } from './load.ts'
import type { Bench } from './options.ts'
import { median, type Part, rounded, spread, type Table, verdict } from './report.ts'
import { type Server, startIncmon } from './servers.ts'

const PAGES = 500
const LEAST_RATIO = 0.95
const LOAD: Load = { mode: 'new', alerts: 1, severity: 'warning' }
/** As in `src/client/live.ts`, in milliseconds. */
const STATUS_WAIT = 500
const LEAST_WAIT = 2_000
const SPREAD = 300
const SETTLE_SECONDS = 3

/** `main` and `all` are the CPU time of the server's main thread and of all its threads per webhook, in milliseconds. */
type Ingest = { readonly main: number; readonly all: number; readonly perSecond: number }

/**
 * Measures ingest with open pages. Each measurement is compared with those before and after it without open pages,
 * because requests become slower while the number of active alerts grows.
 */
export async function benchStreams(bench: Bench): Promise<Part[]> {
  const { program, directory, rounds, tell } = bench
  const limit = String(5 * PAGES)
  const settings = ['--max-connections', limit, '--max-connections-per-address', limit]
  const server = await startIncmon(program, `${directory}/streams.db`, { settings })
  try {
    await warmUp(server)
    const cookies = await Promise.all(Array.from({ length: PAGES }, () => signIn(server)))
    const ratios: Ingest[] = []
    let before = await ingest(server, bench)
    for (let round = 1; round <= rounds; round += 1) {
      const pages = await Promise.all(cookies.map((cookie) => openPage(server, cookie)))
      const beside = await ingest(server, bench)
      const answers = pages.flatMap((page) => page.close())
      const after = await ingest(server, bench)
      const mean = (figure: keyof Ingest) => (before[figure] + after[figure]) / 2
      const [main, all] = [mean('main') / beside.main, mean('all') / beside.all]
      ratios.push({ main, all, perSecond: beside.perSecond / mean('perSecond') })
      const share = ((beside.main - mean('main')) * beside.perSecond) / 10
      const refused = answers.filter((status) => status === 503).length
      tell(
        `round ${round}: ${[before, beside, after].map(({ perSecond }) => rounded(perSecond)).join(', ')} requests/s without, beside and without pages; ${answers.length} refreshes, ${refused} refused; the pages took ${(100 - 100 * main).toFixed(1)} % of the main thread's work, ${share.toFixed(1)} % of a core`,
      )
      before = after
    }
    return [tableOf(ratios, bench)]
  } finally {
    await server.child.stop()
  }
}

function tableOf(ratios: readonly Ingest[], { rounds, seconds, connections }: Bench): Table {
  const row = (name: string, figure: keyof Ingest) => {
    const all = ratios.map((one) => one[figure])
    return [name, spread(all), figure === 'main' ? verdict(median(all), { least: LEAST_RATIO }) : '']
  }
  return {
    title: `Ingest beside ${PAGES} open pages ÷ without`,
    columns: ['by', 'ratio', 'target'],
    rows: [
      row('processor time of the main thread', 'main'),
      row('processor time of all threads', 'all'),
      row('requests/s', 'perSecond'),
    ],
    note: `1 new warning a request, ${connections} connections without a pause, ${rounds} rounds of ${seconds} s. Each page is an overview with a session of its own.`,
  }
}

/** Creates a session and returns its cookie. */
export async function signIn({ url, token }: Server): Promise<string> {
  const response = await fetch(`${url}/sign-in`, {
    method: 'POST',
    headers: { Origin: url, 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token, person: 'Ada' }).toString(),
    redirect: 'manual',
  })
  const [cookie = ''] = response.headers.getSetCookie()
  if (response.status !== 303 || cookie === '') throw new Error(`sign-in answered ${response.status}`)
  return cookie.slice(0, cookie.indexOf(';'))
}

async function ingest(
  server: Server,
  extent: { readonly seconds: number; readonly connections: number },
): Promise<Ingest> {
  // Not measured: all pages refresh when the load begins, and later at their own times.
  await post(server, LOAD, { ...extent, seconds: SETTLE_SECONDS })
  const worked = () => [workedBy(server.child), workedByAll(server.child)] as const
  const before = worked()
  const { requests, perSecond } = await post(server, LOAD, extent)
  const after = worked()
  return { main: (after[0] - before[0]) / requests, all: (after[1] - before[1]) / requests, perSecond }
}

/** `close` returns the statuses of the page's refreshes. */
type OpenPage = { readonly close: () => readonly number[] }

/** Opens a page like the pages' script. Resolves when the server has answered its stream. */
export async function openPage(server: Server, cookie: string): Promise<OpenPage> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { Cookie: cookie, Accept: 'text/html', 'Accept-Encoding': 'gzip', 'X-Refresh': '1' }
  const ask = askOf(server, agent, headers)
  const statuses: number[] = []
  let [pending, lastAt, wanted, timerAt, isAsking] = [0, 0, 0, 0, false]
  let timer: NodeJS.Timeout | undefined
  const schedule = (wait: number) => {
    pending = Math.min(pending || wait, wait)
    if (isAsking) return
    const at = Math.max(performance.now() + Math.random() * SPREAD, lastAt + Math.max(wanted, pending))
    if (timer && timerAt <= at) return
    clearTimeout(timer)
    timerAt = at
    timer = setTimeout(refresh, at - performance.now())
  }
  const refresh = async () => {
    pending = 0
    timer = undefined
    isAsking = true
    lastAt = performance.now()
    // A page that was closed in the meantime gets no response.
    const answer = await ask('/').catch(() => null)
    if (answer) statuses.push(answer.status)
    if (answer?.status === 503) pending = LEAST_WAIT
    wanted = Math.max(Number(answer?.headers['x-refresh-after'] ?? 0), 2 * (performance.now() - lastAt))
    isAsking = false
    if (pending > 0) schedule(pending)
  }
  const stream = await openStream(server, cookie, schedule)
  const close = () => {
    pending = 0
    clearTimeout(timer)
    stream.destroy()
    agent.destroy()
    return statuses
  }
  return { close }
}

function openStream({ url }: Server, cookie: string, told: (wait: number) => void): Promise<ClientRequest> {
  const headers = { Cookie: cookie, Accept: 'text/event-stream' }
  return new Promise((resolve, reject) => {
    const request = get(`${url}/api/stream`, { headers, agent: false }, (response) => {
      response.on('error', () => {})
      response.on('data', (chunk: Buffer) => {
        if (chunk.includes('event: ')) told(chunk.includes('event: service') ? STATUS_WAIT : LEAST_WAIT)
      })
      if (response.statusCode === 200) resolve(request)
      else reject(new Error(`the stream answered ${response.statusCode}`))
    })
    request.on('error', reject)
  })
}
