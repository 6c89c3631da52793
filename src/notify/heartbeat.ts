/** incmon's own heartbeat: requests a URL every minute, so that an external monitor notices when this server stops. */
import { withTimeLimit } from './time-limit.ts'

const EVERY = 60_000

type Log = {
  readonly warn: (facts: object, message: string) => void
  readonly info: (facts: object, message: string) => void
}

/**
 * Requests a URL immediately and then every minute. The operator configures the URL, so it can be in a private network.
 * @param urlOf returns the URL, or '' if none is configured
 */
export function startHeartbeat(urlOf: () => string, timeoutMs: number, log: Log): () => void {
  let isFailing = false
  const beat = async () => {
    const url = urlOf()
    const cause = url === '' ? null : await call(url, timeoutMs)
    if (cause !== null && !isFailing) log.warn({ cause }, 'the heartbeat could not be sent; check heartbeat-url')
    if (cause === null && isFailing) log.info({}, 'the heartbeat works again')
    isFailing = cause !== null
  }
  void beat()
  const timer = setInterval(beat, EVERY)
  return () => clearInterval(timer)
}

/** Returns why the request failed, or null if it succeeded. Never throws. */
async function call(url: string, timeoutMs: number): Promise<string | null> {
  try {
    const response = await withTimeLimit(timeoutMs, (signal) => fetch(url, { signal, redirect: 'manual' }))
    await response.body?.cancel()
    return response.ok ? null : `the monitor responded with ${response.status}`
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string; message?: string } }
    return cause?.code ?? cause?.message ?? message
  }
}
