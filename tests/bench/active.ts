/** Measures many active alerts: memory compared with Alertmanager, the list of firing alerts, and the disk space. */
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import SQLite from 'better-sqlite3'
import { askOf, timesOf } from './asking.ts'
import { memoryOf } from './children.ts'
import { fill, isInstalled } from './load.ts'
import type { Bench } from './options.ts'
import { median, megabytes, milliseconds, type Part, quantile, rounded, type Table, verdict } from './report.ts'
import { type Server, startAlertmanager, startIncmon } from './servers.ts'

/** One in ten alerts is critical. */
const CRITICAL = 0.1
const PAGE = '/api/alerts?status=firing'
const PAGE_TIMES = 100
const SETTLED_AFTER_MS = 2_000
/** Tables with at least this many rows are shown. */
const LARGE_TABLE = 1_000

/** Targets with 100,000 active alerts. */
const MAX_PAGE_MS = 5
const MAX_MEMORY_MB = 300
const MAX_MEMORY_RATIO = 0.25

export async function benchActive(bench: Bench): Promise<Part[]> {
  const database = join(bench.directory, 'active.db')
  const own = await fillAll(bench, await startIncmon(bench.program, database), bench.active, measureServer)
  return [await memoryTable(bench, own), pageLine(bench, own), bytesPerRow(database)]
}

function pageLine({ active }: Bench, { page }: Measured): string {
  const reached = verdict(median(page), { most: MAX_PAGE_MS })
  const times = `median ${milliseconds(median(page))} (${reached}), p99 ${milliseconds(quantile(page, 0.99))}`
  return `GET ${PAGE} with ${rounded(active)} active alerts: ${times}, ${page.length} requests.`
}

/** Adds `count` new alerts to a server without alerts, calls `use`, and stops the server. */
export async function fillAll<T>(
  bench: Bench,
  server: Server,
  count: number,
  use: (server: Server) => Promise<T> | T,
): Promise<T> {
  const critical = Math.floor((count * CRITICAL) / 20) * 20
  const warnings = await fill(server, 'warning', count - critical)
  const criticals = await fill(server, 'critical', critical)
  const speeds = `${rounded(warnings)} warnings a second, ${rounded(criticals)} critical alerts a second`
  bench.tell(`${server.name} has ${rounded(count)} active alerts: ${speeds}`)
  const found = await use(server)
  await server.child.stop()
  return found
}

type Measured = { readonly memory: ReturnType<typeof memoryOf>; readonly page: readonly number[] }

async function measureServer(server: Server): Promise<Measured> {
  await sleep(SETTLED_AFTER_MS)
  const memory = memoryOf(server.child)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const page = await timesOf(askOf(server, agent), PAGE, PAGE_TIMES)
  agent.destroy()
  return { memory, page }
}

async function memoryTable(bench: Bench, { memory }: Measured): Promise<Table> {
  const { now, highest } = memory
  const rows = [['incmon', megabytes(now), megabytes(highest), verdict(highest, { most: MAX_MEMORY_MB })]]
  if (isInstalled('prometheus-alertmanager')) {
    const server = await startAlertmanager(join(bench.directory, 'alertmanager-active'))
    const other = await fillAll(bench, server, bench.active, async ({ child }) => {
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
