/** Prunes expired records every hour, in small steps with pauses, until stopped. */
import { inspect } from 'node:util'
import type { Deps } from '../operations/deps.ts'
import { confirmationText, pruneAll } from '../operations/pruning/pruner.ts'
import { isBusy } from '../store/sqlite/fault.ts'
import type { Log } from './log.ts'
import { watchRepeated } from './repeated.ts'

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
      // A run starts with steps that only read. So only a complete step proves that writing works.
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
