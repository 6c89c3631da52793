/** Runs the sweep every second and pruning every hour, until stopped. */

import { inspect } from 'node:util'
import type { Deps } from '../actions/deps.ts'
import { confirmationText, pruneAll } from '../actions/pruning/prune.ts'
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

/** Starts pruning. Requests are served between steps. After a failure, a later run continues at the same position. */
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
    timer = setTimeout(round, step())
  }
  let timer = setTimeout(round, times.first)
  return () => clearTimeout(timer)
}
