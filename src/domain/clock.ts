/** The clock of the program. It never goes back, unless it was wrong. */

/** A step back of up to this many milliseconds is a correction. A larger step means that the clock was wrong. */
const HELD = 5 * 60_000

/**
 * Returns a clock that stops while `read` is at most five minutes behind the last result, so that later records never
 * have an earlier time. A larger step back is accepted at once: otherwise a server that started in the wrong year would
 * stay there. Before 1970 the clock shows 1970.
 * @param read milliseconds UTC
 */
export function steadyClock(read: () => number): () => number {
  let shown = Number.NEGATIVE_INFINITY
  return () => {
    const now = Math.max(0, read())
    if (now > shown || shown - now > HELD) shown = now
    return shown
  }
}
