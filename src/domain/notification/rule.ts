/** Rules decide which notifications a channel gets, and when. */
import type { FieldError } from '../error.ts'
import { rank, type Severity } from '../severity.ts'
import { type DailySpan, dailySpanFault, spansAround, WEEKDAYS, type Weekday } from '../time-zone.ts'
import type { NotificationKind } from './kind.ts'

/**
 * No messages are sent during quiet hours. Notifications are collected and sent when the quiet hours end. Without
 * `weekdays`, quiet hours apply every day.
 */
export type QuietHours = DailySpan & { readonly weekdays?: readonly Weekday[] | undefined }

/** A missing field matches everything. `services`: names or ids. */
export type Rule = {
  readonly events?: readonly NotificationKind[] | undefined
  readonly minSeverity?: Severity | undefined
  readonly services?: readonly string[] | undefined
  readonly namespaces?: readonly string[] | undefined
  readonly quietHours?: QuietHours | null | undefined
}

/** The notification fields that rules can match. */
export type RuledNotification = {
  readonly kind: NotificationKind
  readonly severity: Severity
  readonly serviceId: string
  readonly service: string
  readonly namespace: string
}

/**
 * Returns when a channel sends a notification: `now`, or the end of its quiet hours; null if no rule matches. A channel
 * without rules sends everything immediately. If several rules match, the earliest time is used.
 */
export function sendTimeOf(rules: readonly Rule[], notification: RuledNotification, now: number): number | null {
  if (rules.length === 0) return now
  const times = rules
    .filter((rule) => wants(rule, notification))
    .map((rule) => endOfQuiet(rule.quietHours ?? null, now))
  return times.length === 0 ? null : Math.min(...times)
}

/** Returns when the current quiet hours end, or `now` outside quiet hours. */
export function endOfQuiet(quiet: QuietHours | null, now: number): number {
  if (quiet === null) return now
  const spans = spansAround(now, quiet, quiet.weekdays ?? WEEKDAYS, 2)
  // Quiet hours can be adjacent, for example if they last from 00:00 to 00:00 on several days.
  return spans.reduce((end, span) => (span.startsAt <= end && end < span.endsAt ? span.endsAt : end), now)
}

/** Returns what is wrong with quiet hours and how to fix it, or null if they are valid. */
export function quietHoursFault(hours: QuietHours): FieldError | null {
  const { from, to, weekdays } = hours
  const fault = dailySpanFault(hours, '07:00')
  if (fault) return fault
  const isEndless = from === to && (weekdays === undefined || weekdays.length === WEEKDAYS.length)
  return isEndless ? { path: 'to', message: 'these quiet hours would never end; disable the channel instead' } : null
}

function wants({ events, minSeverity, services, namespaces }: Rule, notification: RuledNotification): boolean {
  return (
    (events === undefined || events.includes(notification.kind)) &&
    (minSeverity === undefined || rank(notification.severity) >= rank(minSeverity)) &&
    (services === undefined || services.includes(notification.service) || services.includes(notification.serviceId)) &&
    (namespaces === undefined || namespaces.includes(notification.namespace))
  )
}
