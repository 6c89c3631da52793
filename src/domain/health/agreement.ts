/** Agreement: a Kubernetes event and an alert that report the same failure make a service critical. */
import { type Failure, isSameFailure } from '../event/reason.ts'
import { rank } from '../severity.ts'
import type { HealthCondition } from './health.ts'

/** Rules of the Kubernetes mixin wait for 15 minutes before they fire (`for: 15m`). */
export const TOGETHER = 30 * 60_000

/** Firing alerts, separated into events and alerts. There are few events, no matter how many pods have alerts. */
export type Witnesses = { readonly events: readonly HealthCondition[]; readonly alerts: readonly HealthCondition[] }

/** Returns the firing alerts by kind of source. */
export function splitBySource(conditions: readonly HealthCondition[]): Witnesses {
  const firing = conditions.filter(({ status }) => status === 'firing')
  return {
    events: firing.filter(({ source }) => source === 'cluster'),
    alerts: firing.filter(({ source }) => source === 'metrics' || source === 'dashboard'),
  }
}

/** Returns whether an alert of the other kind reports the same failure as this one. */
export function isWitnessed(one: HealthCondition, { events, alerts }: Witnesses): boolean {
  if (one.source === 'cluster') return alerts.some((alert) => isAgreement(one, alert))
  return one.source !== 'ci' && events.some((condition) => isAgreement(condition, one))
}

/**
 * Returns whether a cluster condition (error or worse) and an alert (warning or worse) report the same failure at about
 * the same time. A warning that has fired for days does not confirm today's condition.
 */
function isAgreement(condition: HealthCondition, alert: HealthCondition): boolean {
  if (alert.startsAt < condition.startsAt - TOGETHER || alert.startsAt > condition.lastSeenAt + TOGETHER) return false
  if (rank(condition.severity) < rank('error') || rank(alert.severity) < rank('warning')) return false
  // A warning without a known failure, for example missing data, confirms nothing.
  if (alert.severity === 'warning' && alert.failure === null) return false
  return isSameFailure(failureOf(condition), { name: alert.name, severity: alert.severity })
}

/** Returns the failure that a Kubernetes event reports. */
export function failureOf({ failure }: HealthCondition): Failure {
  return (failure ?? 'other') as Failure
}
