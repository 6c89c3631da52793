/** Writes what a message says about the alerts that fire. */

import { withoutService } from '../incident/opening.ts'
import { MIN_REPEAT_TIMEOUT, timeoutOf } from '../sender/delivery-interval.ts'
import { isSender } from '../sender/sender-name.ts'
import { formatMoment, formatWhen } from '../shown-time.ts'
import { capitalized, formatCount, isPartOf, withoutStop } from '../text.ts'
import { MINUTE } from '../units.ts'
import { REMINDERS } from './kind.ts'
import { namedUpTo, shortened } from './names.ts'
import type { MessageAlert, MessageContext, MessageItem } from './words.ts'

/**
 * How an alert is delivered. `interval`: the delivery interval in milliseconds, seen at least once; null if unknown.
 * `isRepeated`: whether its sender repeats what fires.
 */
export type Delivery = {
  readonly interval: number | null
  readonly reportsEnds: boolean
  readonly isRepeated: boolean
}

/** The last report of an alert that fires. */
export type Report = Pick<MessageAlert, 'source' | 'receivedAt' | 'delivery'>

/** After this time without a repeat, messages say since when nothing was received. */
const OVERDUE_AFTER = 15 * MINUTE
/** Until the sender reports the end, an alert that was last received this long ago may have ended. */
const UNREPORTED_FOR = MINUTE
const NAMED = 3
/** How many further conditions a message names without their summaries. */
const NAMED_BRIEFLY = 7
const MAX_SUMMARY = 300

/** Formats a time: `at 14:02 UTC`. A channel with its own time zone needs no name of the zone. */
export function whenText(at: number, { now, timeZone }: MessageContext): string {
  return formatWhen(at, { now, zone: timeZone }) + zoneText(timeZone)
}

/** Formats a time after a word such as `since`: `14:02 UTC`. */
export function momentText(at: number, { now, timeZone }: MessageContext): string {
  return formatMoment(at, { now, zone: timeZone }) + zoneText(timeZone)
}

function zoneText(timeZone: string): string {
  return timeZone === 'UTC' ? ' UTC' : ''
}

/** Returns the alerts with their own summaries, or the title of the incident if no alert is known. */
export function problemText(item: MessageItem): string {
  const shown = namedAlerts(item)
  // After a recovery, an alert that still fires is not critical any more.
  if (item.kind === 'recovered' && shown.some(({ endsAt }) => endsAt === null))
    return `Still firing, but not critical: ${shown.map(alertText).join('; ')}`
  const past = isPast(item, shown)
  const quoted = past ? shown.map((alert) => asCritical(alert, item.incident.problem)) : shown
  const quotes = quoted.map((alert) => `${alertText(alert)}${moreText(item, alert)}`)
  const texts = shown.length === 0 ? [titleText(item.incident.title, item.service.name)] : quotes
  // The words are those of the sender or of a user, who wrote them while it went on.
  const rest = item.kind === 'recovered' ? unnamedOf(item, shown) : []
  const also = rest.length === 0 ? '' : `; ${namedUpTo(rest, NAMED)}`
  return `${past ? 'It was: ' : ''}${texts.join('; ')}${also}`
}

/** Returns the critical conditions that an incident has had, which have ended and which a message does not name. */
function unnamedOf(item: MessageItem, shown: readonly MessageAlert[]): readonly string[] {
  const named = [...shown, ...item.alerts.filter(({ endsAt }) => endsAt === null)]
  return hadNames(item).filter((name) => named.every(({ condition }) => condition !== name))
}

/** Names the critical conditions that an incident has had. After merges, the record also has those by other names. */
export function hadNames({ incident: { problem }, alerts }: MessageItem): readonly string[] {
  const declared = problem.hadDeclared.map((name) => ({ name, condition: name }))
  const known = [...alerts, ...declared]
  const isOwn = (name: string) => known.some(({ condition }) => condition === name)
  const isOther = (name: string) => known.some((one) => one.name === name || isPartOf(name, one.name))
  const isMerged = (name: string) => problem.had.some((other) => isPartOf(other, name))
  return problem.had.filter((name) => isOwn(name) || !(isOther(name) || isMerged(name)))
}

/** Returns whether what the message quotes is over. What was merged into another incident may go on there. */
function isPast({ incident, mergedInto }: MessageItem, shown: readonly MessageAlert[]): boolean {
  if (shown.length > 0) return shown.every(({ endsAt }) => endsAt !== null)
  return incident.problem.since === null && mergedInto === null
}

