/** Silences: which alerts a silence applies to, and when. */
import type { FieldError } from '../error.ts'
import type { Labels } from '../event/event.ts'
import { formatInstant } from '../instant.ts'
import { type DailySpan, dailySpanFault, spansAround, type Weekday } from '../time-zone.ts'
import { expressionSizeOf, type MatchedAlert, type Matcher, matcherTest, newSteps, serviceTest } from './matcher.ts'

/**
 * Periods that start on some weekdays. `from` and `to` are times such as 22:00. If `to` is not after `from`, a period
 * ends the next day.
 */
export type Schedule = DailySpan & { readonly weekdays: readonly Weekday[] }

type GivenSchedule = DailySpan & {
  readonly weekday?: Weekday | undefined
  readonly weekdays?: readonly Weekday[] | undefined
}

/** Returns a stored or received schedule. Earlier ones have one `weekday`. */
export function toSchedule(given: GivenSchedule): Schedule {
  const { from, to, timeZone, weekday, weekdays } = given
  return { weekdays: weekdays ?? (weekday === undefined ? [] : [weekday]), from, to, timeZone }
}

/**
 * A silence applies from `startsAt` to `endsAt`. With a schedule, it applies only during the weekly periods in between.
 */
export type Period = { readonly startsAt: number; readonly endsAt: number; readonly schedule: Schedule | null }

export const SILENCE_STATUSES = ['pending', 'active', 'expired'] as const
export type SilenceStatus = (typeof SILENCE_STATUSES)[number]

/**
 * Two weeks plus one day at each end, so that the periods before and after `at` are always included, even if the clock
 * skips one of them.
 */
const AROUND_DAYS = 15

/** Returns the status of a silence at a given time. A weekly silence is pending between its periods. */
export function statusOf(period: Period, at: number): SilenceStatus {
  if (at >= period.endsAt) return 'expired'
  if (at < period.startsAt) return 'pending'
  const { schedule } = period
  const isActive = schedule === null || spansOf(schedule, at).some((span) => span.startsAt <= at && at < span.endsAt)
  return isActive ? 'active' : 'pending'
}

/** Returns the next time after `at` at which the status may change, or null. */
export function nextChangeOf(period: Period, at: number): number | null {
  const { startsAt, endsAt, schedule } = period
  if (at >= endsAt) return null
  if (at < startsAt) return startsAt
  const spans = schedule === null ? [] : spansOf(schedule, at)
  const later = [endsAt, ...spans.flatMap((span) => [span.startsAt, span.endsAt])].filter((time) => time > at)
  return Math.min(...later)
}

/** Returns what is wrong with a schedule and how to fix it, or null if it is valid. */
export function scheduleFault(schedule: Schedule): FieldError | null {
  if (schedule.weekdays.length === 0) return { path: 'weekdays', message: 'send at least one day such as saturday' }
  return dailySpanFault(schedule, '06:00')
}

/** The maximum length of a silence's comment in a sentence, in characters. */
const NAMED = 100

/** Returns `the silence “Upgrade”`; `a silence` if its record is not known. */
export function silenceName(silence: { readonly comment: string } | undefined): string {
  return silence ? `the silence “${silence.comment.slice(0, NAMED)}”` : 'a silence'
}

/** A period in which a silence applies, in Unix time in milliseconds. */
export type Window = { readonly startsAt: number; readonly endsAt: number }

/** Returns the window in which a silence applies at `at`, or the next one; null if there is none. */
export function nextWindowOf({ startsAt, endsAt, schedule }: Period, at: number): Window | null {
  const from = Math.max(startsAt, at)
  if (from >= endsAt) return null
  if (schedule === null) return { startsAt, endsAt }
  const span = spansOf(schedule, from).find((one) => one.endsAt > from && one.startsAt < endsAt)
  return span ? { startsAt: Math.max(span.startsAt, startsAt), endsAt: Math.min(span.endsAt, endsAt) } : null
}

/** Returns the current or next window of a silence, or all of its period if no window is left. */
export function windowOf({ startsAt, endsAt, schedule }: Period, at: number): Window {
  return nextWindowOf({ startsAt, endsAt, schedule }, at) ?? { startsAt, endsAt }
}

