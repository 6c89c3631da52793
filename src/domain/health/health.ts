/** Health: the status and score of a service, with reasons. Start here. */
import type { Alert } from '../alert/alert.ts'
import {
  type Circumstances,
  nextPeriodChange,
  PUNCTUAL_SENDER,
  type SenderBehavior,
  type Unavailable,
  unavailable,
} from '../alert/unavailable.ts'
import { isNotification } from '../event/event.ts'
import { isSameFailure } from '../event/reason.ts'
import type { Failure } from '../event/reason-table.ts'
import { earliest } from '../instant.ts'
import { rank, type Severity } from '../severity.ts'
import { MINUTE } from '../units.ts'

/** The alert fields that determine health. */
export type HealthCondition = Pick<
  Alert,
  | 'source'
  | 'name'
  | 'severity'
  | 'status'
  | 'resolution'
  | 'failure'
  | 'startsAt'
  | 'endsAt'
  | 'lastSeenAt'
  | 'receivedAt'
  | 'evidence'
> & {
  readonly uuid: string
  /** How the sender of a Kubernetes condition behaves. By default, the sender is on time. */
  readonly sender?: SenderBehavior
}

/** `name`: the name of the alert. */
export type Penalty = {
  readonly alertId: string
  readonly name: string
  readonly rule: PenaltyRule
  readonly penalty: number
}

/** Why an alert has its penalty. `ended`: it ended in the last 30 minutes. `lasting`: a warning for 15 minutes. */
export type PenaltyRule =
  | { readonly code: 'severity' | 'ended'; readonly severity: Severity }
  | { readonly code: 'agreement' | 'lasting' }
  | { readonly code: 'unavailable'; readonly why: string }
  /** A sentence that an older version stored. */
  | { readonly code: 'text'; readonly text: string }

export type Health = {
  readonly status: 'healthy' | 'degraded' | 'critical'
  /** The score: 100 minus the penalties, but at least 0. */
  readonly score: number
  /** The largest penalties, at most 100. */
  readonly penalties: readonly Penalty[]
  /** Critical alerts, and why they are critical: the sender reported this severity, or an event and an alert agree. */
  readonly critical: readonly {
    readonly alertId: string
    readonly by: 'sender' | 'agreement' | 'events'
    readonly rule: PenaltyRule
  }[]
  /** When the health may next change without a new event, in ms UTC; null for never. */
  readonly changesAt: number | null
}

/** Which alerts count as critical: all, only those that their sender called critical, or none. */
type Trust = 'all' | 'sender' | 'nothing'

export const PENALTY: Readonly<Record<Severity, number>> = { critical: 40, error: 25, warning: 12, info: 0 }
/** The penalty of an ended alert decays to 0 over this time, in ms. */
export const DECAY = 30 * MINUTE
const LASTING = 15 * MINUTE
const DEGRADED_BELOW = 80
export const CRITICAL_BELOW = 40
/** Each penalty is at least 1, so this many penalties are enough to lower the score to 0. */
export const MAX_PENALTIES = 100

type Weighed = {
  readonly alert: HealthCondition
  readonly severity: Severity
  readonly rule: PenaltyRule
  readonly penalty: number
  readonly by: Health['critical'][number]['by'] | null
}

/** Returns the severity for a penalty. The result is never below warning. */
export function penaltySeverity(penalty: number): Severity {
  return penalty >= PENALTY.critical ? 'critical' : penalty >= PENALTY.error ? 'error' : 'warning'
}

/**
 * Returns a service's health, given its alerts in any order. Another firing alert never raises the score. Alerts with
 * the same source and name are counted once, at the highest severity. The penalty of an ended alert decays over 30
 * minutes. `trusts`: which alerts count as critical. With any other value than `all`, the status is never worse than
 * degraded: `unattributed` is not a real service, and pods of CI jobs may fail.
 */
export function healthOf(alerts: readonly HealthCondition[], now: number, { trusts = 'all' as Trust } = {}): Health {
  const witnesses = splitBySource(alerts)
  const drained = isDrained(alerts)
  const weighed = alerts.map((alert) => weigh(alert, witnesses, circumstancesOf(alert, drained), now))
  const penalties = heaviestOfEach(weighed)
    .filter(({ penalty }) => penalty > 0)
    .sort(byWeight)
    .slice(0, MAX_PENALTIES)
  const score = Math.max(0, 100 - penalties.reduce((sum, { penalty }) => sum + penalty, 0))
  const firing = weighed.filter(({ alert }) => alert.status === 'firing')
  const critical = firing
    .filter(({ by }) => trusts === 'all' || (trusts === 'sender' && by === 'sender'))
    .sort(byWeight)
    .flatMap(({ alert, by, rule }) => (by ? [{ alertId: alert.uuid, by, rule }] : []))
  const status = statusOf(score, firing)
  return {
    status: trusts !== 'all' && status === 'critical' ? 'degraded' : status,
    score,
    penalties: penalties.map(({ alert: { uuid, name }, penalty, rule }) => ({ alertId: uuid, name, rule, penalty })),
    critical,
    changesAt: changesAt(alerts, drained, now),
  }
}

