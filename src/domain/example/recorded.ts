/** Reads the recordings that the program contains: deliveries with times relative to the moment of replay. */
import { formatInstant, parseInstant } from '../instant.ts'
import { SECOND } from '../units.ts'

/** The time that stands for "now" in the recorded payloads. */
export const RECORDED_NOW = Date.UTC(2026, 0, 1)

/**
 * Returns the lines of a recording, shifted to `now`, a Unix time in milliseconds. Each line has `at`, the milliseconds
 * since "now", which becomes a Unix time.
 */
export function readRecorded<Line extends { readonly at: number }>(text: string, now: number): Line[] {
  const base = Math.floor(now / SECOND) * SECOND
  const lines = String(moveTimes(text, base - RECORDED_NOW)).split('\n')
  return lines.filter((line) => line !== '').map((line) => withTime(JSON.parse(line) as Line, base))
}

function withTime<Line extends { readonly at: number }>(line: Line, base: number): Line {
  return { ...line, at: base + line.at }
}

/** The latest supported time. Later years have more than four digits. */
const LAST_TIME = Date.UTC(9999, 11, 31)

/**
 * A date and a time of day. After a `T` separator, the time zone is optional and defaults to UTC. After a space, the
 * time zone is required.
 */
const TIMES =
  /(?<![\d-])(\d{4}-\d{2}-\d{2})([Tt]| (?=[\d:]{8}(?:[.,]\d{1,9})?(?:Z| ?UTC| ?GMT| ?[+-]\d{2}:?\d{2})))(\d{2}:\d{2}:\d{2})(?![\d:])/g

/**
 * Returns the value with all times in its strings shifted. Recognizes ISO 8601, RFC 3339 and `2016-08-12 15:23:28 UTC`.
 * Preserves fractions and time zones. Leaves times before 1970 unchanged, because Go writes "never" as the year 1.
 * @param delta milliseconds, a multiple of 1,000
 */
export function moveTimes(value: unknown, delta: number): unknown {
  if (typeof value === 'string') return delta === 0 ? value : value.replace(TIMES, (...found) => moved(found, delta))
  if (Array.isArray(value)) return value.map((one) => moveTimes(one, delta))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, moveTimes(one, delta)]))
}

/** Shifts a date and time of day. The time zone is irrelevant. */
function moved([whole = '', day, between, time]: readonly string[], delta: number): string {
  const before = parseInstant(`${day}T${time}Z`)
  const after = (before ?? 0) + delta
  if (before === null || after < 0 || after > LAST_TIME) return whole
  const [newDay, newTime] = formatInstant(after).slice(0, 19).split('T')
  return `${newDay}${between}${newTime}`
}

/** The cluster of all example data. The program uses this cluster name to recognize and remove example data. */
export const EXAMPLE_CLUSTER = 'incmon-example'
