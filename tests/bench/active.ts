/** Measures many active alerts: memory compared with Alertmanager, the list of firing alerts, and the startup time. */
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import SQLite from 'better-sqlite3'
import { askOf, json, timesOf } from './asking.ts'
import { memoryOf } from './children.ts'
import { fill, isInstalled } from './load.ts'
import type { Bench } from './options.ts'
import { median, megabytes, milliseconds, type Part, quantile, rounded, type Table, verdict } from './report.ts'
import { answers, type Server, startAlertmanager, startIncmon } from './servers.ts'

const FEW = 10_000
/** One in ten alerts is critical. */
const CRITICAL = 0.1
const STARTS = 3
const PAGE = '/api/alerts?status=firing'
const PAGE_TIMES = 100
const SETTLED_AFTER_MS = 2_000
/** Tables with at least this many rows are shown. */
const LARGE_TABLE = 1_000

/** Targets with 100,000 active alerts. */
const MAX_PAGE_MS = 5
const MAX_MEMORY_MB = 300
const MAX_MEMORY_RATIO = 0.25
const MAX_START_MS = { few: 300, many: 2_000 } as const

type Starts = { readonly alerts: number; readonly healthz: number[]; readonly webhook: number[]; readonly most: number }

export async function benchActive(bench: Bench): Promise<Part[]> {
  const database = join(bench.directory, 'active.db')
  const starts: Starts[] = []
  const few = Math.min(FEW, bench.active)
  await fillAll(bench, await startIncmon(bench.program, database), 0, few, () => undefined)
  starts.push(await measureStarts(bench, database, few, MAX_START_MS.few))
  const rest = bench.active - few
  const own = await fillAll(bench, await startIncmon(bench.program, database), few, rest, measureServer)
  if (rest > 0) starts.push(await measureStarts(bench, database, bench.active, MAX_START_MS.many))
  const restarted = await startIncmon(bench.program, database)
  await requireFiring(restarted, bench.active)
  await sleep(SETTLED_AFTER_MS)
  const afterStart = memoryOf(restarted.child).now
  await restarted.child.stop()
  return [startTable(starts), await memoryTable(bench, own, afterStart), pageLine(bench, own), bytesPerRow(database)]
}

function pageLine({ active }: Bench, { page }: Measured): string {
  const reached = verdict(median(page), { most: MAX_PAGE_MS })
  const times = `median ${milliseconds(median(page))} (${reached}), p99 ${milliseconds(quantile(page, 0.99))}`
  return `GET ${PAGE} with ${rounded(active)} active alerts: ${times}, ${page.length} requests.`
}

/** Adds `count` new alerts to the server, calls `use`, and stops the server. */
async function fillAll<T>(
  bench: Bench,
  server: Server,
  before: number,
  count: number,
  use: (server: Server, total: number) => Promise<T> | T,
): Promise<T> {
  const critical = Math.floor((count * CRITICAL) / 20) * 20
  if (count > 0) {
    const warnings = await fill(server, 'warning', count - critical)
    const criticals = critical > 0 ? await fill(server, 'critical', critical) : 0
    const speeds = `${rounded(warnings)} warnings a second, ${rounded(criticals)} critical alerts a second`
    bench.tell(`${server.name} has ${rounded(before + count)} active alerts: ${speeds}`)
  }
  const found = await use(server, before + count)
  await server.child.stop()
  return found
}

type Measured = { readonly memory: ReturnType<typeof memoryOf>; readonly page: readonly number[] }

async function measureServer(server: Server, total: number): Promise<Measured> {
  await requireFiring(server, total)
  await sleep(SETTLED_AFTER_MS)
  const memory = memoryOf(server.child)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const page = await timesOf(askOf(server, agent), PAGE, PAGE_TIMES)
  agent.destroy()
  return { memory, page }
}

/** @throws Error if the server lists a different number of firing alerts */
async function requireFiring(server: Server, total: number): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const { pagination } = (await json(askOf(server, agent), `${PAGE}&limit=1`)) as { pagination: { total: number } }
  agent.destroy()
  if (pagination.total !== total) throw new Error(`${pagination.total} alerts fire instead of ${total}`)
}

