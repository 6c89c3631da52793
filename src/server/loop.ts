/** Watches the event loop: reports recent stalls and jumps of the clock. */

/** Interval of the check and age of a stall that still counts, in milliseconds. */
const EVERY = 1_000
const RECENT = 10

export type Loop = {
  /** The longest stall of the last ten seconds, in milliseconds. */
  readonly stalled: () => number
  readonly stop: () => void
}

/**
 * @param steady milliseconds of a clock that never jumps
 * @param wall milliseconds UTC of the system clock
 * @param jumped called with the milliseconds of a jump of more than a minute
 */
export function watchLoop(steady: () => number, wall: () => number, jumped: (ms: number) => void): Loop {
  let before = { steady: steady(), wall: wall() }
  const lags: number[] = []
  const look = () => {
    const now = { steady: steady(), wall: wall() }
    const passed = now.steady - before.steady
    const jump = now.wall - before.wall - passed
    if (Math.abs(jump) > 60_000) jumped(Math.round(jump))
    lags.push(passed - EVERY)
    if (lags.length > RECENT) lags.shift()
    before = now
  }
  const timer = setInterval(look, EVERY).unref()
  return { stalled: () => Math.max(0, ...lags), stop: () => clearInterval(timer) }
}
