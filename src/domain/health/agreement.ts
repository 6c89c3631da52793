/** A Kubernetes event and an alert that report the same failure make a service critical. */
import { isNotification } from '../event/event.ts'
import { isSameFailure } from '../event/reason.ts'
import type { Failure } from '../event/reason-table.ts'
import { rank } from '../severity.ts'
import type { HealthCondition } from './health.ts'

/** Rules in the Kubernetes mixin take 15 minutes to fire (`for: 15m`). */
export const TOGETHER = 30 * 60_000

/** Firing alerts, split by kind of source. There are few alerts from events, no matter how many pods are affected. */
export type Witnesses = { readonly events: readonly HealthCondition[]; readonly alerts: readonly HealthCondition[] }

/** Splits the firing alerts by kind of source. */
export function splitBySource(conditions: readonly HealthCondition[]): Witnesses {
  const firing = conditions.filter(({ status }) => status === 'firing')
  return {
    events: firing.filter(({ source }) => source === 'cluster'),
    alerts: firing.filter(isNotification),
  }
}

/** Returns whether an alert from the other kind of source reports the same failure. */
export function isWitnessed(one: HealthCondition, { events, alerts }: Witnesses): boolean {
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