/** Returns the window in which a silence last applied, until `at` if it is active then. A window may begin at `at`. */
export function lastWindowOf({ startsAt, endsAt, schedule }: Period, at: number): Window {
  const last = Math.min(endsAt, at)
  const spans = schedule === null ? [] : spansOf(schedule, last).filter((span) => span.startsAt <= last)
  const span = spans.at(-1)
  return { startsAt: Math.max(startsAt, span?.startsAt ?? startsAt), endsAt: Math.min(last, span?.endsAt ?? last) }
}

/** Says that a silence never applies, and when its schedule would; null if the silence has a window at or after `now`. */
export function windowFault(period: Period & { readonly schedule: Schedule }, now: number): string | null {
  const from = Math.max(now, period.startsAt)
  if (nextWindowOf(period, from) !== null) return null
  const nearest = spansOf(period.schedule, from).find((span) => span.startsAt >= from)
  const next = nearest
    ? `; the next window is from ${formatInstant(nearest.startsAt)} to ${formatInstant(nearest.endsAt)}`
    : ''
  return `no window of this schedule lies between ${formatInstant(from)} and ${formatInstant(period.endsAt)}${next}`
}

function spansOf({ weekdays, ...span }: Schedule, at: number) {
  return spansAround(at, span, weekdays, AROUND_DAYS)
}

export type CompiledSilence = Period & {
  readonly rowId: number
  readonly matches: ReturnType<typeof matcherTest>
  readonly mayMatch: ReturnType<typeof serviceTest>
  /** The size of its regular expressions, in instructions. */
  readonly expressionSize: number
}

/** Compiles a silence's matchers, for matching against many alerts. */
export function compileSilence(
  silence: Period & { rowId: number; matchers: readonly Matcher[]; labelsOnly: boolean },
): CompiledSilence {
  const { rowId, startsAt, endsAt, schedule, matchers, labelsOnly } = silence
  const mayMatch = labelsOnly ? () => true : serviceTest(matchers)
  const matches = matcherTest(matchers, labelsOnly)
  return { rowId, startsAt, endsAt, schedule, matches, mayMatch, expressionSize: expressionSizeOf(matchers) }
}

type SilencedAlert = MatchedAlert & { readonly status: 'firing' | 'resolved'; readonly silencedBy: readonly number[] }

/**
 * Returns the row ids of the silences that apply to an alert now. A resolved alert keeps the silences that applied when
 * it ended, so that old alerts do not lower the service's health when a silence ends.
 * All silences share the steps.
 */
export function silencesOf(
  alert: SilencedAlert,
  active: readonly CompiledSilence[],
  steps = newSteps(),
): readonly number[] {
  if (alert.status === 'resolved') return alert.silencedBy
  return active.filter(({ matches }) => matches(alert, steps)).map(({ rowId }) => rowId)
}

/**
 * Returns labels with the severity of the worst fingerprint that fires. The stored labels can be those of another
 * fingerprint, and a silence for warnings must not silence a critical alert.
 */
export function withSaid(labels: Labels, said: string | null): Labels {
  const isOther = said !== null && Object.hasOwn(labels, 'severity') && labels.severity !== said
  return isOther ? { ...labels, severity: said } : labels
}

/**
 * A silence that is active or pending, or that ended within the last hour. `schedule`: null if the silence applies
 * without interruptions.
 */
export type LiveSilence = Period & {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly matchers: readonly Matcher[]
  readonly comment: string
  readonly createdBy: string
  readonly createdAt: number
  /** How many times the silence was changed. */
  readonly revision: number
  /** The next time the silence starts or ends; null for never. */
  readonly changesAt: number | null
  /** Whether the matchers are compared only with the alert's labels, as in Alertmanager. */
  readonly labelsOnly: boolean
  /** Only silences that were made with Alertmanager's API have annotations. */
  readonly annotations: Labels
  /** Who ended it before its time, `until`. Known only until the next restart, for the timeline of incidents. */
  readonly removed?: { readonly by: string; readonly until: number }
}
