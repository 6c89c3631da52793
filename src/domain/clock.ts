/** The clock that everything is stamped with: it does not fall, unless it was wrong. */

/** A fall up to this long is a correction that the clock makes up for soon; a longer one means that it was wrong. */
const HELD = 5 * 60_000

/**
 * A clock that stands still while the one below it is up to five minutes behind what was already shown, so that what
 * comes later is never stamped earlier. A longer fall is believed at once: else a server that started in the wrong year
 * would stay there until that year. Before 1970 it shows 1970: lists, like senders, know no earlier time.
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
