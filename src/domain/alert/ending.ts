/** Endings: how an alert is known, or believed, to be over when nobody says so in its own words. */
import type { Alert, Resolution } from './alert.ts'
import type { Mark } from './evidence.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** A new pod template is believed to have mended a condition when its pods bring none for this long. */
const ROLLOUT_QUIET = 10 * MINUTE
const CLUSTER_EXPIRES = HOUR
const CI_EXPIRES = 24 * HOUR
/** While another sender still says that the service is ill, an event's silence is looked at again this often. */
const LOOK_AGAIN = 5 * MINUTE
/** How long an ended alert stays where a repeat can find and reopen it. */
export const REMEMBERED = 24 * HOUR
const NEVER = 8_640_000_000_000_000

export type Surroundings = {
  /** Of Alertmanager and Grafana: the silence after which an alert is believed over, in milliseconds; null: ends are reported. */
  readonly silence: number | null
  /** Whether a metrics alert of the same service fires. */
  readonly metricsFiring: boolean
}

/** The alert as it stands at `now`, and the time at which time alone may next change it. */
export function settle(
  alert: Alert,
  around: Surroundings,
  now: number,
): { readonly alert: Alert; readonly dueAt: number } {
  if (alert.status === 'resolved') return { alert, dueAt: Math.max((alert.endedAt ?? now) + REMEMBERED, now) }
  const end = endOf(alert, around, now)
  if (!end) return { alert, dueAt: Math.max(dueAt(alert, around, now), now) }
  const ended: Alert = {
    ...alert,
    status: 'resolved',
    resolution: end.resolution,
    endsAt: Math.max(end.at, alert.startsAt),
    endedAt: now,
  }
  return { alert: ended, dueAt: now + REMEMBERED }
}

function endOf(alert: Alert, around: Surroundings, now: number): { at: number; resolution: Resolution } | null {
  if (alert.source === 'cluster') return clusterEnd(alert, around, now)
  if (alert.source === 'ci') return expiry(alert, CI_EXPIRES, now)
  if (around.silence === null || now < alert.heardAt + around.silence) return null
  // Its last sign of life is the last moment at which it certainly was.
  return { at: alert.lastSeenAt, resolution: 'inferred' }
}

function clusterEnd(alert: Alert, around: Surroundings, now: number): { at: number; resolution: Resolution } | null {
  const recoveredAt = recovery(alert)
  if (recoveredAt !== null) return { at: recoveredAt, resolution: 'reported' }
  const rollout = quietRollout(alert)
  if (rollout && now >= rollout[0] + ROLLOUT_QUIET && now >= alert.heardAt + ROLLOUT_QUIET) {
    return { at: Math.max(rollout[0], alert.lastSeenAt), resolution: 'inferred' }
  }
  return around.metricsFiring ? null : expiry(alert, CLUSTER_EXPIRES, now)
}

/** When every object that showed the condition has recovered since; of runs such as Jobs one later success is enough. */
function recovery(alert: Alert): number | null {
  const { seen, recovered } = alert.evidence
  if (recovered.length === 0 || seen.length === 0) return null
  if (alert.failure === 'job') {
    const last = latest(seen)
    return recovered.find(([at]) => at >= last)?.[0] ?? null
  }
  const ends = [...new Set(seen.map(([, object]) => object))].map((object) => {
    const last = latest(seen.filter(([, one]) => one === object))
    return recovered.find(([at, one]) => one === object && at >= last)?.[0] ?? null
  })
  return ends.includes(null) ? null : Math.max(...ends.map(Number))
}

/**
 * The newest pod template after the trouble began, where neither its ReplicaSet nor any of its pods ever showed the
 * trouble: more pods of a template that did are no new template.
 */
function quietRollout(alert: Alert): Mark | null {
  const { seen, rollouts } = alert.evidence
  const rollout = rollouts.filter(([at]) => at > alert.startsAt).at(-1)
  if (!rollout) return null
  const troubled = seen.some(([, object]) => `${object}-`.includes(`-${rollout[1]}-`))
  return troubled ? null : rollout
}

function expiry(alert: Alert, after: number, now: number): { at: number; resolution: Resolution } | null {
  return now >= alert.heardAt + after ? { at: alert.heardAt + after, resolution: 'expired' } : null
}

function dueAt(alert: Alert, around: Surroundings, now: number): number {
  if (alert.source === 'ci') return alert.heardAt + CI_EXPIRES
  if (alert.source !== 'cluster') return around.silence === null ? NEVER : alert.heardAt + around.silence
  const rollout = quietRollout(alert)
  const rolloutDue = rollout ? Math.max(rollout[0], alert.heardAt) + ROLLOUT_QUIET : NEVER
  const expires = alert.heardAt + CLUSTER_EXPIRES
  const expiryDue = expires > now ? expires : now + LOOK_AGAIN
  return rolloutDue > now ? Math.min(rolloutDue, expiryDue) : expiryDue
}

function latest(marks: readonly Mark[]): number {
  return Math.max(...marks.map(([at]) => at))
}
