/** The clock and the UUIDs of the program. They never go backwards, unless the clock was wrong. */

/** A step back of up to this many milliseconds is a correction. A larger step means that the clock was wrong. */
const HELD = 5 * 60_000

/**
 * Returns a clock that stops while `read` is at most five minutes behind the last result, so that later records never
 * have an earlier time. A larger step back is accepted at once. Otherwise a server that started in the wrong year would
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

/** The first 12 hex digits of a UUID are milliseconds. The three digits after the version are a counter. */
const COUNTS_A_MILLISECOND = 0x1000
const TIME = /^([0-9a-f]{8})-([0-9a-f]{4})-7/

/**
 * Returns a function that creates UUIDs, each greater than the previous one and than `last`. If the clock goes back,
 * the UUIDs continue from the last time. If the counter of a millisecond is used up, they continue with the next
 * millisecond.
 * @param now milliseconds UTC
 * @param random a random UUID; its last 62 random bits are used
 * @param last the newest UUID of an earlier process; null if there is none
 */
export function increasingIds(now: () => number, random: () => string, last: string | null): () => string {
  let time = timeOf(last)
  let count = 0
  let start = ''
  const startAt = (ms: number) => {
    ;[time, count] = [ms, 0]
    const digits = time.toString(16).padStart(12, '0')
    start = `${digits.slice(0, 8)}-${digits.slice(8)}-7`
  }
  return () => {
    const ms = now()
    if (ms > time) startAt(ms)
    else if (start === '' || count + 1 === COUNTS_A_MILLISECOND) startAt(time + 1)
    else count += 1
    return `${start}${count.toString(16).padStart(3, '0')}${random().slice(18)}`
  }
}

/** Returns the time of a UUID; 0 if UUIDs of its version contain no time. */
function timeOf(uuid: string | null): number {
  const [, high = '', low = ''] = TIME.exec(uuid ?? '') ?? []
  return Number.parseInt(`0${high}${low}`, 16)
}
