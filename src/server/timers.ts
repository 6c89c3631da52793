/** Runs the sweep every second and pruning every hour, until stopped. */

import { uptime } from 'node:os'
import { inspect } from 'node:util'
import type { Deps } from '../actions/deps.ts'
import { confirmationText, pruneAll } from '../actions/pruning/prune.ts'
import { distrustOf, jumpOf, timeOf } from '../domain/clock/clock.ts'
import { SECOND } from '../domain/units.ts'
import { findNewestUuid } from '../store/id-matches.ts'
import { isBusy } from '../store/sqlite/fault.ts'
import type { Log } from './log.ts'
import { type Repeated, watchRepeated } from './repeated.ts'

/** The interval between sweeps in milliseconds. An incident can open one minute after its condition started. */
const EVERY = 1_000

type Sweeping = Pick<Repeated, 'tell'> & { readonly stop: () => void }

/**
 * Starts the sweep. The sweep works in small steps, so that requests are served in between. If the database is locked,
 * the next run retries.
 */
export function startSweeping(deps: Deps, log: Log, every = EVERY): Sweeping {
  const { failed, worked, tell } = watchRepeated(log, 'the sweep')
  let timer: NodeJS.Timeout
  let isStopped = false
  const round = async () => {
    let more = false
    try {
      more = await deps.engine.sweep()
      worked()
    } catch (error) {
      // The sweep is still due. The server keeps running, and the reason is logged.
      failed(error)
    }
    if (!isStopped) timer = setTimeout(round, more ? 1 : every)
  }
  timer = setTimeout(round, every)
  const stop = () => {
    isStopped = true
    clearTimeout(timer)
  }
  return { tell, stop }
}

/** Delays in milliseconds: before the first run, between runs, between steps, and after the database was locked. */
const TIMES = { first: 5_000, every: 60 * 60_000, pause: 10, retry: 5_000 }

const DISTRUST = {
  jumped:
    'the clock has moved forward by more than an hour, so nothing is deleted for a day, in case the clock is wrong: check it',
  gap: 'nothing was stored in the day before incmon started, so nothing is deleted for a day, in case the clock is wrong',
} as const

/** Returns whether records must not be deleted, because the clock may be wrong. Logs each reason once. */
function watchClock({ db, now }: Deps, log: Log): () => boolean {
  const [began, start] = [sinceBoot(), { newest: newestIn(db), startedAt: now() }]
  let last = { now: start.startedAt, elapsed: 0 }
  let jumpedAt: number | null = null
  let told: string | null = null
  return () => {
    const read = { now: now(), elapsed: sinceBoot() - began }
    jumpedAt = jumpOf(last, read, jumpedAt)
    last = read
    const why = distrustOf(start, jumpedAt, read.elapsed)
    if (why !== null && why !== told) log[why === 'jumped' ? 'warn' : 'info'](DISTRUST[why])
    told = why
    return why !== null
  }
}

/** Returns the time of the newest record, or null. A damaged file does not prevent a start: the first write reports it. */
function newestIn(db: Deps['db']): number | null {
  try {
    return timeOf(findNewestUuid(db)) || null
  } catch {
    return null
  }
}

/**
 * Returns a steady time in milliseconds. On Linux it goes on while the machine is suspended, as the clock does, so that
 * waking up is no jump.
 */
function sinceBoot(): number {
  return process.platform === 'linux' ? uptime() * SECOND : performance.now()
}

/** Starts pruning. Requests are served between steps. After a failure, a later run continues at the same position. */
export function startPruning(deps: Deps, log: Log, times = TIMES): () => void {
  const isDistrusted = watchClock(deps, log)
  const held = watchRepeated(log, 'the pruning')
  const begin = () =>
    pruneAll(deps, {
      waits: (organization, found) => log.warn(confirmationText(organization.name, found)),
      failed: ({ name }, error) => log.error({ cause: inspect(error) }, `the pruning of ${name} failed`),
    })
  let pass = begin()
  const step = (): number => {
    try {
      if (!pass.next().done) return times.pause
      // A run starts with steps that only read, so only a complete run shows that writing works again.
      held.worked()
      pass = begin()
      return times.every
    } catch (error) {
      pass = begin()
      if (isBusy(error)) {
        held.failed(error)
        return times.retry
      }
      log.error({ cause: inspect(error) }, 'the pruning failed')
      return times.every
    }
  }
  const round = () => {
    timer = setTimeout(round, isDistrusted() ? times.every : step())
  }
  let timer = setTimeout(round, times.first)
  return () => clearTimeout(timer)
}
