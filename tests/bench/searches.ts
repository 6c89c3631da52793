/** Measures reads that scan much of the history, and how long the server makes other requests wait. */
import { type Get, instant, timesOf } from './asking.ts'
import { queuedBy, workedBy } from './children.ts'
import type { Bench } from './options.ts'
import { median, milliseconds, quantile, verdict } from './report.ts'
import type { Server } from './servers.ts'

const LONG_TIMES = 5
const STALL_TARGET = 20

/** Measures queries that scan the whole history, and how long other requests had to wait. */
export async function measureSearches(
  asks: { readonly ask: Get; readonly beside: Get },
  server: Server,
  service: string,
  tell: Bench['tell'],
): Promise<string[][]> {
  const rows: string[][] = []
  for (const { name, path } of searchesOf(service)) {
    let asking = true
    const waits = watch(asks.beside, server.child, () => asking)
    const times = path === '' ? await rest() : await timesOf(asks.ask, path, LONG_TIMES)
    asking = false
    const all = await waits
    const answered = all.map((wait) => wait.answered)
    const stall = quantile(
      all.map((wait) => wait.worked),
      1,
    )
    const longest = [quantile(answered, 0.99), quantile(answered, 1), stall].map(milliseconds)
    const middle = path === '' ? '' : milliseconds(median(times))
    rows.push([name, middle, ...longest, verdict(stall, { most: STALL_TARGET })])
    tell(rows.at(-1)?.join(': ') ?? '')
  }
  return rows
}

function searchesOf(service: string): { readonly name: string; readonly path: string }[] {
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

/**
 * Measures each response time, one request at a time, and how long the server's thread worked until the response. Time
 * that this process spent waiting for a CPU is subtracted, because by then the response had already arrived.
 */
async function watch(ask: Get, child: Server['child'], isNeeded: () => boolean): Promise<Wait[]> {
  const waits: Wait[] = []
  while (isNeeded()) {
    const before = { at: performance.now(), worked: workedBy(child), queued: queuedBy(process) }
    await ask('/healthz')
    const worked = workedBy(child) - before.worked - (queuedBy(process) - before.queued)
    waits.push({ answered: performance.now() - before.at, worked: Math.max(0, worked) })
  }
  return waits
}

function rest(): Promise<number[]> {
  return new Promise((resolve) => setTimeout(() => resolve([]), 3_000))
}
