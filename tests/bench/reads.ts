/** Reads of a long history, one after the other through real HTTP: every page as quick as the first. */
import { Agent, get } from 'node:http'
import type { Bench } from './bench.ts'
import { memoryOf, workedBy } from './children.ts'
import { type Floor, openFloor } from './floor.ts'
import { isInstalled, warmUp } from './load.ts'
import { median, megabytes, milliseconds, type Part, quantile, rounded, verdict } from './report.ts'
import { forget, SEEDED_NOW, seededDatabase } from './seed.ts'
import { type Server, startIncmon } from './servers.ts'

const TIMES = 100
const LONG_TIMES = 5
/** A read that takes seconds is not asked as often, in milliseconds in all. */
const LONGEST = 15_000
const LIMIT = 50
const PAGES = [1, 1_000, 100_000]
const DAY = 86_400_000
const HALF = `from=${instant(300)}&to=${instant(100)}`
/** Milliseconds. */
const PAGE_TARGET = 5
const VIEW_TARGET = 10
const STALL_TARGET = 20

/** `serviceId`: of a page of alerts, whose floor is looked for; null for all services. */
type Read = { readonly name: string; readonly path: string; readonly most?: number; readonly serviceId?: string | null }
type Get = (path: string) => Promise<{ readonly status: number; readonly text: string }>

export async function benchReads(bench: Bench): Promise<Part[]> {
  if (bench.rows === 0) return []
  const database = seededDatabase(bench.rows, bench.tell)
  const server = await startIncmon(bench.program, database)
  // What fires comes the way it always comes, so that the seed knows nothing of how it is kept.
  if (isInstalled('wrk')) await warmUp(server)
  const agents = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: 1 })) as [Agent, Agent]
  const [ask, beside] = agents.map((agent) => askOf(server, agent)) as [Get, Get]
  const floor = openFloor(database, LIMIT)
  const rows: string[][] = []
  const service = await serviceOf(ask)
  for (const read of await readsOf(ask, service)) {
    rows.push(await measure(ask, read, floor))
    bench.tell(rows.at(-1)?.slice(0, 2).join(': ') ?? '')
  }
  const searches = await measureSearches({ ask, beside }, server, searchesOf(service), bench.tell)
  const { now, highest } = memoryOf(server.child)
  floor.close()
  for (const agent of agents) agent.destroy()
  await server.child.stop()
  if (!bench.keep) forget(database)
  const sizes = `${rounded(bench.rows)} alerts and as many events`
  return [
    {
      title: `Reads at ${sizes}`,
      columns: ['GET', 'median', 'p99', 'target', '× floor'],
      rows,
      note: `At most ${TIMES} requests each over one connection. Floor: the same ${LIMIT} rows by a cursor that is known, read by hand and turned into JSON, without HTTP. Resident memory after all reads ${megabytes(now)}, at its highest ${megabytes(highest)}.`,
    },
    {
      title: `Long reads at ${sizes}, and what waits for them`,
      columns: ['GET', 'median', 'meanwhile GET /healthz: p99', 'longest', 'longest work', 'target'],
      rows: searches,
      note: 'GET /healthz is asked again and again over a connection of its own. Longest work: how long the main thread of the server ran at most until it answered, by the kernel: its longest stall, whatever else this machine did.',
    },
  ]
}

async function serviceOf(ask: Get): Promise<string> {
  const services = (await json(ask, '/api/services?archived=1')) as { id: string; name: string }[]
  return services.find(({ name }) => name === 'svc-0001')?.id ?? ''
}

/** Pages from the first to the last of each list, the total alone, then the views. */
async function readsOf(ask: Get, service: string): Promise<Read[]> {
  const incidents = (await json(ask, '/api/incidents?limit=5')) as { data: { id: string }[] }
  const reads: Read[] = []
  for (const [words, filter, serviceId] of [
    ['', '', null],
    [', one service', `serviceId=${service}`, service],
    [', half the time', HALF, null],
    [', one service, half the time', `serviceId=${service}&${HALF}`, service],
  ] as const) {
    const pages = await pagesOf(ask, filter)
    for (const page of [...PAGES.filter((one) => one < pages), pages]) {
      const path = `/api/alerts?limit=${LIMIT}&page=${page}&${filter}`
      const last = page === pages ? ', the last' : ''
      reads.push({ name: `alerts, page ${rounded(page)}${last}${words}`, path, most: PAGE_TARGET, serviceId })
    }
  }
  return [
    ...reads,
    { name: 'alerts, the total alone', path: '/api/alerts?limit=1', most: PAGE_TARGET },
    { name: 'services, all', path: '/api/services?archived=1', most: VIEW_TARGET },
    { name: 'one service', path: `/api/services/${service}`, most: VIEW_TARGET },
    { name: 'one incident', path: `/api/incidents/${incidents.data.at(-1)?.id}`, most: VIEW_TARGET },
    { name: 'sources', path: '/api/sources', most: VIEW_TARGET },
    { name: 'alerts that fire', path: '/api/alerts?status=firing', most: VIEW_TARGET },
    { name: 'nothing: the way there and back', path: '/healthz' },
  ]
}

