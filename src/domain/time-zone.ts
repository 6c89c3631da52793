/** Converts between instants and local times, including daylight saving time. */
import type { FieldError } from './error.ts'
import { cacheByName, once } from './memoize.ts'
import { ordered } from './order.ts'
import { DAY, MINUTE, SECOND } from './units.ts'

/** A local date and time. `month` and `day` are 1-based. `weekday`: 0 is Sunday. All are NaN for an invalid time. */
export type LocalTime = {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly weekday: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

export const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** A daily period such as 22:00 to 06:00 in a time zone. If `to` is not after `from`, the period ends the next day. */
export type DailySpan = { readonly from: string; readonly to: string; readonly timeZone: string }

/** The time zones offered in forms: UTC first, then the others in alphabetical order. */
export const timeZones = once((): readonly string[] => [
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC'),
])

/** Returns whether the runtime supports a time zone with this name, for example Europe/Berlin. */
export function isTimeZone(name: string): boolean {
  return formatterOf(name) !== null
}

/** Returns the time zone with this name or city: `berlin` → Europe/Berlin. Returns other text unchanged. */
export function timeZoneOf(text: string): string {
  if (isTimeZone(text)) return text
  const city = text.toLowerCase().replaceAll(' ', '_')
  const [zone, ...others] = timeZones().filter((name) => name.toLowerCase().split('/').at(-1) === city)
  return zone === undefined || others.length > 0 ? text : zone
}

/** Returns what is wrong with a daily period and how to fix it, or null. `end`: an example for `to`. */
export function dailySpanFault({ from, to, timeZone }: DailySpan, end: string): FieldError | null {
  if (!isClockTime(from)) return { path: 'from', message: 'expected a clock time such as 22:00' }
  if (!isClockTime(to)) return { path: 'to', message: `expected a clock time such as ${end}` }
  return isTimeZone(timeZone) ? null : { path: 'timeZone', message: 'expected a time zone such as Europe/Berlin' }
}

/** Returns whether a string is a time of day between 00:00 and 23:59. */
function isClockTime(text: string): boolean {
  return /^([01]\d|2[0-3]):[0-5]\d$/.test(text)
}

/** Returns the local date and time at an instant, a Unix time in milliseconds. Uses UTC for an unknown time zone. */
export function localTimeOf(at: number, timeZone: string): LocalTime {
  const local = new Date(at + offsetOf(at, timeZone))
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    weekday: local.getUTCDay(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(),
  }
}

type Span = { readonly startsAt: number; readonly endsAt: number }

/**
 * Returns all periods that overlap the days around `at`, in chronological order. An instant is in a period if a local
 * clock shows a time from `from` until `to`. If the clock goes back, a period can therefore come twice; if the clock
 * goes forward, the skipped part of a period is left out.
 * @param weekdays the weekdays on which a period starts
 * @param days how many days before and after `at` to include
 */
export function spansAround(
  at: number,
  { from, to, timeZone }: DailySpan,
  weekdays: readonly Weekday[],
  days: number,
): readonly Span[] {
  const { year, month, day } = localTimeOf(at, timeZone)
  const midnight = Date.UTC(year, month - 1, day)
  const midnights = Array.from({ length: 2 * days + 1 }, (_, index) => midnight + (index - days) * DAY)
  const spans = midnights
    .filter((date) => weekdays.includes(WEEKDAYS[new Date(date).getUTCDay()] ?? 'sunday'))
    .flatMap((date) => spansOf(date + sinceMidnight(from), date + sinceMidnight(to) + (to > from ? 0 : DAY), timeZone))
  return ordered(spans, ({ startsAt }) => [startsAt])
}

/** Returns when the local time is between `from` and `to`, which are encoded as if they were UTC. */
function spansOf(from: number, to: number, timeZone: string): readonly Span[] {
  const [before, after] = [offsetOf(from - DAY, timeZone), offsetOf(to + DAY, timeZone)]
  if (before === after) return [{ startsAt: from - before, endsAt: to - before }]
  const changedAt = changeBetween(from - DAY, to + DAY, timeZone)
  const first = { startsAt: from - before, endsAt: Math.min(to - before, changedAt) }
  const second = { startsAt: Math.max(from - after, changedAt), endsAt: to - after }
  const isOne = first.startsAt < first.endsAt && first.endsAt === second.startsAt && second.startsAt < second.endsAt
  const spans = isOne ? [{ startsAt: first.startsAt, endsAt: second.endsAt }] : [first, second]
  return spans.filter(({ startsAt, endsAt }) => startsAt < endsAt)
}

/** Returns when the offset changes between two instants. */
function changeBetween(from: number, to: number, timeZone: string): number {
  const before = offsetOf(from, timeZone)
  let [early, late] = [from / SECOND, to / SECOND]
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2)
    if (offsetOf(middle * SECOND, timeZone) === before) early = middle
    else late = middle
  }
  return late * SECOND
}

/**
 * Returns the offset from UTC if the local time of an instant occurs twice because the clock goes back, such as `UTC+2`
 * and an hour later `UTC+1`; otherwise ''.
 */
export function offsetIfRepeated(at: number, timeZone: string): string {
  const offset = offsetOf(at, timeZone)
  const [first, last] = instantsOf(at + offset, timeZone)
  if (first === last) return ''
  const minutes = Math.abs(offset) / MINUTE
  const rest = minutes % 60 === 0 ? '' : `:${String(minutes % 60).padStart(2, '0')}`
  return offset === 0 ? 'UTC' : `UTC${offset < 0 ? '-' : '+'}${Math.floor(minutes / 60)}${rest}`
}

/**
 * Returns the first instant with the given local time. A local time skipped by daylight saving time is moved forward by
 * the skipped hour.
 */
export function instantOf(
  { year, month, day, hour, minute }: Omit<LocalTime, 'weekday' | 'second'>,
  timeZone: string,
): number {
  return instantsOf(Date.UTC(year, month - 1, day, hour, minute), timeZone)[0]
}

/** Returns the first and last instants with the local time `wanted`, which is encoded as if it were UTC. */
function instantsOf(wanted: number, timeZone: string): [first: number, last: number] {
  const candidates = [wanted - DAY, wanted + DAY].map((at) => wanted - offsetOf(at, timeZone))
  const exact = candidates.filter((at) => at + offsetOf(at, timeZone) === wanted)
  // Applying the earlier offset moves a skipped time forward.
  const [before = wanted] = candidates
  return exact.length > 0 ? [Math.min(...exact), Math.max(...exact)] : [before, before]
}

/** Returns the offset of local time from UTC at an instant, in milliseconds. */
function offsetOf(at: number, timeZone: string): number {
  const format = timeZone === 'UTC' || Number.isNaN(new Date(at).getTime()) ? null : formatterOf(timeZone)
  if (!format) return 0
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  const year = parts.era === 'BC' ? 1 - Number(parts.year) : Number(parts.year)
  const local = new Date(0)
  local.setUTCFullYear(year, Number(parts.month) - 1, Number(parts.day))
  local.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second))
  return local.getTime() - Math.floor(at / SECOND) * SECOND
}

function sinceMidnight(clockTime: string): number {
  const [hours = 0, minutes = 0] = clockTime.split(':').map(Number)
  return (hours * 60 + minutes) * MINUTE
}

/** Returns null for an unknown time zone. Creating a formatter is expensive, so the formatters are cached. */
const formatterOf = cacheByName((timeZone) => {
  const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  try {
    return new Intl.DateTimeFormat('en-US', { ...fields, second: 'numeric', hourCycle: 'h23', era: 'short', timeZone })
  } catch {
    return null
  }
})
