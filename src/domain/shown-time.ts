/** Formats times and durations for display: short, in one time zone, with a 24-hour clock. */
import { formatSeconds } from './text.ts'
import { isTimeZone, type LocalTime, localTimeOf, offsetIfRepeated } from './time-zone.ts'
import { DAY, HOUR, MINUTE, SECOND } from './units.ts'

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const
const NO_TIME = 'unknown time'

/** `now`: Unix time in milliseconds. `zone`: the reader's IANA time zone. */
export type Reader = { readonly now: number; readonly zone: string }

/**
 * Formats an age or a duration that goes on, so that its last unit changes: `45 s`, `47 min`, `1 h 38 min`, `3 days`.
 * Negative durations are shown as 0.
 */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return 'an unknown time'
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`
  if (ms < DAY) return withRest(Math.floor(ms / HOUR), 'h', Math.floor((ms % HOUR) / MINUTE), 'min')
  const days = Math.floor(ms / DAY)
  const unit = days === 1 ? 'day' : 'days'
  return days < 7 ? withRest(days, unit, Math.floor((ms % DAY) / HOUR), 'h') : `${days} ${unit}`
}

/** Formats a duration that is over, as documents do: `14 min 9 s`. Negative durations are shown as 0. */
export function formatLasted(ms: number): string {
  return Number.isFinite(ms) ? formatSeconds(Math.max(0, Math.floor(ms / SECOND))) : formatDuration(ms)
}

function withRest(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${restUnit}`
}

/** Formats the time of day: `03:02`. */
export function formatClock(at: number, zone: string): string {
  const parts = partsOf(at, zone)
  return parts ? `${two(parts.hour)}:${two(parts.minute)}` : NO_TIME
}

/** Formats the time of day with seconds: `03:02:09`. */
export function formatExactClock(at: number, zone: string): string {
  const parts = partsOf(at, zone)
  return parts ? `${two(parts.hour)}:${two(parts.minute)}:${two(parts.second)}` : NO_TIME
}

/** Formats a date: `17 Nov`, or `17 Nov 1969` if it is not in the current year. */
export function formatDate(at: number, { now, zone }: Reader): string {
  const parts = partsOf(at, zone)
  if (!parts) return NO_TIME
  const date = `${parts.day} ${MONTHS[parts.month - 1]}`
  return parts.year === partsOf(now, zone)?.year ? date : `${date} ${parts.year}`
}

/**
 * Formats a time as briefly as possible: `03:02` today, `Wed 16:05` within six days, otherwise the date. `02:52 UTC+2` if
 * the clock shows this time twice.
 */
export function formatMoment(at: number, reader: Reader): string {
  const parts = partsOf(at, reader.zone)
  if (!parts) return NO_TIME
  const time = `${formatClock(at, reader.zone)}${repeatedText(at, reader.zone)}`
  if (isToday(at, reader)) return time
  if (Math.abs(reader.now - at) < 6 * DAY) return `${WEEKDAYS[parts.weekday]} ${time}`
  return formatDate(at, reader)
}

/** Formats a period: `11:30 to 12:00`, or `Fri 12:00 to 12:00` if it began on an earlier day than `now`. */
export function formatSpan({ from, to }: { readonly from: number; readonly to: number }, reader: Reader): string {
  return `${formatMoment(from, reader)} to ${formatMoment(to, reader)}`
}

/** Formats the end of a period that began at `from`: `today 05:30` if it began on an earlier day. */
export function formatEnd(at: number, from: number, reader: Reader): string {
  return `${isToday(at, reader) && !isToday(from, reader) ? 'today ' : ''}${formatMoment(at, reader)}`
}

function isToday(at: number, { now, zone }: Reader): boolean {
  const [one, today] = [localTimeOf(at, zone), localTimeOf(now, zone)]
  return one.day === today.day && one.month === today.month && one.year === today.year
}

