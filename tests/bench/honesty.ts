/** That a load did what its name says: new alerts became alerts, repeated ones did not. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Load, nameOf, type Outcome, REPEATED } from './load.ts'
import type { Server } from './servers.ts'

const SETTLED_AFTER = 100

/**
 * Runs a load and counts incmon's alerts around it.
 * @throws Error where new alerts are missing, or repeated ones became new
 */
export async function requireAlerts(
  server: Server,
  load: Load,
  connections: number,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  if (server.name !== 'incmon') return run()
  const before = await settledAlerts(server)
  const outcome = await run()
  const made = (await settledAlerts(server)) - before
  // Requests under way at the end are stored and not counted by wrk.
  const least = load.mode === 'new' ? outcome.requests * load.alerts : 0
  const most = load.mode === 'new' ? least + connections * load.alerts : 0
  if (made >= least && made <= most && before >= REPEATED) return outcome
  throw new Error(`${nameOf(load)}: ${outcome.requests} requests made ${made} alerts of incmon, after ${before}`)
}

/** The alerts once nothing more comes: what was under way when a load ended is stored a moment later. */
async function settledAlerts(server: Server): Promise<number> {
  for (let before = -1; ; ) {
    const count = await countAlerts(server)
    if (count === before) return count
    before = count
    await sleep(SETTLED_AFTER)
  }
}

async function countAlerts({ url, token }: Server): Promise<number> {
  const response = await fetch(`${url}/api/alerts?limit=1`, { headers: { Authorization: `Bearer ${token}` } })
  const { pagination } = (await response.json()) as { pagination: { total: number } }
  return pagination.total
}
