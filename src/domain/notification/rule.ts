/** Rules decide which notifications a channel gets, and when. */
import { BUDGETS } from '../budgets.ts'
import type { FieldError } from '../error.ts'
import { rank, type Severity } from '../severity.ts'
import {
  formatMatchers,
  type MatchedAlert,
  type Matcher,
  matcherTest,
  newSteps,
  type Steps,
} from '../silence/matcher.ts'
import { type DailySpan, dailySpanFault, spansAround, WEEKDAYS, type Weekday } from '../time-zone.ts'
import type { ChannelSettings } from './channel.ts'
import type { NotificationKind } from './kind.ts'

/**
 * No messages are sent during quiet hours. Notifications are collected and sent when the quiet hours end. Without
 * `weekdays`, quiet hours apply every day.
 */
export type QuietHours = DailySpan & { readonly weekdays?: readonly Weekday[] | undefined }

/** A missing field matches everything. `services`: names or ids. `matchers`: all must match one alert of the incident. */
export type Rule = {
  readonly events?: readonly NotificationKind[] | undefined
  readonly minSeverity?: Severity | undefined
  readonly services?: readonly string[] | undefined
  readonly namespaces?: readonly string[] | undefined
  readonly matchers?: readonly Matcher[] | undefined
  readonly quietHours?: QuietHours | null | undefined
}

/** The notification fields that rules can match. */
export type RuledNotification = {
  readonly kind: NotificationKind
  readonly severity: Severity
  readonly serviceId: string
  readonly service: string
  /** The other names of the service, which matchers compare, too. */
  readonly aliases?: readonly string[] | undefined
  readonly namespace: string
  readonly cluster: string
  /** The alerts of the incident that the message is about, firing ones first. See `readsAlerts`. */
  readonly alerts: readonly RuledAlert[]
  /** The services of incidents that were merged into this one. */
  readonly merged?: readonly { readonly id: string; readonly name: string; readonly namespace: string }[]
  /** What is left for regular expressions; see `ruleSteps`. */
  readonly steps?: Steps
}

export type RuledAlert = Pick<MatchedAlert, 'source' | 'severity' | 'alertname' | 'labels'>

/** What a channel does with a notification, and the rule that decided. */
type Choice = {
  /** When the message is sent; null if no rule matches. */
  readonly dueAt: number | null
  /** The index of the rule; null if the channel has no rules or none of them matches. */
  readonly rule: number | null
}

/**
 * Returns when a channel sends a notification: `now`, or the end of its quiet hours; null if no rule matches. A channel
 * without rules sends everything immediately. If several rules match, the earliest time is used.
 */
export function sendTimeOf(rules: readonly Rule[], notification: RuledNotification, now: number): number | null {
  return choiceOf(rules, notification, now).dueAt
}

/** Returns when a channel sends a notification, and the first rule with the earliest time. */
export function choiceOf(rules: readonly Rule[], given: RuledNotification, now: number): Choice {
  const notification = { steps: ruleSteps(), ...given }
  if (rules.length === 0) return { dueAt: now, rule: null }
  let choice: Choice = { dueAt: null, rule: null }
  for (const [index, rule] of rules.entries()) {
    if (!wants(rule, notification)) continue
    const dueAt = endOfQuiet(rule.quietHours ?? null, now)
    if (choice.dueAt === null || dueAt < choice.dueAt) choice = { dueAt, rule: index }
  }
  return choice
}

/** Returns whether a rule reads the alerts of an incident. */
export function readsAlerts({ rules }: { readonly rules: readonly Rule[] }): boolean {
  return rules.some(({ matchers, namespaces }) => matchers !== undefined || namespaces !== undefined)
}