/** Measures the time from process start to the first response of /healthz, and to the first stored webhook. */
async function measureStarts(bench: Bench, database: string, alerts: number, most: number): Promise<Starts> {
  const starts: Starts = { alerts, healthz: [], webhook: [], most }
  for (let time = 0; time < STARTS; time += 1) {
    const server = await startIncmon(bench.program, database)
    await answers(`${server.url}/healthz`, server.child)
    starts.healthz.push(performance.now() - server.child.startedAt)
    await storeNothingNew(server)
    starts.webhook.push(performance.now() - server.child.startedAt)
    await server.child.stop()
  }
  bench.tell(`starts with ${rounded(alerts)} active alerts in ${milliseconds(median(starts.webhook))}`)
  return starts
}

/** Sends the end of an unknown alert, which passes through the whole write path and leaves no active alert. */
async function storeNothingNew({ url, token }: Server): Promise<void> {
  const alert = {
    status: 'resolved',
    labels: { alertname: 'Started', service: 'svc-000' },
    startsAt: '2026-01-01T00:00:00Z',
  }
  const response = await fetch(`${url}/api/webhooks/metrics`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({ alerts: [{ ...alert, endsAt: '2026-01-01T00:01:00Z' }] }),
  })
  if (response.status !== 200) throw new Error(`the first webhook was answered ${response.status}`)
}

function startTable(all: readonly Starts[]): Table {
  return {
    title: 'Start with active alerts',
    columns: ['active alerts', 'first /healthz', 'first webhook', 'lowest–highest', 'target'],
    rows: all.map(({ alerts, healthz, webhook, most }) => [
      rounded(alerts),
      milliseconds(median(healthz)),
      milliseconds(median(webhook)),
      `${milliseconds(Math.min(...webhook))}–${milliseconds(Math.max(...webhook))}`,
      verdict(median(webhook), { most }),
    ]),
    note: `Medians of ${STARTS} starts of the executable, from the start of the process.`,
  }
}

async function memoryTable(bench: Bench, { memory }: Measured, afterStart: number): Promise<Table> {
  const { now, highest } = memory
  const rows = [
    ['incmon, after it received them', megabytes(now), megabytes(highest), verdict(highest, { most: MAX_MEMORY_MB })],
    ['incmon, after a restart', megabytes(afterStart), '', ''],
  ]
  if (isInstalled('prometheus-alertmanager')) {
    const server = await startAlertmanager(join(bench.directory, 'alertmanager-active'))
    const other = await fillAll(bench, server, 0, bench.active, async ({ child }) => {
      await sleep(SETTLED_AFTER_MS)
      return memoryOf(child)
    })
    rows.push(['Alertmanager', megabytes(other.now), megabytes(other.highest), ''])
    const ratio = now / other.now
    rows.push([
      'incmon ÷ Alertmanager',
      ratio.toFixed(2),
      (highest / other.highest).toFixed(2),
      verdict(ratio, { most: MAX_MEMORY_RATIO }),
    ])
  }
  return {
    title: `Resident memory with ${rounded(bench.active)} active alerts`,
    columns: ['', 'now', 'highest', 'target'],
    rows,
  }
}

/** Measures the disk space per row, including indexes, of each large table. No process must have the database open. */
function bytesPerRow(database: string): Table {
  const sqlite = new SQLite(database, { readonly: true })
  try {
    const sizes = sqlite
      .prepare<[], { name: string; own: number; indexes: number }>(
        `SELECT s.tbl_name AS name, sum(d.pgsize * (s.type = 'table')) AS own, sum(d.pgsize * (s.type = 'index')) AS indexes
         FROM dbstat d JOIN sqlite_schema s ON s.name = d.name WHERE d.aggregate = TRUE
         GROUP BY s.tbl_name ORDER BY own + indexes DESC`,
      )
      .all()
    const counted = sizes.map((size) => ({ ...size, rows: countRows(sqlite, size.name) }))
    return {
      title: 'Bytes on disk for a row',
      columns: ['table', 'rows', 'row', 'its indexes', 'together'],
      rows: counted
        .filter(({ rows }) => rows >= LARGE_TABLE)
        .map(({ name, rows, own, indexes }) => [
          name,
          rounded(rows),
          String(Math.round(own / rows)),
          String(Math.round(indexes / rows)),
          String(Math.round((own + indexes) / rows)),
        ]),
      note: 'Whole pages of the file, including half-empty ones.',
    }
  } finally {
    sqlite.close()
  }
}

function countRows(sqlite: SQLite.Database, table: string): number {
  return sqlite.prepare<[], { rows: number }>(`SELECT count(*) AS rows FROM "${table}"`).get()?.rows ?? 0
}
