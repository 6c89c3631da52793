/** Reads of a long history, one after the other through real HTTP: every page as quick as the first. */
import { Agent, get } from 'node:http'
import type { Bench } from './bench.ts'
import { memoryOf } from './children.ts'
import { isInstalled, warmUp } from './load.ts'
import { median, megabytes, milliseconds, type Part, quantile, rounded, verdict } from './report.ts'
import { forget, SEEDED_NOW, seededDatabase } from './seed.ts'
import { type Server, startIncmon } from './servers.ts'

const TIMES = 30
const LIMIT = 50
const DAY = 86_400_000
const HALF = `from=${instant(300)}&to=${instant(100)}`
/** Milliseconds. */
const PAGE_TARGET = 5
const VIEW_TARGET = 10

type Read = { readonly name: string; readonly path: string; readonly most: number }
type Get = (path: string) => Promise<{ readonly status: number; readonly text: string }>

export async function benchReads(bench: Bench): Promise<Part[]> {
  if (bench.rows === 0) return []
  const database = seededDatabase(bench.rows, bench.tell)
  const server = await startIncmon(bench.program, database)
  // What fires comes the way it always comes, so that the seed knows nothing of how it is kept.
  if (isInstalled('wrk')) await warmUp(server)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = askOf(server, agent)
  const rows: string[][] = []
  for (const read of await readsOf(ask)) {
    rows.push(await measure(ask, read))
    bench.tell(rows.at(-1)?.slice(0, 2).join(': ') ?? '')
  }
  const { now, highest } = memoryOf(server.child)
  agent.destroy()
  await server.child.stop()
  if (!bench.keep) forget(database)
  return [
    {
      title: `Reads at ${rounded(bench.rows)} alerts and as many events`,
      columns: ['GET', 'median', 'p99', 'target'],
      rows,
      note: `${TIMES} requests each over one connection. Resident memory after them ${megabytes(now)}, at its highest ${megabytes(highest)}.`,
    },
  ]
}

/** First, middle and last page of each list, then the views. */
async function readsOf(ask: Get): Promise<Read[]> {
  const services = (await json(ask, '/api/services?archived=1')) as { id: string; name: string }[]
  const service = services.find(({ name }) => name === 'svc-0001')?.id ?? ''
  const incidents = (await json(ask, '/api/incidents?limit=5')) as { data: { id: string }[] }
  const reads: Read[] = []
  for (const [words, filter] of [
    ['', ''],
    [', one service', `serviceId=${service}`],
    [', half the time', HALF],
    [', one service, half the time', `serviceId=${service}&${HALF}`],
  ] as const) {
    const pages = await pagesOf(ask, filter)
    for (const page of new Set([1, Math.ceil(pages / 2), pages])) {
      const path = `/api/alerts?limit=${LIMIT}&page=${page}&${filter}`
      reads.push({ name: `alerts, page ${rounded(page)}${words}`, path, most: PAGE_TARGET })
    }
  }
  return [
    ...reads,
    { name: `services, all ${rounded(services.length)}`, path: '/api/services?archived=1', most: VIEW_TARGET },
    { name: 'one service', path: `/api/services/${service}`, most: VIEW_TARGET },
    { name: 'one incident', path: `/api/incidents/${incidents.data.at(-1)?.id}`, most: VIEW_TARGET },
    { name: 'sources', path: '/api/sources', most: VIEW_TARGET },
  ]
}

async function pagesOf(ask: Get, filter: string): Promise<number> {
  const { pagination } = (await json(ask, `/api/alerts?limit=${LIMIT}&${filter}`)) as {
    pagination: { totalPages: number }
  }
  return pagination.totalPages
}

async function measure(ask: Get, { name, path, most }: Read): Promise<string[]> {
  const times: number[] = []
  for (let time = 0; time < TIMES; time += 1) {
    const started = performance.now()
    const { status, text } = await ask(path)
    times.push(performance.now() - started)
    if (status !== 200) throw new Error(`GET ${path} was answered ${status}: ${text.slice(0, 300)}`)
  }
  return [name, milliseconds(median(times)), milliseconds(quantile(times, 0.99)), verdict(median(times), { most })]
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
