/** UUIDs of version 7 that only ever increase, whatever the clock does. */

/** The first 12 digits are milliseconds, the next three after the version count within a millisecond. */
const COUNTS_A_MILLISECOND = 0x1000
const TIME = /^([0-9a-f]{8})-([0-9a-f]{4})-7([0-9a-f]{3})-/

/**
 * Returns a function that makes UUIDs, each greater than the one before and than `last`. If the clock goes back, they
 * count on from the last time; if more are made in a millisecond than it can count, from the next millisecond.
 * @param now milliseconds UTC
 * @param random a random UUID; its last 62 random bits are used
 * @param last the newest UUID that was made before, by an earlier process; null if there is none
 */
export function increasingIds(now: () => number, random: () => string, last: string | null): () => string {
  let { time, count } = placeOf(last)
  return () => {
    const ms = now()
    if (ms > time) [time, count] = [ms, 0]
    else if (count + 1 < COUNTS_A_MILLISECOND) count += 1
    else [time, count] = [time + 1, 0]
    const digits = time.toString(16).padStart(12, '0')
    return `${digits.slice(0, 8)}-${digits.slice(8)}-7${count.toString(16).padStart(3, '0')}${random().slice(18)}`
  }
}

/** Where to count on; a UUID of another version has no time. */
function placeOf(uuid: string | null): { time: number; count: number } {
  const [, high, low, count] = TIME.exec(uuid ?? '') ?? []
  if (!high || !low || !count) return { time: 0, count: 0 }
  return { time: Number.parseInt(high + low, 16), count: Number.parseInt(count, 16) }
}
