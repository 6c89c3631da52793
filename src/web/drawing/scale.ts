/** Converts times and durations to positions in percent, and computes axis ticks. */

import { dayOf, formatClock, formatDate } from '../../domain/shown-time.ts'
import { DAY, HOUR, MINUTE } from '../../domain/units.ts'

/** A period as Unix times in milliseconds. `to` is later than `from`. */
export type Span = { readonly from: number; readonly to: number }
export type Tick = { readonly x: number; readonly label: string }

const STEPS: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365, 3650].map((days) => days * DAY),
]
/** The approximate distance between ticks, in px. */
const APART = 90
/** The minimum distance between a label and the picture's edge, in px. A closer label would be cut off. */
const EDGE = 18

/** Returns the position of a time within the span in percent, between 0 and 100. */
export function position(at: number, { from, to }: Span): number {
  if (!(to > from)) return 0
  return rounded(Math.min(1, Math.max(0, (at - from) / (to - from))) * 100)
}

/** Formats a number with at most two decimals and no trailing zeros. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100
}

/**
 * Returns the ticks of a time axis that is `width` px wide, at round times in the time zone. The label at midnight is
 * the date.
 */
export function timeTicks(span: Span, width: number, zone: string): Tick[] {
  const length = span.to - span.from
  if (!(length > 0)) return []
  const least = (APART * 0.8 * length) / width
  const step = STEPS.find((one) => one >= least) ?? Math.ceil(least / (3650 * DAY)) * 3650 * DAY
  const shift = zoneShift(span.from, zone)
  const ticks: Tick[] = []
  for (let at = Math.ceil((span.from + shift) / step) * step - shift; at <= span.to; at += step) {
    const x = position(at, span)
    const px = (x / 100) * width
    if (px >= EDGE && px <= width - EDGE) ticks.push({ x, label: tickLabel(at, step, zone) })
  }
  return ticks
}

/** Returns the time zone's offset from UTC in milliseconds, at most half a day. */
function zoneShift(at: number, zone: string): number {
  const day = dayOf(at, zone)
  const utc = dayOf(at, 'UTC')
  if (!day || !utc) return 0
  const minutes = (day.minutes - utc.minutes + 1440) % 1440
  return (minutes > 840 ? minutes - 1440 : minutes) * MINUTE
}

function tickLabel(at: number, step: number, zone: string): string {
  if (step > DAY) return formatDate(at, { now: at, zone })
  const day = dayOf(at, zone)
  return day && (step === DAY || day.minutes === 0) ? day.name : formatClock(at, zone)
}

const DURATIONS: readonly (readonly [number, string])[] = [
  ...([1, 5, 15] as const).map((minutes) => [minutes * MINUTE, `${minutes} min`] as const),
  ...([1, 4, 12] as const).map((hours) => [hours * HOUR, `${hours} h`] as const),
  ...([1, 3, 7, 30] as const).map((days) => [days * DAY, days === 1 ? '1 day' : `${days} days`] as const),
]

/**
 * Returns a logarithmic axis for all durations, with ticks at round durations. `place` returns a position in percent.
 */
export function durationAxis(durations: readonly number[]): {
  readonly place: (ms: number) => number
  readonly ticks: readonly { readonly x: number; readonly label: string }[]
} {
  const known = durations.filter((ms) => ms > 0)
  const least = Math.max(
    10_000,
    known.reduce((a, b) => Math.min(a, b), 5 * MINUTE),
  )
  const most = Math.max(
    least * 4,
    known.reduce((a, b) => Math.max(a, b), HOUR),
  )
  const [low, high] = [Math.log(least * 0.8), Math.log(most * 1.25)]
  const place = (ms: number) =>
    rounded(Math.min(1, Math.max(0, (Math.log(Math.max(1, ms)) - low) / (high - low))) * 100)
  const inside = DURATIONS.filter(([ms]) => Math.log(ms) >= low && Math.log(ms) <= high)
  return { place, ticks: inside.map(([ms, label]) => ({ x: place(ms), label })) }
}

/** Returns two or three round numbers from 0 to at least `most`, as ticks for an axis of counts. */
export function countTicks(most: number): readonly number[] {
  const step = [1, 2, 5].flatMap((one) => [0, 1, 2, 3, 4, 5, 6].map((power) => one * 10 ** power))
  const fit = step.sort((a, b) => a - b).find((one) => one * 2 >= most) ?? most
  return most <= fit ? [fit] : [fit, fit * 2]
}

const PARTS = 20

/** Returns the number of times in each of several equal parts of the span. */
export function countsIn(times: readonly number[], { from, to }: Span): readonly number[] {
  const counts: number[] = Array(PARTS).fill(0)
  for (const at of times) {
    const part = Math.floor(((at - from) / (to - from)) * PARTS)
    const index = Math.min(PARTS - 1, Math.max(0, part))
    counts[index] = (counts[index] ?? 0) + 1
  }
  return counts
}
