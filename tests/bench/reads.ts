/** Measures reads of a long history over HTTP, one at a time. Every page should be as fast as the first. */
import { Agent } from 'node:http'
import SQLite from 'better-sqlite3'
import { askOf, type Get, instant, json, timesOf } from './asking.ts'
import { memoryOf, workedBy } from './children.ts'
import { isInstalled, warmUp } from './load.ts'
import type { Bench } from './options.ts'
import { median, megabytes, milliseconds, type Part, quantile, rounded, verdict } from './report.ts'
import { measureSearches } from './searches.ts'
import { forget, seededDatabase } from './seed.ts'
import { type Server, startIncmon } from './servers.ts'

const TIMES = 100
const LIMIT = 50
const PAGES = [1, 1_000, 100_000]
const HALF = `from=${instant(300)}&to=${instant(100)}`
const PAGE_TARGET = 5
const VIEW_TARGET = 10

/** `serviceId` is set for pages of alerts that are compared with the floor; null means all services. */
type Read = { readonly name: string; readonly path: string; readonly most?: number; readonly serviceId?: string | null }

export async function benchReads(bench: Bench): Promise<Part[]> {
  if (bench.rows === 0) return []
  const database = seededDatabase(bench.rows, bench.tell)
  const server = await startIncmon(bench.program, database)
  // Firing alerts are sent in the usual way, so that the seed does not depend on how they are stored.
  if (isInstalled('wrk')) await warmUp(server)
  const agents = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: 1 })) as [Agent, Agent]
  const [ask, beside] = agents.map((agent) => askOf(server, agent)) as [Get, Get]
  const floor = openFloor(database, LIMIT)
  const rows: string[][] = []
  const service = await serviceOf(ask)
  for (const read of await readsOf(ask, service)) {
    rows.push(await measure(ask, server, read, floor))
    bench.tell(rows.at(-1)?.slice(0, 2).join(': ') ?? '')
  }
  const searches = await measureSearches({ ask, beside }, server, service, bench.tell)
  const { now, highest } = memoryOf(server.child)
  floor.close()
  for (const agent of agents) agent.destroy()
  await server.child.stop()
  if (!bench.keep) forget(database)
  const sizes = `${rounded(bench.rows)} alerts and as many events`
  return [
    {
      title: `Reads at ${sizes}`,
      columns: ['GET', 'median', 'p99', 'target', 'work', '× floor'],
      rows,
      note: `${TIMES} requests each over one connection. Work: how long the main thread of the server ran for one, by the kernel, whatever else this machine did. Floor: the same ${LIMIT} rows by a cursor that is known, read by hand and turned into JSON, without HTTP. Resident memory after all reads ${megabytes(now)}, at its highest ${megabytes(highest)}.`,
    },
    {
      title: `Long reads at ${sizes}, and what waits for them`,
      columns: ['GET', 'median', 'meanwhile GET /healthz: p99', 'longest', 'longest work', 'target'],
      rows: searches,
      note: 'GET /healthz is asked again and again over a connection of its own. Longest work: how long the main thread of the server ran at most until it answered, by the kernel, less what the bench itself stood in line for a processor meanwhile: its longest stall, whatever else this machine did.',
    },
  ]
}

async function serviceOf(ask: Get): Promise<string> {
  const services = (await json(ask, '/api/services?archived=1')) as { id: string; name: string }[]
  return services.find(({ name }) => name === 'svc-0001')?.id ?? ''
}

/** Pages from the first to the last of each list, then the totals, then the views. */
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
    { name: 'alerts that are over', path: '/api/alerts?status=resolved', most: VIEW_TARGET },
    { name: 'nothing: the way there and back', path: '/healthz' },
  ]
}

async function pagesOf(ask: Get, filter: string): Promise<number> {
  const { pagination } = (await json(ask, `/api/alerts?limit=${LIMIT}&${filter}`)) as {
    pagination: { totalPages: number }
  }
  return pagination.totalPages
}

async function measure(
  ask: Get,
  { child }: Server,
  { name, path, most, serviceId }: Read,
  floor: Floor,
): Promise<string[]> {
  await ask(path)
  const before = workedBy(child)
  const times = await timesOf(ask, path, TIMES)
  const work = milliseconds((workedBy(child) - before) / times.length)
  const target = most === undefined ? '' : verdict(median(times), { most })
  const cells = [name, milliseconds(median(times)), milliseconds(quantile(times, 0.99)), target, work]
  if (serviceId === undefined) return [...cells, '']
  const { data } = (await json(ask, path)) as { data: { id: string }[] }
  const least = median(Array.from({ length: TIMES }, () => floor.read(serviceId, data[0]?.id ?? '')))
  return [...cells, (median(times) / least).toFixed(1)]
}

/** The lower limit for a page of alerts: reading its rows from a known cursor, without HTTP. */
type Floor = {
  /** Returns the milliseconds for the page that starts with this alert, for one service or the whole organization. */
  readonly read: (serviceId: string | null, firstId: string) => number
  readonly close: () => void
}

function openFloor(database: string, limit: number): Floor {
  const sqlite = new SQLite(database, { readonly: true })
  const page = (column: string) =>
    sqlite.prepare(
      `SELECT * FROM alerts WHERE ${column} = ? AND (starts_at, id) <= (?, ?) ORDER BY starts_at DESC, id DESC LIMIT ${limit}`,
    )
  const [ofOrganization, ofService] = [page('organization_id'), page('service_id')]
  const find = sqlite.prepare<[Buffer], { id: number; starts_at: number; organization_id: number; service_id: number }>(
    'SELECT id, starts_at, organization_id, service_id FROM alerts WHERE uuid = ?',
  )
  return {
    read: (serviceId, firstId) => {
      const first = find.get(Buffer.from(firstId.replaceAll('-', ''), 'hex'))
      if (!first) throw new Error(`no alert ${firstId}`)
      const { id, starts_at, organization_id, service_id } = first
      const started = performance.now()
      const rows =
        serviceId === null
          ? ofOrganization.all(organization_id, starts_at, id)
          : ofService.all(service_id, starts_at, id)
      JSON.stringify(rows)
      return performance.now() - started
    },
    close: () => void sqlite.close(),
  }
}
