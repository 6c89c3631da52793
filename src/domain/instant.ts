/** Points in time, in milliseconds since 1970 UTC: parsed from senders' formats, formatted as ISO 8601. */
import { DAY, MINUTE } from './units.ts'

/** The last millisecond of the year 9999. ISO 8601 years have four digits. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * The smallest number that is parsed as a time. Smaller numbers are counts or flags. 1e9 seconds is in September 2001.
 */
const FIRST_SECONDS = 1e9
/** The smallest number that is parsed as milliseconds. 1e11 ms is in 1973, and 1e11 seconds is in the year 5138. */
const FIRST_MILLISECONDS = 1e11

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?/
const ZONE = /^(?:Z|UTC|GMT|([+-])(\d{2})(?::?(\d{2}))?(?: (?:[A-Za-z]{1,6}|[+-]\d{2,4}))?)?(?: m=[+-]\d+(?:\.\d+)?)?$/i
const EPOCH = /^\d{10,15}(?:\.\d{1,9})?$/

/**
 * Parses a time as sent by any supported sender: RFC 3339 with up to 9 fraction digits and any offset, Go's
 * `time.String()`, Ruby's `Time#to_s` (all optionally in quotes), or epoch seconds or milliseconds as a number or
 * digits. The default zone is UTC. A leap second becomes :59. Fractions are truncated to milliseconds.
 * @returns Unix time in milliseconds, or null for '', `<no value>`, null, Go's zero time (year 1), dates that do not
 * exist, dates without a time, and times before 1970 or after 9999
 */
export function parseInstant(value: unknown): number | null {
  if (typeof value === 'number') return fromEpoch(value)
  if (typeof value !== 'string' || value.length > 100) return null
  const text = unquote(value.trim())
  // Most strings are dates. A dash after the year distinguishes a date from a number.
  if (text[4] === '-') return fromDateTime(text)
  return EPOCH.test(text) ? fromEpoch(Number(text)) : null
}

/**
 * Parses a query parameter: ISO 8601 with any offset, or just a date. A date means 00:00 UTC that day for `from`, and
 * 00:00 UTC the next day for `to` (exclusive). An unencoded plus sign arrives as a space and is accepted.
 * @returns Unix time in milliseconds, or null if the string is not a time
 */
export function parseBound(text: string, side: 'from' | 'to'): number | null {
  const trimmed = text.trim()
  if (trimmed.length > 100) return null
  const [isDay, year, month, day] = DATE.exec(trimmed) ?? []
  if (!isDay) return fromDateTime(trimmed.replace(/ (?=\d{2}:?\d{2}$)(?<=T.*)/i, '+'))
  const midnight = midnightOf(Number(year), Number(month), Number(day))
  if (midnight === null || midnight < 0) return null
  return side === 'from' ? midnight : Math.min(midnight + DAY, LAST)
}

/** Returns the earliest of the times that are not null, or null if there is none. */
export function earliest(times: readonly (number | null)[]): number | null {
  return times.reduce((a, b) => (a === null || b === null ? (a ?? b) : Math.min(a, b)), null)
}

/**
 * Formats a time as ISO 8601 in UTC with milliseconds: `2026-03-14T02:11:09.000Z`.
 * @throws RangeError if `ms` is not a valid time (NaN, or more than 8.64e15 from 1970)
 */
export function formatInstant(ms: number): string {
  return new Date(ms).toISOString()
}

function unquote(text: string): string {
  if (!text.endsWith('"') && !text.endsWith("'")) return text
  const quoted = /^(\\?["'])(.*)\1$/.exec(text)
  return quoted?.[2]?.trim() ?? text
}

function fromEpoch(value: number): number | null {
  if (!(value >= FIRST_SECONDS)) return null
  return inRange(Math.floor(value < FIRST_MILLISECONDS ? value * 1000 : value))
}

function fromDateTime(text: string): number | null {
  const found = DATE_TIME.exec(text)
  if (!found) return null
  const [said, year, month, day, hour, minute, second = '0', fraction = ''] = found
  const midnight = midnightOf(Number(year), Number(month), Number(day))
  if (midnight === null) return null
  const sinceMidnight = timeOfDay(Number(hour), Number(minute), Number(second), fraction)
  const offset = offsetOf(text.slice(said.length).trim())
  if (sinceMidnight === null || offset === null) return null
  return inRange(midnight + sinceMidnight - offset)
}

/** Returns 00:00 UTC on a given day, in milliseconds, or null if there is no such day. */
function midnightOf(year: number, month: number, day: number): number | null {
  // Date.UTC interprets the years 0 to 99 as 1900 to 1999. A local time on the last day of 1969 can be in 1970 in UTC.
  if (year < 1969 || month < 1 || month > 12 || day < 1) return null
  const ms = Date.UTC(year, month - 1, day)
  // Every month has at least 28 days. For later days, Date.UTC may have rolled over into the next month.
  return day <= 28 || new Date(ms).getUTCDate() === day ? ms : null
}

function timeOfDay(hour: number, minute: number, second: number, fraction: string): number | null {
  if (hour > 23 || minute > 59 || second > 60) return null
  const seconds = hour * 3600 + minute * 60 + Math.min(second, 59)
  return seconds * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3))
}

/**
 * Returns the offset from UTC in milliseconds, positive to the east. Ignores abbreviations: `CST` has three meanings.
 */
function offsetOf(text: string): number | null {
  if (text === 'Z') return 0
  const zone = ZONE.exec(text)
  if (!zone) return null
  const [, sign, hours = '0', minutes = '0'] = zone
  if (Number(hours) > 23 || Number(minutes) > 59) return null
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE
}

function inRange(ms: number): number | null {
  return ms >= 0 && ms <= LAST ? ms : null
}
