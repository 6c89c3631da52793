/** Pruning by the clock: every hour, in small steps with pauses, until stopped. */
import { inspect } from 'node:util'
import type { Deps } from '../operations/deps.ts'
import { pruneAll, toldWait } from '../operations/pruner.ts'
import type { Log } from './log.ts'

/** After the start, between two passes, and between two steps of one, in milliseconds. */
const FIRST = 5_000
const EVERY = 60 * 60_000
const PAUSE = 10

/** Requests come in between the steps; what failed is tried again by the next pass. */
export function startPruning(deps: Deps, log: Log): () => void {
  const begin = () =>
    pruneAll(deps, {
      waits: (organization, found) => log.warn(toldWait(organization, found)),
      failed: ({ name }, error) => log.error({ cause: inspect(error) }, `the pruning of ${name} failed`),
    })
  let pass = begin()
  const round = () => {
    let isDone = true
    try {
      isDone = pass.next().done ?? false
    } catch (error) {
      log.error({ cause: inspect(error) }, 'the pruning failed')
    }
    if (isDone) pass = begin()
    timer = setTimeout(round, isDone ? EVERY : PAUSE)
  }
  let timer = setTimeout(round, FIRST)
  return () => clearTimeout(timer)
}
