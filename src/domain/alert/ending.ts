/** Endings: how an alert is known, or believed, to be over when nobody says so in its own words. */
import type { Alert, Resolution } from './alert.ts'
import type { Mark } from './evidence.ts'
import { ongoing, type Spell, spellsOf } from './spell.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** A new pod template is believed to have mended a condition when its pods bring none for this long. */
const ROLLOUT_QUIET = 10 * MINUTE
const CI_EXPIRES = 24 * HOUR
/** While another sender still says that the service is ill, an event's silence is looked at again this often. */
const LOOK_AGAIN = 5 * MINUTE
/** A sender that is behind may catch up within seconds. */
const CATCH_UP = 2_000
/** How long an ended alert stays where a repeat can find and reopen it. */
export const REMEMBERED = 24 * HOUR
const NEVER = 8_640_000_000_000_000

export type ServerContext = {
  /** Of Alertmanager and Grafana: the silence after which an alert is believed over, in milliseconds; null: ends are reported. */
  readonly silence: number | null
  /** Whether a metrics alert of the same service fires. */
  readonly metricsFiring: boolean
  /** Of Kubernetes events: whether their senders report repeats, so that their silence says something. */
  readonly repeats: boolean
  /** How far those senders are behind, in milliseconds. 0 if it is not given. */
  readonly lag?: number
}

/** The alert as it stands at `now`, and the time at which time alone may next change it. */
export function settle(
  alert: Alert,
  around: ServerContext,
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

function endOf(alert: Alert, around: ServerContext, now: number): { at: number; resolution: Resolution } | null {
  if (alert.source === 'cluster') return clusterEnd(alert, around, now)
  if (alert.source === 'ci') return expiry(alert, CI_EXPIRES, now)
  if (around.silence === null || now < alert.receivedAt + around.silence) return null
  // Its last sign of life is the last moment at which it certainly was.
  return { at: alert.lastSeenAt, resolution: 'inferred' }
}

function clusterEnd(alert: Alert, around: ServerContext, now: number): { at: number; resolution: Resolution } | null {
  const runAt = laterRun(alert)
  if (runAt !== null) return { at: runAt, resolution: 'reported' }
  const spells = spellsOf(alert.evidence, { name: alert.name, repeats: around.repeats })
  if (spells.length > 0 && ongoing(spells, now - (around.lag ?? 0), around.metricsFiring).length === 0)
    return endOfSpells(spells)
  const rollout = quietRollout(alert)
  if (rollout && now >= Math.max(rollout[0], alert.lastSeenAt) + ROLLOUT_QUIET) {
    return { at: Math.max(rollout[0], alert.lastSeenAt), resolution: 'inferred' }
  }
  return null
}

/** A condition is over when its last object recovered or was last heard of. */
function endOfSpells(spells: readonly Spell[]): { at: number; resolution: Resolution } {
  const ends = spells.map(({ recoveredAt, quietAt }) => recoveredAt ?? quietAt)
  const at = Math.max(...ends)
  const isReported = spells.every(({ recoveredAt }) => recoveredAt !== null)
  return { at, resolution: isReported ? 'reported' : 'expired' }
}

/** Of runs such as Jobs one later success is enough, whatever its name. */
function laterRun({ failure, evidence: { seen, recovered } }: Alert): number | null {
  if (failure !== 'job' || seen.length === 0) return null
  const last = latest(seen)
  return recovered.find(([at]) => at >= last)?.[0] ?? null
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
  return now >= alert.receivedAt + after ? { at: alert.receivedAt + after, resolution: 'expired' } : null
}

function dueAt(alert: Alert, around: ServerContext, now: number): number {
  if (alert.source === 'ci') return alert.receivedAt + CI_EXPIRES
  if (alert.source !== 'cluster') return around.silence === null ? NEVER : alert.receivedAt + around.silence
  const rollout = quietRollout(alert)
  const rolloutDue = rollout ? Math.max(rollout[0], alert.lastSeenAt) + ROLLOUT_QUIET : NEVER
  const { lag = 0 } = around
  const spells = ongoing(spellsOf(alert.evidence, { name: alert.name, repeats: around.repeats }), now - lag)
  const quiet = Math.max(now, ...spells.map(({ quietAt }) => quietAt))
  const quietDue = quiet > now ? quiet : now + (lag > 0 ? CATCH_UP : LOOK_AGAIN)
  return rolloutDue > now ? Math.min(rolloutDue, quietDue) : quietDue
}

function latest(seen: readonly (readonly [number, ...unknown[]])[]): number {
  return Math.max(...seen.map(([at]) => at))
}
