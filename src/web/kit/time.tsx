/** Renders times in a short form, with the exact time as a tooltip. */
import type { FC } from 'hono/jsx'
import {
  formatAgo,
  formatClock,
  formatDate,
  formatFullTime,
  formatMoment,
  type Reader,
} from '../../domain/shown-time.ts'
import { getFrame } from './frame.ts'

/** The latest time that `Date` can represent, in milliseconds. The earliest time is the negative of this value. */
const LIMIT = 8_640_000_000_000_000

type Style = 'ago' | 'clock' | 'moment' | 'minute'

const SHOWN: Readonly<Record<Style, (at: number, reader: Reader) => string>> = {
  ago: formatAgo,
  clock: (at, { zone }) => formatClock(at, zone),
  moment: formatMoment,
  minute: (at, reader) => `${formatDate(at, reader)} ${formatClock(at, reader.zone)}`,
}

/**
 * Renders a time. Styles: `ago` (12 min ago), `clock` (03:14), `moment` (03:14, Wed 16:05 or 17 Nov), `minute` (17 Nov
 * 03:14).
 */
export const Time: FC<{ at: number; style?: Style }> = ({ at, style = 'ago' }) => {
  const reader = getFrame()
  return (
    <time datetime={isoOf(at)} title={exactTime(at, reader.zone)}>
      {SHOWN[style](at, reader)}
    </time>
  )
}

/** Returns the full time in the reader's time zone. Adds the UTC time if it differs. */
function exactTime(at: number, zone: string): string {
  return zone === 'UTC' ? formatFullTime(at, zone) : `${formatFullTime(at, zone)} (${formatFullTime(at, 'UTC')})`
}

/** Formats a time as ISO 8601 for `datetime`. Times outside the range of `Date` are clamped. */
export function isoOf(at: number): string {
  return new Date(Math.min(LIMIT, Math.max(-LIMIT, at))).toISOString()
}