/** Returns the alerts that a message names, at most three and one of each condition. */
export function namedAlerts(item: MessageItem): readonly MessageAlert[] {
  const about = alertsAbout(item).toReversed()
  const byCondition = new Map(about.map((alert) => [alert.condition, alert]))
  return [...byCondition.values()].toReversed().slice(0, NAMED)
}

/** Returns ` (and 1 more)` if other alerts of the same condition, such as those of other shards, say something else. */
function moreText(item: MessageItem, { condition }: MessageAlert): string {
  const alike = alertsAbout(item).filter((one) => one.condition === condition)
  const texts = new Set(alike.map((one) => one.summary))
  if (texts.size < 2) return ''
  const isAll = item.alerts.length >= item.incident.alertCount
  return ` (and ${isAll ? `${formatCount(texts.size - 1)} ` : ''}more)`
}

/** Returns the alerts that a message is about: those that fire, or those that are over if the problem is over. */
function alertsAbout({ kind, names, others, incident, alerts }: MessageItem): readonly MessageAlert[] {
  const news = new Set(others)
  const preferred = alerts.filter(({ endsAt }) => (endsAt === null) === (kind !== 'recovered'))
  const own = preferred.length > 0 ? preferred : alerts
  const further = own.filter(({ id }) => news.has(id))
  const known = new Set(further.map(({ condition }) => condition))
  const fresh = own.filter(({ condition }) => names.includes(condition) && !known.has(condition))
  const isOfNames = kind === 'worse' || further.length > 0 || (REMINDERS.has(kind) && fresh.length > 0)
  const about = isOfNames ? [...further, ...fresh] : own
  const { firing, had } = incident.problem
  const critical = kind === 'recovered' ? [] : about.filter(({ condition }) => firing.includes(condition))
  const severe = critical.length > 0 ? critical : about.filter(({ condition }) => had.includes(condition))
  return severe.length > 0 ? severe : about
}

/** Returns the critical conditions that a message is about and whose alerts it does not name. */
function unnamed(item: MessageItem): readonly string[] {
  const { kind, names, incident } = item
  const named = new Set(namedAlerts(item).map(({ condition }) => condition))
  const about = kind === 'worse' ? names : incident.problem.firing
  return about.filter((name) => !named.has(name))
}

/** Returns the conditions that a message about one incident names as firing, except as the reason of another message. */
export function saidNames(item: MessageItem): readonly string[] {
  const { kind, alerts, incident } = item
  if (kind === 'acknowledged' || kind === 'recovered' || kind === 'resolved' || alerts.length === 0) return []
  const shown = namedAlerts(item).map(({ condition }) => condition)
  return [...shown, ...unnamed(item).slice(0, NAMED_BRIEFLY)].filter((name) => incident.problem.firing.includes(name))
}

/** Names the critical conditions that the message is about and that it has not named yet. */
export function othersText(item: MessageItem): string {
  const others = unnamed(item)
  // Without an alert, the message has the title of the incident instead.
  const word = isPast(item, namedAlerts(item)) ? 'Going on' : 'Also firing'
  return namedAlerts(item).length === 0 || others.length === 0 ? '' : `${word}: ${namedUpTo(others, NAMED_BRIEFLY)}.`
}

/** Returns an alert with what it said while it was critical. Its last words can be those of a warning. */
function asCritical(alert: MessageAlert, { had }: MessageItem['incident']['problem']): MessageAlert {
  const isLess = alert.severity !== 'critical' && had.includes(alert.condition)
  return isLess ? { ...alert, summary: alert.criticalSummary ?? '' } : alert
}

function alertText({ condition, name, summary }: MessageAlert): string {
  const text = shortened(withoutStop(summary), MAX_SUMMARY)
  return ['', condition, name].includes(text) ? shortened(condition) : `${shortened(condition)}: ${text}`
}

/** Returns whether a user wrote the title. */
export function hasOwnTitle({ incident: { origin, title, touchedAt, problem }, service }: MessageItem): boolean {
  const isChanged = touchedAt !== null && problem.about === null && withoutService(title, service.name) === null
  return origin === 'manual' || (isChanged && !isSender(service.name))
}

/** Returns the title without the service name, which is already on the first line. */
function titleText(title: string, service: string): string {
  return shortened(withoutStop(withoutService(title, service) ?? title))
}

