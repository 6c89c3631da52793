/** Infers the end of an alert when the sender does not report the end. */

import { canContinue } from '../event/lasting.ts'
import { HOUR, MINUTE } from '../units.ts'
import type { Alert, Resolution } from './alert.ts'
import type { Mark } from './evidence.ts'
import { type FiringPeriod, firingPeriodsOf, ongoing } from './firing-period.ts'

/** A new pod template is considered a fix if the template's pods do not show the condition for this long. */
const ROLLOUT_QUIET = 10 * MINUTE
const CI_EXPIRES = 24 * HOUR
/**
 * While a metrics alert of the service is firing, a Kubernetes condition without repeats is rechecked at this interval.
 */
const RECHECK_INTERVAL = 5 * MINUTE
/** A sender that has fallen behind may catch up within seconds. */
const CATCH_UP = 2_000
/** How long an ended alert stays in the live state, so that a repeat can reopen it. */
export const REMEMBERED = 24 * HOUR
const NEVER = 8_640_000_000_000_000

export type ServerContext = {
  /**
   * For Alertmanager and Grafana: alerts end after this many ms without a repeat; null if the sender reports when
   * alerts end.
   */
  readonly repeatTimeout: number | null
  /** Whether a metrics alert of the same service is firing. */
  readonly metricsFiring: boolean
  /** For Kubernetes events: whether the sender reports repeats. If so, a missing repeat indicates an end. */
  readonly repeats: boolean
  /** For Kubernetes events: the sender's delay in milliseconds. Default: 0. */
  readonly lag?: number
}

/** Returns the alert as of `now`, and when it may next change without a new event. */
export function settle(
  alert: Alert,
  context: ServerContext,
  now: number,
): { readonly alert: Alert; readonly dueAt: number } {
  if (alert.status === 'resolved') return { alert, dueAt: Math.max((alert.endedAt ?? now) + REMEMBERED, now) }
  const end = endOf(alert, context, now)
  if (!end) return { alert, dueAt: Math.max(dueAt(alert, context, now), now) }
  const ended: Alert = {
    ...alert,
    status: 'resolved',
    resolution: end.resolution,
    endsAt: Math.max(end.at, alert.startsAt),
    endedAt: now,
  }
  return { alert: ended, dueAt: now + REMEMBERED }
}

function endOf(alert: Alert, context: ServerContext, now: number): { at: number; resolution: Resolution } | null {
  if (alert.source === 'cluster') return clusterEnd(alert, context, now)
  if (alert.source === 'ci') return expiry(alert, CI_EXPIRES, now)
  if (context.repeatTimeout === null || now < alert.receivedAt + context.repeatTimeout) return null
  // The alert is known to have been firing until it was last seen.
  return { at: alert.lastSeenAt, resolution: 'inferred' }
}

function clusterEnd(alert: Alert, context: ServerContext, now: number): { at: number; resolution: Resolution } | null {
  const runAt = laterRun(alert)
  if (runAt !== null) return { at: runAt, resolution: 'reported' }
  const periods = firingPeriodsOf(alert.evidence, { name: alert.name, repeats: context.repeats })
  const lasts = context.metricsFiring && canContinue(alert.name)
  if (periods.length > 0 && ongoing(periods, now - (context.lag ?? 0), lasts).length === 0) return endOfPeriods(periods)
  const rollout = quietRollout(alert)
  if (rollout && now >= Math.max(rollout[0], alert.lastSeenAt) + ROLLOUT_QUIET) {
    return { at: Math.max(rollout[0], alert.lastSeenAt), resolution: 'inferred' }
  }
  return null
}

/** Returns when the condition ended, that is, when its last object recovered or was last seen. */
function endOfPeriods(periods: readonly FiringPeriod[]): { at: number; resolution: Resolution } {
  const ends = periods.map(({ recoveredAt, quietAt }) => recoveredAt ?? quietAt)
  const at = Math.max(...ends)
  const isReported = periods.every(({ recoveredAt }) => recoveredAt !== null)
  return { at, resolution: isReported ? 'reported' : 'expired' }
}

/** Returns the time of a later successful run of the CronJob, or null. Each run of a CronJob has a different name. */
function laterRun({ failure, evidence: { seen, recovered } }: Alert): number | null {
  if (failure !== 'job' || seen.length === 0) return null
  const last = Math.max(...seen.map(([at]) => at))
  return recovered.find(([at]) => at >= last)?.[0] ?? null
}

/**
 * Returns the newest pod template since the problem started, or null if the template's ReplicaSet or pods have the
 * problem too.
 */
function quietRollout(alert: Alert): Mark | null {
  const { seen, rollouts } = alert.evidence
  const rollout = rollouts.filter(([at]) => at > alert.startsAt).at(-1)
  if (!rollout) return null
  const troubled = seen.some(([, object]) => `${object}-`.includes(`-${rollout[1]}-`))
  return troubled ? null : rollout
}

function expiry(alert: Alert, after: number, now: number): { at: number; resolution: Resolution } | null {
  return now >= alert.receivedAt + after ? { at: alert.receivedAt + after, resolution: 'expired' } : null
}

function dueAt(alert: Alert, context: ServerContext, now: number): number {
  if (alert.source === 'ci') return alert.receivedAt + CI_EXPIRES
  if (alert.source !== 'cluster')
    return context.repeatTimeout === null ? NEVER : alert.receivedAt + context.repeatTimeout
  const rollout = quietRollout(alert)
  const rolloutDue = rollout ? Math.max(rollout[0], alert.lastSeenAt) + ROLLOUT_QUIET : NEVER
  const { lag = 0 } = context
  const periods = ongoing(firingPeriodsOf(alert.evidence, { name: alert.name, repeats: context.repeats }), now - lag)
  const quiet = Math.max(now, ...periods.map(({ quietAt }) => quietAt))
  const quietDue = quiet > now ? quiet : now + (lag > 0 ? CATCH_UP : RECHECK_INTERVAL)
  return rolloutDue > now ? Math.min(rolloutDue, quietDue) : quietDue
}
