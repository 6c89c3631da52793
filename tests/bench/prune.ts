/** Measures pruning: how long requests wait while the server deletes almost half of a long history's events. */
import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemDeps } from '../../src/deps.ts'
import { changeOrganization } from '../../src/operations/organizations.ts'
import { findOrganizationByName } from '../../src/store/organizations.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import type { Bench } from './options.ts'
import { megabytes, milliseconds, type Part, quantile, rounded, verdict } from './report.ts'
import { forget, SEEDED_NOW, seededDatabase } from './seed.ts'
import { ORGANIZATION, type Server, startIncmon } from './servers.ts'

const LEAST_ROWS = 1_050_000
const DAY = 86_400_000
/** How many of the 400 days of history are kept: slightly more than half, so that pruning needs no confirmation. */
const KEPT_DAYS = 210
const PER_SECOND = 200
const BEFORE = 4_000
const LONGEST = 10 * 60_000

export async function benchPrune(bench: Bench): Promise<Part[]> {
  const rows = Math.max(bench.rows, LEAST_ROWS)
  const seeded = seededDatabase(rows, bench.tell)
  const file = join(bench.directory, 'prune.db')
  copyFileSync(seeded, file)
  if (!bench.keep) forget(seeded)
  const db = openStore(file)
  const organization = findOrganizationByName(db, ORGANIZATION)?.rowId ?? 0
  const days = Math.round((Date.now() - SEEDED_NOW) / DAY) + KEPT_DAYS
  const settings = { 'retention-events-days': days, 'retention-alerts-days': Math.max(days, 400) }
  await changeOrganization(systemDeps(db), organization, { settings })
  const server = await startIncmon(bench.program, file)
  try {
    return [table(await measure(bench, server, db))]
  } finally {
    db.close()
    await server.child.stop()
  }
}

type Span = { readonly webhooks: readonly number[]; readonly probes: readonly number[] }
type Found = {
  readonly calm: Span
  readonly pruning: Span
  readonly seconds: number
  readonly deleted: number
  readonly sizes: readonly number[]
}

/** The server starts pruning a few seconds after startup. Measurements before that are the baseline. */
async function measure(bench: Bench, server: Server, db: Db): Promise<Found> {
  const spans = { calm: { webhooks: [] as number[], probes: [] as number[] }, pruning: emptySpan() }
  let current = spans.calm
  let isOver = false
  const load = [
    every(
      1000 / PER_SECOND,
      () => isOver,
      async (index) => void current.webhooks.push(await post(server, index)),
    ),
    every(
      5,
      () => isOver,
      async () => void current.probes.push(await timed(`${server.url}/healthz`)),
    ),
  ]
  await sleep(BEFORE)
  const before = eventsIn(db)
  current = spans.pruning
  const began = performance.now()
  const sizes = [sizeOf(db)]
  let last = -1
  while (performance.now() - began < LONGEST && !(await isDone(db, last))) {
    last = pagesOf(db)
    sizes.push(sizeOf(db))
    bench.tell(`${rounded(before - eventsIn(db))} events fewer, ${megabytes(sizeOf(db))}`)
  }
  isOver = true
  await Promise.all(load)
  const sent = spans.pruning.webhooks.length
  const seconds = (performance.now() - began) / 1000
  return { ...spans, seconds, deleted: before + sent - eventsIn(db), sizes }
}

function emptySpan() {
  return { webhooks: [] as number[], probes: [] as number[] }
}

/** Returns whether every organization has been processed and the file no longer shrinks. */
async function isDone(db: Db, pages: number): Promise<boolean> {
  await sleep(3_000)
  const looked = db.all(db.sql.selectFrom('pruning').select('alerts_at')).filter(({ alerts_at }) => alerts_at > 0)
  return looked.length > 0 && pagesOf(db) >= pages && pages > 0 && Number(db.pragma('freelist_count')) < pages / 10
}

/** Calls at a fixed rate, no matter how long each call takes. Otherwise, a late response would hide the next delay. */
async function every(ms: number, isOver: () => boolean, call: (index: number) => Promise<void>): Promise<void> {
  const began = performance.now()
  const calls: Promise<void>[] = []
  for (let index = 0; !isOver(); index += 1) {
    await sleep(Math.max(0, began + index * ms - performance.now()))
    calls.push(call(index))
  }
  await Promise.all(calls)
}

async function post({ url, token }: Server, index: number): Promise<number> {
  const labels = { alertname: 'Slow', namespace: 'shop', deployment: `app-${index % 500}`, severity: 'warning' }
  const alert = { status: 'firing', labels, annotations: {}, startsAt: new Date().toISOString() }
  const body = JSON.stringify({ version: '4', groupKey: `g${index % 500}`, receiver: 'incmon', alerts: [alert] })
  return timed(`${url}/api/webhooks/metrics`, { method: 'POST', headers: { Authorization: `Bearer ${token}` }, body })
}

async function timed(url: string, init: RequestInit = {}): Promise<number> {
  const began = performance.now()
  const response = await fetch(url, init)
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return performance.now() - began
}

function eventsIn(db: Db): number {
  return db.first(db.sql.selectFrom('events').select((eb) => eb.fn.countAll<number>().as('count')))?.count ?? 0
}

function pagesOf(db: Db): number {
  return Number(db.pragma('page_count'))
}

function sizeOf(db: Db): number {
  return statSync(db.file).size / 1e6
}

function table({ calm, pruning, seconds, deleted, sizes }: Found): Part {
  const row = (name: string, numbers: readonly number[]) => [
    name,
    rounded(numbers.length),
    ...[0.5, 0.99, 1].map((share) => milliseconds(quantile(numbers, share))),
  ]
  const [first = 0] = sizes
  return {
    title: `${PER_SECOND} webhooks a second while ${rounded(deleted)} events are pruned`,
    columns: ['', 'requests', 'p50', 'p99', 'longest'],
    rows: [
      row('webhooks before', calm.webhooks),
      row('webhooks while pruning', pruning.webhooks),
      row('GET /healthz before', calm.probes),
      row('GET /healthz while pruning', pruning.probes),
    ],
    note: `${Math.round(seconds)} s; longest wait of /healthz ${verdict(Math.max(...pruning.probes), { most: 50 })} (with the load itself on the same machine). The file: ${megabytes(first)} before, ${megabytes(Math.max(...sizes))} at most, ${megabytes(sizes.at(-1) ?? 0)} at the end.`,
  }
}
