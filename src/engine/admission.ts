/** Admission: how many items may be pending, so that an accepted request is answered in about a second. */

/** The time in which all pending items should be stored, in milliseconds. */
const WITHIN_MS = 1_000
/** Limits of the pending items. At most as many fit into memory; at least as many are stored in a moment. */
const FEWEST = 1_000
const MOST = 20_000
/** The rate is measured over at least this time, in milliseconds. The first rate is assumed, in items per millisecond. */
const WINDOW_MS = 200
const FIRST_RATE = 10

export type Admission = {
  /** Returns the number of items that may be pending: those that are stored in a second at the measured rate. */
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
      // An idle engine says nothing about its rate.
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