/** Returns whether a rule compares the names of a service with matchers. */
export function readsLabels({ rules }: { readonly rules: readonly Rule[] }): boolean {
  return rules.some(({ matchers }) => matchers !== undefined)
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

function wants(rule: Rule, notification: RuledNotification): boolean {
  const { events, minSeverity, services, namespaces, matchers } = rule
  return (
    (events === undefined || wantsKind(events, notification.kind)) &&
    (minSeverity === undefined || rank(notification.severity) >= rank(minSeverity)) &&
    (services === undefined || isOf(services, notification)) &&
    (namespaces === undefined || isIn(namespaces, notification)) &&
    (matchers === undefined || matches(matchers, notification))
  )
}

/** Flapping is a way to come back. */
function wantsKind(events: readonly NotificationKind[], kind: NotificationKind): boolean {
  return events.includes(kind) || (kind === 'flapping' && events.includes('again'))
}

function isOf(services: readonly string[], { service, serviceId, merged = [] }: RuledNotification): boolean {
  return [service, serviceId, ...merged.flatMap(({ id, name }) => [id, name])].some((one) => services.includes(one))
}

/** An incident without a namespace, such as that of a node, is in the namespaces that its alerts name. */
function isIn(namespaces: readonly string[], { namespace, alerts, merged = [] }: RuledNotification): boolean {
  const named = namespace === '' ? alerts.flatMap(({ labels }) => labels.namespace ?? []) : [namespace]
  return [...named, ...merged.map((one) => one.namespace)].some((one) => namespaces.includes(one))
}

/** An incident without alerts, such as one that a user opened, is matched by its own fields. */
const NO_ALERT: RuledAlert = { source: '', severity: '', alertname: '', labels: {} }

/**
 * Returns the steps for the rules of an organization and the messages that are decided together. Without steps, every
 * regular expression matches, because one message too many is better than a missing one.
 */
export function ruleSteps(): Steps {
  return newSteps(BUDGETS['rule-work'].value, true)
}

function matches(matchers: readonly Matcher[], { alerts, severity, steps, ...place }: RuledNotification): boolean {
  const test = matcherTest(matchers)
  const { service, aliases, namespace, cluster } = place
  const known = alerts.length > 0 ? alerts : [{ ...NO_ALERT, severity }]
  return known.some((alert) => test({ ...alert, service, aliases, namespace, cluster }, steps))
}

// In short words, which messages a channel gets, and when. The list of channels and the command line show it.

/** The kinds of messages in words. */
export const NEWS: Readonly<Record<NotificationKind, string>> = {
  opened: 'opened',
  group: 'common cause',
  worse: 'got worse',
  again: 'critical again',
  flapping: 'flapping',
  'sender-silent': 'sender silent',
  recovered: 'recovered',
  resolved: 'resolved',
  reopened: 'reopened by a user',
  severity: 'severity raised',
  acknowledged: 'acknowledged',
  reminder: 'reminders',
  escalation: 'escalations',
  'still-firing': 'still firing after the resolution',
}

/** Returns a short description of each rule. */
export function rulesText(rules: readonly Rule[]): readonly string[] {
  return rules.length === 0 ? ['all changes to all incidents, at any time'] : rules.map(ruleText)
}

function ruleText({ events, minSeverity, services, namespaces, matchers, quietHours }: Rule): string {
  const changes =
    events === undefined
      ? 'all changes'
      : events.length === 0
        ? 'no changes'
        : events.map((one) => NEWS[one]).join(', ')
  const severity =
    minSeverity === undefined ? '' : minSeverity === 'critical' ? 'critical only' : `${minSeverity} or worse`
  const of = [
    services ? `of ${services.join(', ')}` : '',
    namespaces ? `in ${namespaces.join(', ')}` : '',
    matchers ? `with ${formatMatchers(matchers)}` : '',
  ].filter((text) => text !== '')
  const quiet = quietHours
    ? `quiet ${quietHours.from}–${quietHours.to} ${quietHours.timeZone}${daysText(quietHours.weekdays)}`
    : ''
  return [[changes, ...of].join(' '), severity, quiet].filter((text) => text !== '').join('; ')
}

function daysText(weekdays: readonly string[] | undefined): string {
  return weekdays === undefined ? '' : ` (${weekdays.map((day) => day.slice(0, 3)).join(', ')})`
}

/** Describes the reminders for an unacknowledged incident; '' if there are none. */
export function remindersText({
  remindAfter,
  remindEvery,
  escalateAfter,
}: Pick<ChannelSettings, 'remindAfter' | 'remindEvery' | 'escalateAfter'>): string {
  const escalation = escalateAfter === 0 ? '' : `only after ${escalateAfter} min without acknowledgement`
  const first = remindAfter === 0 ? '' : `reminder after ${remindAfter} min`
  const every = remindAfter === 0 || remindEvery === 0 ? '' : `then every ${remindEvery} min`
  return [escalation, first, every].filter((text) => text !== '').join(', ')
}