/**
 * Returns whether an alert's penalty may have changed. A repeat changes the penalty only if the repeat crosses a time
 * threshold.
 */
export function hasWeightChanged(before: Weight, after: Weight): boolean {
  return WEIGHT.some((name) => before[name] !== after[name]) || lasts(before) !== lasts(after)
}

const WEIGHT = ['severity', 'status', 'startsAt', 'endsAt', 'evidence'] as const
type Weight = Pick<HealthCondition, (typeof WEIGHT)[number] | 'lastSeenAt'>

/** Returns the circumstances that affect a condition apart from its own events. `drained`: whether its node is drained. */
export function circumstancesOf(
  { sender = PUNCTUAL_SENDER, evidence }: Pick<HealthCondition, 'sender' | 'evidence'>,
  drained: boolean,
): Circumstances {
  return { ...sender, planned: drained || evidence.helped.length > 0 }
}

/** Returns whether these are the alerts of a node that is being drained. */
export function isDrained(alerts: readonly HealthCondition[]): boolean {
  return alerts.some(({ name, status }) => status === 'firing' && name === 'NodeNotSchedulable')
}

function weigh(alert: HealthCondition, witnesses: Witnesses, context: Circumstances, now: number): Weighed {
  if (alert.status === 'resolved') {
    const { severity } = alert
    return { alert, severity, rule: { code: 'ended', severity }, penalty: decayed(alert, now), by: null }
  }
  const { severity, rule, by } = effective(alert, witnesses, unavailable(alert, now, context), now)
  return { alert, severity, rule, penalty: PENALTY[severity], by }
}

/**
 * Returns the remaining penalty of an ended alert. Because of rounding, the penalty reaches 0 before the half hour is
 * over. An alert that was never received as firing, and so was last seen at its reported end, is history and costs
 * nothing.
 */
function decayed({ source, severity, resolution, endsAt, lastSeenAt }: HealthCondition, now: number): number {
  if (isNotification({ source }) && resolution === 'reported' && lastSeenAt === endsAt) return 0
  const left = DECAY - (now - (endsAt ?? now))
  return Math.round((PENALTY[severity] * Math.min(DECAY, Math.max(0, left))) / DECAY)
}

/** Returns the severity of a firing alert, taking other alerts and its duration into account. */
function effective(
  alert: HealthCondition,
  witnesses: Witnesses,
  down: Unavailable | null,
  now: number,
): Pick<Weighed, 'severity' | 'rule' | 'by'> {
  const { severity } = alert
  const own = { severity, rule: { code: 'severity', severity }, by: null } as const
  if (severity === 'info') return own
  if (isWitnessed(alert, witnesses)) return { severity: 'critical', rule: { code: 'agreement' }, by: 'agreement' }
  if (down && down.at <= now)
    return { severity: 'critical', rule: { code: 'unavailable', why: down.rule }, by: 'events' }
  if (severity === 'critical') return { ...own, by: alert.source === 'cluster' ? 'events' : 'sender' }
  if (severity === 'warning' && alert.failure !== 'monitoring' && lasts(alert))
    return { severity: 'error', rule: { code: 'lasting' }, by: null }
  return own
}

/** Returns whether the first and the last report of the condition are at least 15 minutes apart. */
export function lasts(alert: Pick<HealthCondition, 'startsAt' | 'lastSeenAt'>): boolean {
  return alert.lastSeenAt - alert.startsAt >= LASTING
}

function heaviestOfEach(weighed: readonly Weighed[]): Weighed[] {
  const heaviest = new Map<string, Map<string, Weighed>>()
  for (const one of weighed) {
    const { source, failure } = one.alert
    // All rules that fail on a data source are one condition.
    const name = failure === 'monitoring' ? '' : one.alert.name
    const ofSource = heaviest.get(source) ?? new Map<string, Weighed>()
    heaviest.set(source, ofSource)
    const known = ofSource.get(name)
    if (!known || isHeavier(one, known)) ofSource.set(name, one)
  }
  return [...heaviest.values()].flatMap((ofSource) => [...ofSource.values()])
}

