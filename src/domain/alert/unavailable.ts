/** Decides which conditions make a pod unavailable, and when they open an incident. */
import { isMoment, isProbe, meansUnavailable } from '../event/lasting.ts'
import { isTerminal } from '../event/reason.ts'
import type { Alert } from './alert.ts'
import { type FiringPeriod, firingPeriodsOf, ongoing } from './firing-period.ts'

const MINUTE = 60_000
/**
 * A condition that lasts this long is no hiccup: a pod that cannot be scheduled, pulled, mounted or started is tried again
 * within seconds, and the first back-offs of the kubelet are 10, 20 and 40 seconds.
 */
const LASTS = MINUTE
/** This many repeats have the same effect. The first back-offs of the kubelet are 10, 20 and 40 seconds. */
const REPEATS = 4
/**
 * A probe has failed after three attempts in a row (`failureThreshold`), 10 seconds apart (`periodSeconds`). Then the
 * kubelet restarts the container or takes the pod out of service: what still fails after that was not cured by it.
 */
const PROBES = 3
const PROBES_LAST = 45_000
/**
 * A volume is detached from its last node first, and the kubelet waits two minutes before it calls that a failure. A pod of
 * a lost node is the node's: the node's own event may arrive later.
 */
const SLOW = new Set(['FailedAttachVolume', 'NodeNotReady (pod)'])
const TWO_MINUTES = 2 * MINUTE
/** The time for which the autoscaler waits for a new node (`--max-node-provision-time`), and a drained node is away. */
const PLANNED = 15 * MINUTE

/**
 * An exporter that has just been connected sends what Kubernetes still remembers, oldest first and within seconds. The sign
 * of the opposite may be a few requests away, so an event that arrives late waits for it.
 */
const LATE = 30_000
const BACKLOG = 2_000

/** What is known about the sender of events: whether it reports repeats, and how far it is behind, in milliseconds. */
export type SenderBehavior = { readonly repeats: boolean; readonly lag: number }
/** `planned`: whether a node is being drained or added. */
export type Circumstances = SenderBehavior & { readonly planned: boolean }

/** A sender that reports repeats and is on time. */
export const PUNCTUAL_SENDER: SenderBehavior = { repeats: true, lag: 0 }

export type Unavailable = {
  /** When the condition opens an incident, in milliseconds UTC. It may lie in the future. */
  readonly at: number
  /** The first occurrence. */
  readonly since: number
  /** The rule, for a person: `pod cart-1 unavailable: seen 9 times`. */
  readonly rule: string
}

type Watched = Pick<Alert, 'name' | 'evidence' | 'status' | 'source' | 'lastSeenAt' | 'receivedAt'>

/** Returns when and by which rule a firing condition makes a pod unavailable; null if it does not. */
export function unavailable(alert: Watched, now: number, context: Circumstances): Unavailable | null {
  if (!meansUnavailable(alert.name)) return null
  return earliest(ongoingPeriods(alert, now, context).map((period) => verdictOf(period, alert, context)))
}

/**
 * Returns when a firing condition opens an incident, in milliseconds UTC: at once if a pod is unavailable, otherwise
 * after it lasted a minute. A momentary condition must be repeated. Returns null if it never opens an incident.
 */
export function incidentDueAt(alert: Watched, now: number, context: Circumstances): number | null {
  const periods = ongoingPeriods(alert, now, context)
  return earliest(periods.map((period) => verdictOf(period, alert, context)))?.at ?? null
}

/** Returns the next time at which a period ends or opens an incident without an event, in ms UTC; null for never. */
export function nextPeriodChange(alert: Watched, now: number, context: Circumstances): number | null {
  const periods = ongoingPeriods(alert, now, context)
  const times = periods.flatMap((period) => [period.quietAt + context.lag, verdictOf(period, alert, context)?.at ?? 0])
  const later = times.filter((time) => time > now)
  return later.length > 0 ? Math.min(...later) : null
}

function ongoingPeriods(
  { name, evidence, status, source }: Watched,
  now: number,
  { repeats, lag }: Circumstances,
): FiringPeriod[] {
  if (status !== 'firing' || source !== 'cluster') return []
  return ongoing(firingPeriodsOf(evidence, { name, repeats }), now - lag)
}

function verdictOf(period: FiringPeriod, alert: Watched, context: Circumstances): Unavailable | null {
  const verdict = ownVerdict(period, alert, context)
  const isLate = alert.receivedAt - alert.lastSeenAt > LATE
  return verdict && isLate ? { ...verdict, at: Math.max(verdict.at, alert.receivedAt + BACKLOG) } : verdict
}

function ownVerdict({ object, since, lastAt, count }: FiringPeriod, { name }: Watched, { planned }: Circumstances) {
  const isFleeting = isMoment(name) && !isTerminal(name)
  if (planned) return isFleeting ? null : { at: since + PLANNED, since, rule: `${object}: ${name} for 15 minutes` }
  if (isProbe(name)) {
    const failed = count >= PROBES && lastAt - since >= PROBES_LAST
    return failed ? { at: lastAt, since, rule: `${object}: seen ${count} times` } : null
  }
  if (count >= REPEATS) return { at: lastAt, since, rule: `${object}: seen ${count} times` }
  if (isFleeting) return null
  const lasts = SLOW.has(name) ? TWO_MINUTES : LASTS
  return { at: since + lasts, since, rule: `${object}: for more than ${lasts / MINUTE} min` }
}

function earliest(verdicts: readonly (Unavailable | null)[]): Unavailable | null {
  return verdicts.reduce((first, one) => (one && (!first || one.at < first.at) ? one : first), null)
}
