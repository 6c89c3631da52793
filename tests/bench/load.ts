/** One load on one server by wrk: how many requests a second, how late their answers, and that none was refused. */
import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { get } from 'node:http'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Server } from './servers.ts'

export type Load = { readonly mode: 'new' | 'repeated'; readonly alerts: number }
/** Latencies in milliseconds. */
export type Outcome = {
  readonly requests: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

export const LOADS: readonly Load[] = [
  { mode: 'new', alerts: 1 },
  { mode: 'repeated', alerts: 1 },
  { mode: 'new', alerts: 20 },
  { mode: 'repeated', alerts: 20 },
]
/** The working set of repeated alerts. */
export const REPEATED = 1_000
const MOST_WARM_UPS = 10

const SCRIPT = fileURLToPath(new URL('post.lua', import.meta.url))
const STARTS_AT = new Date(Date.now() - 60_000).toISOString()
/** More alerts than any single run can send; new ones are numbered behind the repeated ones. */
const NUMBERS = 4_000_000
let runs = 0

export function nameOf({ mode, alerts }: Load): string {
  return `${alerts} ${mode}`
}

/** Whether a program stands on the PATH. */
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

/** @throws Error where any request was refused or lost: a server that answers nothing is fast */
export async function post(
  server: Server,
  load: Load,
  options: { readonly seconds: number; readonly connections: number },
): Promise<Outcome> {
  runs += 1
  const env = {
    PATH: process.env.PATH ?? '',
    TARGET: server.name,
    TOKEN: server.token,
    MODE: load.mode,
    N: String(load.alerts),
    FROM: String(runs * NUMBERS),
    STARTS_AT,
  }
  const flags = ['-t1', `-c${options.connections}`, `-d${options.seconds}s`, '--timeout', '20s', '-s', SCRIPT]
  const { stdout } = await promisify(execFile)('wrk', [...flags, server.url], { env })
  await drained(server)
  const text = /^RESULT (.*)$/m.exec(stdout)?.[1]
  if (!text) throw new Error(`wrk gave no result: ${stdout}`)
  const said: Record<'requests' | 'seconds' | 'p50' | 'p99' | 'refused' | 'broken', number> = JSON.parse(text)
  const { requests, seconds, p50, p99, refused, broken } = said
  if (refused > 0 || broken > 0) {
    const what = `${refused} of ${requests} requests were refused and ${broken} broke`
    throw new Error(`${server.name}, ${nameOf(load)}: ${what}; the server said: ${server.child.said()}`)
  }
  return { requests, perSecond: requests / seconds, p50, p99 }
}

/**
 * Resolves once the server has nothing left of the load. Node takes one new connection a turn of its loop, so that those
 * which wrk gave up may still stand in line before the next load's; a new connection of our own stands behind them.
 */
function drained({ url }: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => response.resume().on('end', resolve))
    request.on('error', reject)
  })
}

/** Sends every alert of the working set, so that from then on they repeat; also warms the server up. */
export async function warmUp(server: Server): Promise<void> {
  const load = { mode: 'repeated', alerts: 20 } as const
  let sent = 0
  for (let time = 0; time < MOST_WARM_UPS; time += 1) {
    sent += (await post(server, load, { seconds: 1, connections: 8 })).requests * load.alerts
    if (sent >= 2 * REPEATED) return
  }
  throw new Error(`${server.name} took too few requests to be measured: ${server.child.said()}`)
}