/**
 * Returns `last reported at 14:06 UTC` if the sender may never report the end, or if a repeat is missing. If there
 * is no further report, the problem has lasted only until that time. A user can have set the severity later, at `since`.
 */
export function reportedText(
  alerts: readonly MessageAlert[],
  conditions: readonly string[],
  context: MessageContext,
  since = 0,
): string {
  const last = lastReceived(alerts.filter(({ condition }) => conditions.includes(condition)))
  if (!last || last.receivedAt < since || context.now - last.receivedAt < UNREPORTED_FOR) return ''
  const { interval, isRepeated, reportsEnds } = last.delivery
  // A sender that reports ends does not report them while a silence of its own covers the alert.
  const isMissed = context.now - last.receivedAt >= (interval === null ? MIN_REPEAT_TIMEOUT : 2 * interval)
  const isUncertain = last.source === 'cluster' || (isRepeated && (!reportsEnds || isMissed))
  return isUncertain ? `last reported ${whenText(last.receivedAt, context)}` : ''
}

/** Returns the firing alert that was received last. */
function lastReceived(alerts: readonly MessageAlert[]): MessageAlert | null {
  const firing = alerts.filter(({ endsAt }) => endsAt === null)
  return firing.reduce<MessageAlert | null>((found, one) => {
    return found && found.receivedAt >= one.receivedAt ? found : one
  }, null)
}

/**
 * Says when what still fires after a recovery was last reported. Alertmanager sends neither a repeat nor the end of an alert
 * that another one inhibits.
 */
export function lastReportText({ kind, alerts }: MessageItem, context: MessageContext): string {
  const last = kind === 'recovered' ? lastReceived(alerts) : null
  if (!last?.delivery.isRepeated || context.now - last.receivedAt < UNREPORTED_FOR) return ''
  return `Last reported ${whenText(last.receivedAt, context)}.`
}

/** Says since when the alerts were not repeated, if that is longer than their sender's repeats take. */
export function overdueText({ kind, alerts }: MessageItem, context: MessageContext): string {
  const last = lastReceived(alerts)
  if (last?.source === 'cluster') {
    // The first line of other messages says so.
    const reported = kind === 'worse' || kind === 'flapping' ? reportedText([last], [last.condition], context) : ''
    return reported === '' ? '' : `${capitalized(reported)}.`
  }
  const word = last && overdueWord(last, context.now)
  return word ? `${word} since ${momentText(last.receivedAt, context)}.` : ''
}

/** Returns `Not heard` if the report is older than its sender's repeats take; null if it is not, or has no repeats. */
export function overdueWord({ source, receivedAt, delivery }: Report, now: number) {
  const { interval, reportsEnds, isRepeated } = delivery
  if (source === 'cluster' || !isRepeated) return null
  if (now - receivedAt < (interval === null ? OVERDUE_AFTER : timeoutOf(interval))) return null
  return reportsEnds && interval !== null ? 'Not repeated' : 'Not heard'
}

/** Returns `12 alerts.` or `3 of 12 alerts are firing.`; '' for a single alert. */
export function countText({ alertCount, firingAlerts }: MessageItem['incident']): string {
  if (alertCount <= 1) return ''
  if (firingAlerts >= alertCount) return `${formatCount(alertCount)} alerts.`
  return `${formatCount(firingAlerts)} of ${formatCount(alertCount)} alerts ${firingAlerts === 1 ? 'is' : 'are'} firing.`
}

/** Returns `ann is on it.` or that nobody is, unless the first line says so. */
export function onItText({ kind, incident, isTakenBack }: MessageItem): string {
  const { acknowledgedBy, acknowledgedAt, status } = incident
  if (status === 'resolved' || kind === 'acknowledged' || isTakenBack) return ''
  if (acknowledgedAt !== null) return `${acknowledgedBy ?? 'A user'} is on it.`
  // The first line of other messages says so.
  return ['worse', 'again', 'flapping', 'severity', 'reopened'].includes(kind) ? 'Nobody is on it.' : ''
}

/** Returns the namespace of the service. An alert that names no service can still name a namespace. */
export function namespaceOf({
  service,
  incident,
  alerts,
}: Pick<MessageItem, 'service' | 'incident' | 'alerts'>): string {
  const isWhole = incident.problem.about !== null && alerts.length >= incident.alertCount
  const named = new Set(isWhole ? alerts.map(({ labels }) => labels.namespace ?? '') : [])
  return service.namespace || (named.size === 1 ? ([...named][0] ?? '') : '')
}
