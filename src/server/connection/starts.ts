/** Starts requests. If many reads arrive at the same time, some start in later rounds of the event loop. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

/** How long the requests of one round can take, in milliseconds. */
const ROUND_MS = 20
/** What is processed while it starts. Other requests wait in the engine, which refuses what it cannot store soon. */
const READS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD'])
/** Health checks take no time and must not wait. */
const PROBE = '/healthz'

/**
 * Returns a listener that starts waiting reads one per round, so that no round takes long.
 * @param elapsed returns the time of a monotonic clock in milliseconds
 */
export function spreadStarts(listen: RequestListener, elapsed = () => performance.now()): RequestListener {
  const waiting: { readonly request: IncomingMessage; readonly response: ServerResponse & { req: IncomingMessage } }[] =
    []
  let began: number | null = null
  const endRound = () => {
    began = null
    const next = waiting.shift()
    if (!next) return
    startRound()
    if (!next.response.destroyed) listen(next.request, next.response)
  }
  const startRound = () => {
    began = elapsed()
    setImmediate(endRound)
  }
  return (request, response) => {
    if (began === null) startRound()
    const isLate = waiting.length > 0 || elapsed() - (began ?? 0) > ROUND_MS
    if (isLate && READS.has(request.method) && request.url !== PROBE) return void waiting.push({ request, response })
    listen(request, response)
  }
}
