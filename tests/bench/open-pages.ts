/** Measures the cost of open pages for ingest: each has an event stream and refreshes itself like the pages' script. */
import { Agent, type ClientRequest, get } from 'node:http'
import { askOf } from './asking.ts'
import { workedByAll } from './children.ts'
import { type Load, type Outcome, post, warmUp } from './load.ts'
import type { Bench } from './options.ts'
import { median, rounded, spread, verdict } from './report.ts'
import { type Server, startIncmon } from './servers.ts'

const PAGES = 500
const LEAST_RATIO = 0.95
const LOAD: Load = { mode: 'new', alerts: 1, severity: 'warning' }
/** As in `src/client/live.ts`, in milliseconds. */
const LEAST_WAIT = 2_000
const SPREAD = 300

/** Measures ingest with and without open pages in turn, under the same conditions. */
export async function measureOpenPages({ program, directory, rounds, seconds, connections, tell }: Bench) {
  const limit = String(3 * PAGES)
  const settings = ['--max-connections', limit, '--max-connections-per-address', limit]
  const server = await startIncmon(program, `${directory}/open-pages.db`, { settings })
  try {
    await warmUp(server)
    const cookie = await signIn(server)
    const [byWork, byRate]: [number[], number[]] = [[], []]
    for (let round = 1; round <= rounds; round += 1) {
      const alone = await ingest(server, { seconds, connections })
      const pages = await Promise.all(Array.from({ length: PAGES }, () => openPage(server, cookie)))
      const beside = await ingest(server, { seconds, connections })
      const closed = pages.map((page) => page.close())
      const [shown, refused] = [200, 503].map((one) => closed.reduce((sum, counts) => sum + (counts.get(one) ?? 0), 0))
      byWork.push(alone.work / beside.work)
      byRate.push(beside.perSecond / alone.perSecond)
      const rates = [alone, beside].map(({ perSecond }) => rounded(perSecond))
      const taken = ((beside.work - alone.work) * beside.requests) / beside.seconds / 10
      tell(
        `round ${round}: ${rates[0]} requests/s alone, ${rates[1]} beside ${shown} refreshes, ${refused} refused; the pages took ${taken.toFixed(1)} % of a core`,
      )
    }
    const least = verdict(median(byWork), { least: LEAST_RATIO })
    return `Ingest beside ${PAGES} open pages ÷ without: ${spread(byWork)} by processor time (${least}), ${spread(byRate)} by requests/s. 1 new warning a request, ${rounds} rounds in turns.`
  } finally {
    await server.child.stop()
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

/** `work` is the CPU time of all server threads per webhook request, in milliseconds. */
async function ingest(server: Server, extent: { readonly seconds: number; readonly connections: number }) {
  const before = workedByAll(server.child)
  const began = performance.now()
  const outcome: Outcome = await post(server, LOAD, extent)
  const seconds = (performance.now() - began) / 1000
  return { ...outcome, seconds, work: (workedByAll(server.child) - before) / outcome.requests }
}

/** Opens a page and resolves when its stream has received its headers. `close` returns its refreshes by status. */
async function openPage(
  server: Server,
  cookie: string,
): Promise<{ readonly close: () => ReadonlyMap<number, number> }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { Cookie: cookie, Accept: 'text/html', 'Accept-Encoding': 'gzip', 'X-Refresh': '1' }
  const ask = askOf(server, agent, headers)
  const counts = new Map<number, number>()
  let [pending, nextAt] = [false, 0]
  let timer: NodeJS.Timeout | undefined
  const schedule = () => {
    pending = true
    timer ??= setTimeout(refresh, Math.max(Math.random() * SPREAD, nextAt - performance.now()))
  }
  const refresh = async () => {
    pending = false
    const began = performance.now()
    // A page that was closed in the meantime gets no response.
    const answer = await ask('/').catch(() => null)
    if (answer) counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1)
    if (answer?.status === 503) pending = true
    const wait = Math.max(LEAST_WAIT, Number(answer?.headers['x-refresh-after'] ?? 0))
    nextAt = performance.now() + Math.max(wait, 10 * (performance.now() - began))
    timer = undefined
    if (pending) schedule()
  }
  const stream = await openStream(server, cookie, schedule)
  const close = () => {
    pending = false
    clearTimeout(timer)
    stream.destroy()
    agent.destroy()
    return counts
  }
  return { close }
}

function openStream({ url }: Server, cookie: string, told: () => void): Promise<ClientRequest> {
  const headers = { Cookie: cookie, Accept: 'text/event-stream' }
  return new Promise((resolve, reject) => {
    const request = get(`${url}/api/stream`, { headers, agent: false }, (response) => {
      response.on('error', () => {})
      response.on('data', (chunk: Buffer) => chunk.includes('event: ') && told())
      if (response.statusCode === 200) resolve(request)
      else reject(new Error(`the stream answered ${response.statusCode}`))
    })
    request.on('error', reject)
  })
}
