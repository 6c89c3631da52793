/** The program's clock and UUID generator. Times and UUIDs never go backward unless the system clock was wrong. */
import { DAY, HOUR, MINUTE } from '../units.ts'

/**
 * The clock stands still after a step back of at most this many milliseconds. A larger step means that the clock was
 * wrong.
 */
const HELD = 5 * 60_000

/** A step by more than this many milliseconds that the monotonic clock does not see is a jump. */
const JUMP = MINUTE
/** A jump takes effect after this many milliseconds, so that a clock that is wrong for seconds changes nothing. */
const LASTS = MINUTE

/** `jumps`: how many jumps of the system clock have taken effect. */
type Clock = { readonly now: () => number; readonly jumps: () => number }

/**
 * Returns a clock that stands still while `read` is at most five minutes behind the last result, so that later records
 * never get an earlier time. A jump that lasts takes effect, so that a server started in the wrong year can recover. Times
 * before 1970 are returned as 1970.
 * @param read Unix time in milliseconds
 * @param elapsed the time of a monotonic clock in milliseconds
 */
export function steadyClock(read: () => number, elapsed: () => number): Clock {
  let shown = Number.NEGATIVE_INFINITY
  let ahead = read() - elapsed()
  let jumpedAt: number | null = null
  let jumps = 0
  const now = () => {
    const passed = elapsed()
    const lead = read() - passed
    jumpedAt = Math.abs(lead - ahead) > JUMP ? (jumpedAt ?? passed) : null
    if (jumpedAt === null || passed - jumpedAt >= LASTS) {
      if (jumpedAt !== null) jumps += 1
      ;[ahead, jumpedAt] = [lead, null]
    }
    const time = Math.max(0, Math.round(passed + ahead))
    if (time > shown || shown - time > HELD) shown = time
    return shown
  }
  return { now, jumps: () => jumps }
}

/** The first 12 hex digits of a UUIDv7 are milliseconds. The three digits after the version are used as a counter. */
const COUNTS_A_MILLISECOND = 0x1000
const TIME = /^([0-9a-f]{8})-([0-9a-f]{4})-7/

/**
 * Returns a function that creates UUIDs. Each UUID is greater than the previous UUID and greater than `last`. If the
 * clock goes back, generation continues from the last time. If the counter overflows, generation continues with the
 * next millisecond.
 * @param now Unix time in milliseconds
 * @param random returns 32 random bits
 * @param last the newest UUID from an earlier process, or null
 */
export function increasingIds(now: () => number, random: () => number, last: string | null): () => string {
  // Each UUID is decoded as a flat string. A string concatenated from parts would take twice as much memory while the
  // record is live.
  const text = Buffer.from('00000000-0000-7000-8000-000000000000')
  let time = timeOf(last)
  let count = -1
  const startAt = (ms: number) => {
    ;[time, count] = [ms, 0]
    writeHex(text, 8, 8, Math.floor(time / 0x10000))
    writeHex(text, 13, 4, time % 0x10000)
  }
  return () => {
    const ms = now()
    if (ms > time) startAt(ms)
    else if (count < 0 || count + 1 === COUNTS_A_MILLISECOND) startAt(time + 1)
    else count += 1
    writeHex(text, 18, 3, count)
    const bits = random()
    writeHex(text, 20, 1, 8 | (bits & 3))
    writeHex(text, 23, 3, bits >>> 2)
    writeHex(text, 28, 4, bits >>> 14)
    writeHex(text, 36, 8, random())
    return text.toString('latin1')
  }
}

/** Returns the time in a UUID, or 0 if UUIDs of that version contain no time. */
export function timeOf(uuid: string | null): number {
  const [, high = '', low = ''] = TIME.exec(uuid ?? '') ?? []
  return Number.parseInt(`0${high}${low}`, 16)
}

/** The clock's time in ms UTC, and the time of a steady clock since the start in ms. */
type Reading = { readonly now: number; readonly elapsed: number }

/**
 * Returns when the clock last jumped forward by more than an hour, in ms since the start, or null. A jump back makes up
 * for it.
 * @param known the result for the earlier readings
 */
export function jumpOf(before: Reading, after: Reading, known: number | null): number | null {
  const jump = after.now - before.now - (after.elapsed - before.elapsed)
  if (jump > HOUR) return after.elapsed
  return jump < -HOUR ? null : known
}

/**
 * Returns why records that seem to have expired are not deleted yet, or null. `jumped`: the clock has jumped forward in
 * the last day. `gap`: in the first day after a start, there was no record for a day before the start. In both cases
 * the clock may be wrong, and somebody has a day to correct it.
 * @param newest the time of the newest record at the start, or null
 * @param jumpedAt the result of `jumpOf`
 */
export function distrustOf(
  { newest, startedAt }: { readonly newest: number | null; readonly startedAt: number },
  jumpedAt: number | null,
  elapsed: number,
): 'jumped' | 'gap' | null {
  if (jumpedAt !== null && elapsed - jumpedAt < DAY) return 'jumped'
  return newest !== null && startedAt - newest > DAY && elapsed < DAY ? 'gap' : null
}

const HEX_DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

/** Writes the last `count` hex digits of a 32-bit number into the bytes before `end`. */
export function writeHex(text: Uint8Array, end: number, count: number, value: number): void {
  let rest = value
  for (let at = end - 1; at >= end - count; at -= 1) {
    text[at] = HEX_DIGITS[rest & 0xf] ?? 0
    rest >>>= 4
  }
}
