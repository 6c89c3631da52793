/** Process checks for /readyz: free disk space, event loop stalls, clock jumps, and damage to the database file. */

import type { Check } from '../actions/readiness.ts'
import { RESTORE } from '../domain/doctor/content.ts'
import { judgeDiskSpace, wholeMebibytes } from '../domain/doctor/facts.ts'
import { errorCode, isDamage } from '../store/sqlite/fault.ts'

/** A stall of this many milliseconds delays all responses too much. */
const STALL = 1_000

/**
 * @param state.free the free disk space in bytes, or null if unknown
 * @param state.minFree the required free space in MiB
 * @param state.damage a description of known damage to the file, or null
 * @param state.stalled the longest recent stall in milliseconds
 */
export function checkProcess(state: {
  readonly free: number | null
  readonly minFree: number
  readonly stalled: number
  readonly damage: string | null
  readonly isLoaded: boolean
  readonly isStopping: boolean
}): Check[] {
  const { free, minFree, stalled, damage, isLoaded, isStopping } = state
  return [
    { name: 'disk', detail: diskFault(free, minFree) },
    {
      name: 'event-loop',
      detail:
        stalled < STALL ? null : `the process was blocked for ${Math.round(stalled)} ms; check the CPU and the disk`,
    },
    { name: 'integrity', detail: damage },
    {
      name: 'loaded',
      detail: isLoaded ? null : 'incmon is loading the alerts and writing the postmortems that were due: wait',
    },
    { name: 'running', detail: isStopping ? 'incmon is stopping' : null },
  ]
}

function diskFault(free: number | null, minFree: number): string | null {
  if (free === null) return 'the database disk is not responding; check the disk'
  return judgeDiskSpace(free, minFree) === 'short'
    ? `${wholeMebibytes(free)} MiB of disk space is free, which is less than min-free-disk = ${minFree}; free some space`
    : null
}

/** How often the event loop is checked, in milliseconds. */
const EVERY = 1_000
const RECENT = 10

export const JUMPED = 'the system clock jumped: this takes effect if it lasts for a minute'

export type Loop = {
  /** The longest stall within the last ten seconds, in milliseconds. */
  readonly stalled: () => number
  readonly stop: () => void
}

/**
 * @param steady returns the time of a monotonic clock in milliseconds
 * @param wall returns the system clock's Unix time in milliseconds
 * @param jumped called with the size in milliseconds of a clock jump of more than a minute
 */
export function watchLoop(steady: () => number, wall: () => number, jumped: (ms: number) => void): Loop {
  let before = { steady: steady(), wall: wall() }
  const lags: number[] = []
  const look = () => {
    const now = { steady: steady(), wall: wall() }
    const passed = now.steady - before.steady
    const jump = now.wall - before.wall - passed
    if (Math.abs(jump) > 60_000) jumped(Math.round(jump))
    lags.push(passed - EVERY)
    if (lags.length > RECENT) lags.shift()
    before = now
  }
  const timer = setInterval(look, EVERY).unref()
  return { stalled: () => Math.max(0, ...lags), stop: () => clearInterval(timer) }
}

/** The delay before the first check, in milliseconds. */
const FIRST = 60_000
const DAILY = 24 * 3_600_000

export type Damage = {
  /** Receives a query's error. Errors unrelated to damage are ignored. */
  readonly note: (error: unknown) => void
  /** Returns what is wrong and what to do, or null if there is no known damage. */
  readonly detail: () => string | null
  readonly stop: () => void
}

/**
 * @param find checks every page in a worker thread and resolves with the first problem, or null
 * @param found called once with the damage
 */
export function watchDamage(
  find: () => Promise<string | null>,
  found: (detail: string) => void,
  { first = FIRST, every = DAILY } = {},
): Damage {
  let known: string | null = null
  const remember = (why: string) => {
    if (known !== null) return
    known = `the database is damaged (${why}): ${RESTORE}; "incmon doctor --full" names the table`
    found(known)
  }
  const note = (error: unknown) => {
    if (isDamage(error)) remember(errorCode(error))
  }
  const look = () => {
    find().then((fault) => (fault === null ? undefined : remember(fault)), note)
  }
  const timers = [setTimeout(look, first).unref(), setInterval(look, every).unref()]
  return { note, detail: () => known, stop: () => timers.forEach(clearTimeout) }
}