function byWeight(a: Weighed, b: Weighed): number {
  return isHeavier(a, b) ? -1 : 1
}

/** Compares alerts by weight. The order is total, so that equal alerts always produce the same explanation. */
function isHeavier(a: Weighed, b: Weighed): boolean {
  if (a.penalty !== b.penalty) return a.penalty > b.penalty
  if (a.alert.startsAt !== b.alert.startsAt) return a.alert.startsAt < b.alert.startsAt
  return a.alert.uuid < b.alert.uuid
}

function statusOf(score: number, firing: readonly Weighed[]): Health['status'] {
  const worst = firing.reduce((most, { severity }) => Math.max(most, rank(severity)), 0)
  if (worst === rank('critical')) return 'critical'
  // Ended alerts lower the score, but they never make a service critical.
  const lasting = 100 - heaviestOfEach(firing).reduce((sum, { penalty }) => sum + penalty, 0)
  if (lasting < CRITICAL_BELOW) return 'critical'
  return score < DEGRADED_BELOW || worst > 0 ? 'degraded' : 'healthy'
}

/** Returns when an ended or ongoing alert next changes the score, or null for never. */
function changesAt(alerts: readonly HealthCondition[], drained: boolean, now: number): number | null {
  const decaying = alerts.filter((alert) => alert.status === 'resolved' && decayed(alert, now) > 0)
  return earliest([
    ...decaying.map((alert) => nextPoint(alert, now)),
    ...alerts.map((alert) => nextPeriodChange(alert, now, circumstancesOf(alert, drained))),
  ])
}

/** Returns when the rounded penalty next drops by a point, in ms. */
function nextPoint(alert: HealthCondition, now: number): number {
  const whole = PENALTY[alert.severity]
  const lost = whole - decayed(alert, now) + 0.5
  return (alert.endsAt ?? now) + Math.floor((DECAY * lost) / whole) + 1
}

// A Kubernetes event and an alert that report the same failure make a service critical.

/** Rules in the Kubernetes mixin take 15 minutes to fire (`for: 15m`). */
export const TOGETHER = 30 * 60_000

/** Firing alerts, split by kind of source. There are few alerts from events, no matter how many pods are affected. */
type Witnesses = { readonly events: readonly HealthCondition[]; readonly alerts: readonly HealthCondition[] }

/** Splits the firing alerts by kind of source. */
function splitBySource(conditions: readonly HealthCondition[]): Witnesses {
  const firing = conditions.filter(({ status }) => status === 'firing')
  return {
    events: firing.filter(({ source }) => source === 'cluster'),
    alerts: firing.filter(isNotification),
  }
}

/** Returns whether an alert from the other kind of source reports the same failure. */
function isWitnessed(one: HealthCondition, { events, alerts }: Witnesses): boolean {
  if (one.source === 'cluster') return alerts.some((alert) => isAgreement(one, alert))
  return one.source !== 'ci' && events.some((condition) => isAgreement(condition, one))
}

/**
 * Returns whether a Kubernetes condition (error or worse) and an alert (warning or worse) report the same failure at
 * about the same time. A warning that has been firing for days does not confirm today's condition.
 */
function isAgreement(condition: HealthCondition, alert: HealthCondition): boolean {
  if (alert.startsAt < condition.startsAt - TOGETHER || alert.startsAt > condition.lastSeenAt + TOGETHER) return false
  if (rank(condition.severity) < rank('error') || rank(alert.severity) < rank('warning')) return false
  // A warning that does not indicate a known failure confirms nothing. Neither does a failure of the monitoring itself.
  if (alert.failure === 'monitoring' || (alert.severity === 'warning' && alert.failure === null)) return false
  return isSameFailure(failureOf(condition), { name: alert.name, severity: alert.severity })
}

/**
 * Returns whether an alert whose name says the same failure as a Kubernetes condition has ended since the condition was
 * last seen. Kubernetes does not report the end of most conditions. @param ended reported ends, in ms UTC
 */
export function isOverSince(
  condition: { readonly failure: string | null; readonly lastSeenAt: number },
  ended: readonly { readonly name: string; readonly endsAt: number | null }[],
): boolean {
  const failure = failureOf(condition)
  return ended.some(({ name, endsAt }) => {
    return (endsAt ?? 0) > condition.lastSeenAt && isSameFailure(failure, { name, severity: 'warning' })
  })
}

export function failureOf({ failure }: Pick<HealthCondition, 'failure'>): Failure {
  return (failure ?? 'other') as Failure
}
