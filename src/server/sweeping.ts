/** Sweeping by the clock: every few seconds, until stopped. */
import { inspect } from 'node:util'
import type { Deps } from '../operations/deps.ts'
import { sweep } from '../operations/sweep.ts'
import type { Log } from './log.ts'

/** How often what is due is looked for, in milliseconds. */
const EVERY = 5_000

/** Sweeps in small steps, so that requests come in between; a busy store is tried again at the next round. */
export function startSweeping(deps: Deps, log: Log): () => void {
  let timer: NodeJS.Timeout
  const round = () => {
    let more = false
    try {
      more = sweep(deps)
    } catch (error) {
      // What is due stays due, or was put off: the server goes on, and the log says why.
      log.error({ cause: inspect(error) }, 'the sweep failed')
    }
    timer = setTimeout(round, more ? 1 : EVERY)
  }
  timer = setTimeout(round, EVERY)
  return () => clearTimeout(timer)
}
