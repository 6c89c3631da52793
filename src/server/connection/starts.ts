/** Starts requests. If many reads arrive at the same time, some start in later turns of the event loop. */
import type { RequestListener } from 'node:http'
import { TURNS } from '../../domain/request/turns.ts'

/** How long the requests of one turn can take, in milliseconds. */
const TURN_MS = 20
/** What is processed while it starts. Other requests wait in the engine, which refuses what it cannot store soon. */
const READS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD'])
/** Health checks take no time and must not wait. */
const PROBE = '/healthz'

/**
 * Returns a listener that starts waiting reads one per turn, so that no turn takes long.
 * @param elapsed returns the time of a monotonic clock in milliseconds
 */
export function spreadStarts(
  listen: RequestListener,
  { later }: Pick<typeof TURNS, 'later'> = TURNS,
  elapsed = () => performance.now(),
): RequestListener {
  let waiting = 0
  let began: number | null = null
  const startTurn = () => {
    began = elapsed()
    setImmediate(() => {
      began = null
    })
  }
  return (request, response) => {
    if (began === null) startTurn()
    const isLate = waiting > 0 || elapsed() - (began ?? 0) > TURN_MS
    if (!isLate || !READS.has(request.method) || request.url === PROBE) return void listen(request, response)
    waiting += 1
    later(() => {
      waiting -= 1
      if (began === null) startTurn()
      if (!response.destroyed) listen(request, response)
    })
  }
}
