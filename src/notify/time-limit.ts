/** A time limit for waiting on another process, which does not count a time in which this process stood still. */

const TICKS = 10

/**
 * Waits for the work, and aborts it after `ms` milliseconds that are counted in ticks. If this process stands still, or
 * the clock jumps, only one tick passes, so a response that has arrived can still be read.
 * @throws Error with the code ETIMEDOUT if the work is late
 */
export async function withTimeLimit<Result>(
  ms: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const late = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  const wait = (ticks: number) => {
    timer = setTimeout(() => (ticks > 1 ? wait(ticks - 1) : giveUp()), ms / TICKS)
  }
  const giveUp = () => {
    const reason = Object.assign(new Error('no response in time'), { name: 'TimeoutError', code: 'ETIMEDOUT' })
    late.reject(reason)
    controller.abort(reason)
  }
  wait(TICKS)
  try {
    return await Promise.race([work(controller.signal), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
