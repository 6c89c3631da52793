/** Rules: which news a channel gets, and when. */
import { rank, type Severity } from '../severity.ts'
import { type DailySpan, isClockTime, isTimeZone, spansAround, WEEKDAYS, type Weekday } from '../time-zone.ts'
import type { NewsKind } from './news.ts'

/** No messages during this span; they are sent as one when it ends. Without weekdays it is every night. */
export type QuietHours = DailySpan & { readonly weekdays?: readonly Weekday[] | undefined }

/** What is left out does not restrict. `services`: names or ids. */
export type Rule = {
  readonly events?: readonly NewsKind[] | undefined
  readonly minSeverity?: Severity | undefined
  readonly services?: readonly string[] | undefined
  readonly namespaces?: readonly string[] | undefined
  readonly quietHours?: QuietHours | null | undefined
}

/** What rules read of news. `kind` is null for a reminder or an escalation, which follow the incident. */
export type RuledNews = {
  readonly kind: NewsKind | null
  readonly severity: Severity
  readonly serviceId: string
  readonly service: string
  readonly namespace: string
}

/**
 * Returns when a channel sends news: `now`, or the end of its quiet hours; null if no rule wants it. A channel without
 * rules gets all news at once. If several rules want it, the earliest time counts.
 */
export function sendTimeOf(rules: readonly Rule[], news: RuledNews, now: number): number | null {
  if (rules.length === 0) return now
  const times = rules.filter((rule) => wants(rule, news)).map((rule) => endOfQuiet(rule.quietHours ?? null, now))
  return times.length === 0 ? null : Math.min(...times)
}

/** Returns the end of the quiet hours that `now` is in; `now` if it is in none. */
export function endOfQuiet(quiet: QuietHours | null, now: number): number {
  if (quiet === null) return now
  const spans = spansAround(now, quiet, quiet.weekdays ?? WEEKDAYS, 2)
  // Two spans can touch, such as 00:00 to 00:00 on several days.
  return spans.reduce((end, span) => (span.startsAt <= end && end < span.endsAt ? span.endsAt : end), now)
}

/** Returns what is wrong with quiet hours and what to do; null if they can be used. */
export function quietHoursFault({
  from,
  to,
  timeZone,
  weekdays,
}: QuietHours): { path: string; message: string } | null {
  if (!isClockTime(from)) return { path: 'from', message: 'expected a clock time such as 22:00' }
  if (!isClockTime(to)) return { path: 'to', message: 'expected a clock time such as 07:00' }
  if (!isTimeZone(timeZone)) return { path: 'timeZone', message: 'expected a time zone such as Europe/Berlin' }
  const isEndless = from === to && (weekdays === undefined || weekdays.length === WEEKDAYS.length)
  return isEndless ? { path: 'to', message: 'quiet hours would never end; disable the channel instead' } : null
}

function wants({ events, minSeverity, services, namespaces }: Rule, news: RuledNews): boolean {
  return (
    (events === undefined || news.kind === null || events.includes(news.kind)) &&
    (minSeverity === undefined || rank(news.severity) >= rank(minSeverity)) &&
    (services === undefined || services.includes(news.service) || services.includes(news.serviceId)) &&
    (namespaces === undefined || namespaces.includes(news.namespace))
  )
}
