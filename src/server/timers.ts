/** Runs the sweep every second and the pruning every hour, until stopped. */

import { inspect } from 'node:util'
import type { Deps } from '../operations/deps.ts'
import { confirmationText, pruneAll } from '../operations/pruning/pruner.ts'
import { isBusy } from '../store/sqlite/fault.ts'
import type { Log } from './log.ts'
import { type Repeated, watchRepeated } from './repeated.ts'

/** Interval in milliseconds. An incident is due a minute after its condition began. */
const EVERY = 1_000

/**
 * Starts the sweep. It works in small steps, and requests are served between the steps. A locked database is retried in
 * the next run.
 */
export function startSweeping(
  deps: Deps,
  log: Log,
  every = EVERY,
): { readonly tell: Repeated['tell']; readonly stop: () => void } {
  const { failed, worked, tell } = watchRepeated(log, 'the sweep')
  let timer: NodeJS.Timeout
  let isStopped = false
  const round = async () => {
    let more = false
    try {
      more = await deps.engine.sweep()
      worked()
    } catch (error) {
      // The work stays due. The server continues, and the log contains the reason.
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

/** In milliseconds: after the start, between two runs, between two steps, and after the database was locked. */
const TIMES = { first: 5_000, every: 60 * 60_000, pause: 10, retry: 5_000 }

/**
 * Starts pruning. Requests are served between the steps. A failed run is repeated later and continues at the same
 * position.
 */
export function startPruning(deps: Deps, log: Log, times = TIMES): () => void {
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
      // A run starts with steps that only read, so only a complete run proves that writing works.
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
    timer = setTimeout(round, step())
  }
  let timer = setTimeout(round, times.first)
  return () => clearTimeout(timer)
}