/** Formats a time within a sentence: `at 03:02` today, `on Wed at 16:05` within six days, otherwise `on 17 Nov`. */
export function formatWhen(at: number, reader: Reader): string {
  return isToday(at, reader)
    ? `at ${formatMoment(at, reader)}`
    : `on ${formatMoment(at, reader).replace(/(?<=^[A-Z][a-z]+) /, ' at ')}`
}

/**
 * Formats how long ago a time was: `12 min ago`, `yesterday` after a day, the date after six days. For a future time:
 * `in 12 min`.
 */
export function formatAgo(at: number, reader: Reader): string {
  const age = reader.now - at
  if (Math.abs(age) < SECOND) return 'now'
  if (age <= -DAY) return formatMoment(at, reader)
  if (age < 0) return `in ${formatDuration(-age)}`
  if (age < DAY) return `${formatDuration(age)} ago`
  return age < 2 * DAY ? 'yesterday' : age < 6 * DAY ? `${Math.floor(age / DAY)} days ago` : formatDate(at, reader)
}

/** Formats a full time for tooltips: `Sun 22 Nov 2026, 03:02:09 UTC`. */
export function formatFullTime(at: number, zone: string): string {
  const parts = partsOf(at, zone)
  if (!parts) return NO_TIME
  const date = `${WEEKDAYS[parts.weekday]} ${parts.day} ${MONTHS[parts.month - 1]} ${parts.year}`
  return `${date}, ${formatExactClock(at, zone)} ${zone}${repeatedText(at, zone)}`
}

function repeatedText(at: number, zone: string): string {
  const offset = offsetIfRepeated(at, zone)
  return offset === '' ? '' : ` ${offset}`
}

/** A time or a period as `formatTime` and `formatPeriod` write it. */
const WRITTEN = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?: (to|and) (?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d:\d\d))? UTC/g
const QUOTED = /(\u201c[^\u201d]*\u201d)/

/** Rewrites the UTC times of a sentence in a time zone: `2026-11-27 23:50:00 to 2026-11-28 00:20:00 Kolkata`. Keeps quotes. */
export function inZone(sentence: string, zone: string): string {
  if (zone === 'UTC') return sentence
  const rewrite = (_: string, day: string, time: string, word?: string, lastDay = day, lastTime = '') => {
    const [date, clock] = writtenIn(`${day}T${time}Z`, zone)
    if (word === undefined) return `${date} ${clock} ${shortZone(zone)}`
    const [lastDate, lastClock] = writtenIn(`${lastDay}T${lastTime}Z`, zone)
    return `${date} ${clock} ${word} ${lastDate === date ? '' : `${lastDate} `}${lastClock} ${shortZone(zone)}`
  }
  return sentence
    .split(QUOTED)
    .map((part, index) => (index % 2 === 0 ? part.replace(WRITTEN, rewrite) : part))
    .join('')
}

function writtenIn(iso: string, zone: string): readonly [date: string, clock: string] {
  const at = Date.parse(iso)
  const { year, month, day } = localTimeOf(at, zone)
  return [`${year}-${two(month)}-${two(day)}`, `${formatExactClock(at, zone)}${repeatedText(at, zone)}`]
}

/** Returns whether a time zone name such as Europe/Berlin is valid. The name may be untrusted. */
export function isShownZone(name: string): boolean {
  return /^[A-Z][\w+-]*(\/[A-Z][\w+-]*)*$/.test(name) && isTimeZone(name)
}

/** Returns the short name of a time zone: `Berlin` for Europe/Berlin. */
export function shortZone(zone: string): string {
  return zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ')
}

/** Returns the minutes since midnight and a short name for the day: `Thu 19`. Returns null for an invalid time. */
export function dayOf(at: number, zone: string): { readonly minutes: number; readonly name: string } | null {
  const parts = partsOf(at, zone)
  if (!parts) return null
  return { minutes: parts.hour * 60 + parts.minute, name: `${WEEKDAYS[parts.weekday]} ${parts.day}` }
}

/** Returns the local time, or null for an invalid time. */
function partsOf(at: number, zone: string): LocalTime | null {
  const parts = localTimeOf(at, zone)
  return Number.isNaN(parts.year) ? null : parts
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
