/**
 * Applies a load to a server with wrk: measures requests per second and latencies, and verifies that every request was
 * accepted.
 */
import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { get } from 'node:http'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Server } from './servers.ts'

export const SEVERITIES = ['warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]
/** `services` is the number of services that the alerts belong to. Default: 200. */
export type Load = {
  readonly mode: 'new' | 'repeated'
  readonly alerts: number
  readonly severity: Severity
  readonly services?: number
}
/** Latencies in milliseconds. */
export type Outcome = {
  readonly requests: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}
/** `requests` ends the load after this many different requests, even before `seconds` have passed. */
type Extent = { readonly seconds: number; readonly connections: number; readonly requests?: number }

export const LOADS: readonly Load[] = SEVERITIES.flatMap((severity) =>
  [1, 20].flatMap((alerts) => (['new', 'repeated'] as const).map((mode) => ({ mode, alerts, severity }))),
)
/** The number of repeated alerts per severity. */
const REPEATED = 1_000
const MAX_WARM_UPS = 10
const MAX_FILL_SECONDS = 900
const SETTLED_AFTER_MS = 100

const SCRIPT = fileURLToPath(new URL('post.lua', import.meta.url))
const STARTS_AT = new Date(Date.now() - 60_000).toISOString()
/** More than any single run can send, so new alerts in different runs never have the same number. */
const NUMBERS = 4_000_000
let runs = 0

/** Returns a name such as `20 new critical`. */
export function nameOf({ mode, alerts, severity }: Load): string {
  return `${alerts} ${mode} ${severity}`
}

/** Returns whether a program is on the PATH. */
export function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** @throws Error if any request was rejected or lost, because a server that rejects everything is fast */
export async function post(server: Server, load: Load, extent: Extent): Promise<Outcome> {
  runs += 1
  const env = {
    PATH: process.env.PATH ?? '',
    TARGET: server.name,
    TOKEN: server.token,
    MODE: load.mode,
    SEVERITY: load.severity,
    N: String(load.alerts),
    SERVICES: String(load.services ?? 200),
    FROM: String(runs * NUMBERS),
    REQUESTS: String(extent.requests ?? 0),
    CONNECTIONS: String(extent.connections),
    STARTS_AT,
  }
  const flags = ['-t1', `-c${extent.connections}`, `-d${extent.seconds}s`, '--timeout', '20s', '-s', SCRIPT]
  const { stdout } = await promisify(execFile)('wrk', [...flags, server.url], { env })
  await drained(server)
  const text = /^RESULT (.*)$/m.exec(stdout)?.[1]
  if (!text) throw new Error(`wrk gave no result: ${stdout}`)
  const result: Record<'requests' | 'seconds' | 'p50' | 'p99' | 'refused' | 'broken', number> = JSON.parse(text)
  const { requests, seconds, p50, p99, refused, broken } = result
  if (refused > 0 || broken > 0) {
    const what = `${refused} of ${requests} requests were refused and ${broken} broke`
    throw new Error(`${server.name}, ${nameOf(load)}: ${what}; the server wrote: ${server.child.said()}`)
  }
  return { requests, perSecond: requests / seconds, p50, p99 }
}

/**
 * Resolves when the server has accepted all connections of the load. Node accepts one connection per turn of the event
 * loop, so connections that wrk has closed might still be in the backlog. A new connection is queued behind them.
 */
function drained({ url }: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => response.resume().on('end', resolve))
    request.on('error', reject)
  })
}

/** Sends every repeated alert of both severities at least twice, which also warms up the server. */
export async function warmUp(server: Server, severities: readonly Severity[] = SEVERITIES): Promise<void> {
  for (const severity of severities) {
    const load = { mode: 'repeated', alerts: 20, severity } as const
    let sent = 0
    for (let time = 0; time < MAX_WARM_UPS && sent < 2 * REPEATED; time += 1) {
      sent += (await post(server, load, { seconds: 1, connections: 8 })).requests * load.alerts
    }
    if (sent < 2 * REPEATED) throw new Error(`${server.name} is too slow to be measured: ${server.child.said()}`)
  }
}

/**
 * Sends this many new alerts, 20 per request, and verifies that they are active. Returns alerts per second.
 * @param count a multiple of 20
 */
export async function fill(server: Server, severity: Severity, count: number): Promise<number> {
  const load = { mode: 'new', alerts: 20, severity } as const
  const before = await settledAlerts(server)
  const { perSecond } = await post(server, load, {
    seconds: MAX_FILL_SECONDS,
    connections: 8,
    requests: count / load.alerts,
  })
  const added = (await settledAlerts(server)) - before
  if (added !== count) throw new Error(`${server.name} has ${added} new alerts instead of ${count}`)
  return perSecond * load.alerts
}

/**
 * Runs a load and counts incmon's alerts before and after.
 * @throws Error if new alerts are missing or repeated alerts became new ones
 */
export async function requireAlerts(
  server: Server,
  load: Load,
  connections: number,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  if (server.name !== 'incmon' && server.name !== 'api') return run()
  const before = await settledAlerts(server)
  const outcome = await run()
  const added = (await settledAlerts(server)) - before
  // The server also stores the requests in flight at the end, which wrk does not count.
  const least = load.mode === 'new' ? outcome.requests * load.alerts : 0
  const most = load.mode === 'new' ? least + connections * load.alerts : 0
  if (added >= least && added <= most) return outcome
  throw new Error(`${nameOf(load)}: ${outcome.requests} requests added ${added} alerts of incmon to ${before}`)
}

/**
 * Counts the alerts once the number is stable, because requests in flight at the end of a load are stored a moment
 * later.
 */
async function settledAlerts(server: Server): Promise<number> {
  for (let before = -1; ; ) {
    const count = await countAlerts(server)
    if (count === before) return count
    before = count
    await sleep(SETTLED_AFTER_MS)
  }
}

async function countAlerts({ name, url, token }: Server): Promise<number> {
  if (name === 'alertmanager') return ((await (await fetch(`${url}/api/v2/alerts`)).json()) as unknown[]).length
  const response = await fetch(`${url}/api/alerts?limit=1`, { headers: { Authorization: `Bearer ${token}` } })
  const { pagination } = (await response.json()) as { pagination: { total: number } }
  return pagination.total
}
