/** Pruning by the clock: every hour, in small steps with pauses, until stopped. */
import { inspect } from 'node:util'
import type { Deps } from '../operations/deps.ts'
import { pruneAll, toldWait } from '../operations/pruner.ts'
import { isHeld } from '../store/sqlite/fault.ts'
import type { Log } from './log.ts'
import { watchRepeated } from './repeated.ts'

/** After the start, between two passes, between two steps of one, and after a file that was held, in milliseconds. */
const TIMES = { first: 5_000, every: 60 * 60_000, pause: 10, retry: 5_000 }

/** Requests come in between the steps; what failed is tried again by the next pass, which goes on where one ended. */
export function startPruning(deps: Deps, log: Log, times = TIMES): () => void {
  const held = watchRepeated(log, 'the pruning')
  const begin = () =>
    pruneAll(deps, {
      waits: (organization, found) => log.warn(toldWait(organization, found)),
      failed: ({ name }, error) => log.error({ cause: inspect(error) }, `the pruning of ${name} failed`),
    })
  let pass = begin()
  const step = (): number => {
    try {
      if (!pass.next().done) return times.pause
      // Not before: a pass begins with steps that only read.
      held.worked()
      pass = begin()
      return times.every
    } catch (error) {
      pass = begin()
      if (isHeld(error)) {
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
