/** Runs the sweep every second, until stopped. */
import type { Deps } from '../operations/deps.ts'
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
