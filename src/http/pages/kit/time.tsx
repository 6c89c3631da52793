/** Times and durations as a person reads them: 24 hours, relative up to a day, exact in the tooltip. */
import type { FC } from 'hono/jsx'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY
/** The greatest and least time that a `Date` can hold, in milliseconds. */
const LIMIT = 8_640_000_000_000_000

/** Where a page's reader is: the present and the time zone, such as `UTC` or `Europe/Berlin`. */
export type Reader = { readonly now: number; readonly zone: string }

/** A time in the page. `style`: `ago` (12 min ago), `clock` (03:14), `moment` (03:14, Wed 16:05 or 17 Nov). */
export const Time: FC<{ at: number; reader: Reader; style?: 'ago' | 'clock' | 'moment' }> = ({
  at,
  reader,
  style = 'ago',
}) => (
  <time datetime={isoOf(at)} title={exact(at, reader.zone)} data-style={style === 'ago' ? 'ago' : undefined}>
    {style === 'ago' ? ago(at, reader) : style === 'clock' ? clock(at, reader.zone) : moment(at, reader)}
  </time>
)

/** `12 min ago`, `4 s ago`; from a day on as `moment`. A time in the future is `in 12 min`. */
export function ago(at: number, reader: Reader): string {
  const past = reader.now - at
  if (Math.abs(past) >= DAY) return moment(at, reader)
  if (Math.abs(past) < SECOND) return 'now'
  return past > 0 ? `${duration(past, true)} ago` : `in ${duration(-past, true)}`
}

/** `03:14` today, `Wed 16:05` within a week, `17 Nov` in this year, else `17 Nov 2025`. */
export function moment(at: number, { now, zone }: Reader): string {
  if (Math.abs(now - at) < DAY && dayOf(at, zone) === dayOf(now, zone)) return clock(at, zone)
  if (Math.abs(now - at) < WEEK) return `${format(at, zone, { weekday: 'short' })} ${clock(at, zone)}`
  const isThisYear = format(at, zone, { year: 'numeric' }) === format(now, zone, { year: 'numeric' })
  const date = { day: 'numeric', month: 'short' } as const
  return format(at, zone, isThisYear ? date : { ...date, year: 'numeric' })
}

/** `03:14` */
export function clock(at: number, zone: string): string {
  return format(at, zone, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
}

/** `03:14:22` */
export function clockWithSeconds(at: number, zone: string): string {
  return format(at, zone, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
}

/** `17 Nov 2026, 03:14:22 UTC` */
export function exact(at: number, zone: string): string {
  const date = format(at, zone, { day: 'numeric', month: 'short', year: 'numeric' })
  return `${date}, ${clockWithSeconds(at, zone)} ${zone}`
}

/** `47 min`, `1 h 38 min`, `3 days`; with `seconds` also `4 s` below a minute. `ms` is not negative. */
export function duration(ms: number, seconds = false): string {
  if (ms < MINUTE) return seconds ? `${Math.floor(ms / SECOND)} s` : 'less than 1 min'
  const minutes = Math.floor(ms / MINUTE)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} days`
}

/** ISO 8601 for `datetime`; a time that no `Date` can hold is cut to the limit. */
export function isoOf(at: number): string {
  return new Date(within(at)).toISOString()
}

function dayOf(at: number, zone: string): string {
  return format(at, zone, { day: 'numeric', month: 'numeric', year: 'numeric' })
}

const formats = new Map<string, Intl.DateTimeFormat>()

function format(at: number, zone: string, options: Intl.DateTimeFormatOptions): string {
  const key = zone + JSON.stringify(options)
  const made = formats.get(key) ?? new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone })
  formats.set(key, made)
  return made.format(within(at))
}

function within(at: number): number {
  return Math.min(LIMIT, Math.max(-LIMIT, at))
}
