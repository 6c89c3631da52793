/** Admission control: limits the pending items, so that an accepted request is answered in about a second. */

/** The time in which all pending items should be stored, in milliseconds. */
const WITHIN_MS = 1_000
/** The minimum and maximum of the limit: the minimum is stored in a moment, the maximum fits into memory. */
const FEWEST = 1_000
const MOST = 20_000
/**
 * The minimum period of a measurement, in milliseconds. Before the first one, a rate in items per millisecond is
 * assumed.
 */
const WINDOW_MS = 200
const FIRST_RATE = 10

export type Admission = {
  /** Returns the maximum number of pending items: those that are stored in a second at the measured rate. */
  readonly most: () => number
  /** Returns the number of pending items. */
  readonly pending: () => number
  /** Counts the items as pending until the work ends. */
  readonly during: <Result>(items: number, work: () => Promise<Result>) => Promise<Result>
}

/** @param now returns milliseconds that never jump */
export function createAdmission(now = () => performance.now()): Admission {
  let pending = 0
  let rate = FIRST_RATE
  let began = 0
  let stored = 0

  const leave = (items: number) => {
    pending -= items
    stored += items
    const elapsed = now() - began
    if (elapsed >= WINDOW_MS) {
      rate = (rate + stored / elapsed) / 2
      began += elapsed
      stored = 0
    }
  }

  return {
    most: () => Math.min(MOST, Math.max(FEWEST, rate * WITHIN_MS)),
    pending: () => pending,
    during: async (items, work) => {
      // An idle engine has no measurable rate.
      if (pending === 0) {
        began = now()
        stored = 0
      }
      pending += items
      try {
        return await work()
      } finally {
        leave(items)
      }
    },
  }
}