async function pagesOf(ask: Get, filter: string): Promise<number> {
  const { pagination } = (await json(ask, `/api/alerts?limit=${LIMIT}&${filter}`)) as {
    pagination: { totalPages: number }
  }
  return pagination.totalPages
}

async function measure(ask: Get, { name, path, most, serviceId }: Read, floor: Floor): Promise<string[]> {
  const times = await timesOf(ask, path)
  const cells = [name, milliseconds(median(times)), milliseconds(quantile(times, 0.99))]
  const target = most === undefined ? '' : verdict(median(times), { most })
  if (serviceId === undefined) return [...cells, target, '']
  const { data } = (await json(ask, path)) as { data: { id: string }[] }
  const least = median(Array.from({ length: TIMES }, () => floor.read(serviceId, data[0]?.id ?? '')))
  return [...cells, target, (median(times) / least).toFixed(1)]
}

/** What looks at all of history, and how long the server kept somebody else waiting meanwhile. */
async function measureSearches(
  asks: { ask: Get; beside: Get },
  server: Server,
  reads: readonly Read[],
  tell: Bench['tell'],
) {
  const rows: string[][] = []
  for (const { name, path } of reads) {
    let asking = true
    const waits = watch(asks.beside, server.child, () => asking)
    const times = path === '' ? await rest() : await timesOf(asks.ask, path, LONG_TIMES)
    asking = false
    const all = await waits
    const longest = (name: keyof Wait) => Math.max(...all.map((wait) => wait[name]))
    const stall = longest('worked')
    const middle = path === '' ? '' : milliseconds(median(times))
    rows.push([
      ...[
        name,
        middle,
        milliseconds(
          quantile(
            all.map(({ answered }) => answered),
            0.99,
          ),
        ),
      ],
      ...[milliseconds(longest('answered')), milliseconds(stall), verdict(stall, { most: STALL_TARGET })],
    ])
    tell(rows.at(-1)?.join(': ') ?? '')
  }
  return rows
}

function searchesOf(service: string): Read[] {
  return [
    { name: 'nothing', path: '' },
    { name: 'events, page 1', path: '/api/events' },
    { name: 'events, page 100 000', path: '/api/events?page=100000' },
    { name: 'events of one service', path: `/api/events?serviceId=${service}` },
    { name: 'alerts, one service, critical', path: `/api/alerts?serviceId=${service}&severity=critical` },
    { name: 'alerts, 10 days, critical', path: `/api/alerts?severity=critical&from=${instant(10)}` },
    { name: 'alerts, all of history, critical', path: '/api/alerts?severity=critical' },
    { name: 'alerts, all of history, a word', path: '/api/alerts?q=nowhere' },
    { name: 'report of 60 days', path: `/api/reports/reliability?from=${instant(60)}&to=${instant(0)}` },
  ]
}

type Wait = { readonly answered: number; readonly worked: number }

/** How long each answer took, one after the other, and how long the server's thread worked until then. */
async function watch(ask: Get, child: Server['child'], isNeeded: () => boolean): Promise<Wait[]> {
  const waits: Wait[] = []
  while (isNeeded()) {
    const before = { at: performance.now(), worked: workedBy(child) }
    await ask('/healthz')
    waits.push({ answered: performance.now() - before.at, worked: workedBy(child) - before.worked })
  }
  return waits
}

function rest(): Promise<number[]> {
  return new Promise((resolve) => setTimeout(() => resolve([]), 3_000))
}

async function timesOf(ask: Get, path: string, most = TIMES): Promise<number[]> {
  const times: number[] = []
  const until = performance.now() + LONGEST
  for (let time = 0; time < most && performance.now() < until; time += 1) {
    const started = performance.now()
    const { status, text } = await ask(path)
    times.push(performance.now() - started)
    if (status !== 200) throw new Error(`GET ${path} was answered ${status}: ${text.slice(0, 300)}`)
  }
  return times
}

async function json(ask: Get, path: string): Promise<unknown> {
  const { status, text } = await ask(path)
  if (status !== 200) throw new Error(`GET ${path} was answered ${status}: ${text.slice(0, 300)}`)
  return JSON.parse(text)
}

function askOf({ url, token }: Server, agent: Agent): Get {
  const headers = { Authorization: `Bearer ${token}` }
  return (path) =>
    new Promise((resolve, reject) => {
      const request = get(url + path, { agent, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') })
        })
      })
      request.on('error', reject)
    })
}

function instant(daysAgo: number): string {
  return new Date(SEEDED_NOW - daysAgo * DAY).toISOString()
}
