/** Sweeping by the clock: every few seconds, until stopped. */
import type { Deps } from '../operations/deps.ts'
import { sweep } from '../operations/sweep.ts'
import type { Log } from './log.ts'
import { type Repeated, watchRepeated } from './repeated.ts'

/** How often what is due is looked for, in milliseconds. */
const EVERY = 5_000

/** Sweeps in small steps, so that requests come in between; a busy store is tried again at the next round. */
export function startSweeping(
  deps: Deps,
  log: Log,
  every = EVERY,
): { readonly tell: Repeated['tell']; readonly stop: () => void } {
  const { failed, worked, tell } = watchRepeated(log, 'the sweep')
  let timer: NodeJS.Timeout
  const round = () => {
    let more = false
    try {
      more = sweep(deps)
      worked()
    } catch (error) {
      // What is due stays due, or was put off: the server goes on, and the log says why.
      failed(error)
    }
    timer = setTimeout(round, more ? 1 : every)
  }
  timer = setTimeout(round, every)
  return { tell, stop: () => clearTimeout(timer) }
}
