/** Determines which conditions make a pod unavailable, and when they open an incident. */
import { isMoment, isProbe, lastsFrom, meansUnavailable } from '../event/lasting.ts'
import { isTerminal } from '../event/reason.ts'
import { readPodName, templatesOf } from '../service/pod-name.ts'
import { countOf } from '../text.ts'
import { MINUTE } from '../units.ts'
import type { Alert } from './alert.ts'
import type { Evidence } from './evidence.ts'
import { type FiringPeriod, firingPeriodsOf, ongoing } from './firing-period.ts'

/**
 * If a pod cannot be scheduled or started, or its image cannot be pulled, Kubernetes retries within seconds. If the
 * condition lasts longer than this, the problem is real. The kubelet's first back-offs are 10, 20 and 40 seconds.
 */
const LASTS = MINUTE
/** A pod is also considered unavailable once its condition has been observed this many times. */
const REPEATS = 4
/**
 * A probe fails after three attempts (`failureThreshold`), 10 seconds apart (`periodSeconds`). The kubelet then
 * restarts the container, or the pod receives no more traffic. If the probe keeps failing after that, the problem is
 * real. A fourth failure of a liveness probe is one after the restart.
 */
const PROBES = 3
const PROBES_LAST = 45_000
/**
 * A container that starts slowly has a startup probe, which fails until it has started, or a readiness probe, which keeps
 * a rollout waiting while the old pods serve. A pod of a DaemonSet serves a single node, and is not ready while the node
 * restarts.
 */
const STARTS = 5 * MINUTE
/**
 * Conditions that get more time to clear. A volume must first be detached from its previous node, and the kubelet waits
 * two minutes before it reports a failure. A lost node has an incident of its own, unless it was told to leave: if
 * nothing says which node it is, it may still be removed until its pods are evicted (`tolerationSeconds`).
 */
const TWO_MINUTES = 2 * MINUTE
const EVICTED = 5 * MINUTE
const SLOW = new Map([
  ['FailedAttachVolume', TWO_MINUTES],
  ['NodeNotReady (pod)', EVICTED],
])
/**
 * How long the autoscaler waits for a new node (`--max-node-provision-time`). Draining a node can take just as long.
 */
export const PLANNED = 15 * MINUTE

/**
 * An event is late if it arrives more than this many milliseconds after it happened. A newly connected exporter first
 * sends its old events, oldest first, within seconds. The recovery may be only a few requests behind, so a late event
 * opens an incident only after `BACKLOG`.
 */
const LATE = 30_000
export const BACKLOG = 2_000

/**
 * `repeats`: whether the sender reports repeats. `lag`: the sender's delay in milliseconds. `watchedUntil`: if the
 * cluster is watched, the time until which the watch can be trusted. `metricsFiring`: whether a metrics alert of the same
 * service is firing.
 */
export type SenderBehavior = {
  readonly repeats: boolean
  readonly lag: number
  readonly watchedUntil?: number | null
  readonly metricsFiring?: boolean
}
/** `planned`: whether the node of the condition is being drained or added. */
export type Circumstances = SenderBehavior & { readonly planned: boolean }

export const PUNCTUAL_SENDER: SenderBehavior = { repeats: true, lag: 0 }

export type Unavailable = {
  /** When the condition opens an incident, as Unix time in milliseconds. The time can be in the future. */
  readonly at: number
  /** The time of the first observation. */
  readonly since: number
  /** A description of the rule: `pod cart-1 unavailable: 9 failed attempts`. */
  readonly rule: string
}

type Watched = Pick<Alert, 'name' | 'evidence' | 'status' | 'source' | 'lastSeenAt' | 'receivedAt'>

/**
 * Returns when a firing condition makes a pod unavailable, and by which rule. Returns null if the pod stays available.
 */
export function unavailable(alert: Watched, now: number, context: Circumstances): Unavailable | null {
  if (!meansUnavailable(alert.name)) return null
  return earliest(ongoingPeriods(alert, now, context).map((one, _, all) => verdictOf(one, alert, context, all)))
}

/**
 * Returns when a firing condition opens an incident, as Unix time in milliseconds: immediately if a pod is unavailable,
 * otherwise after a minute. A momentary condition must be repeated, by one object or by several. Returns null if the
 * condition never opens an incident.
 */
export function incidentDueAt(alert: Watched, now: number, context: Circumstances): number | null {
  const periods = ongoingPeriods(alert, now, context)
  const own = earliest(periods.map((period) => verdictOf(period, alert, context, periods)))?.at ?? null
  const isCounted = periods.length > 0 && !context.planned && isFleeting(alert.name)
  return own ?? (isCounted ? repeatedAt(firingPeriodsOf(alert.evidence, { name: alert.name, ...context })) : null)
}

/**
 * Returns when a moment had happened often enough, if those of all objects are counted, each of which goes on until the
 * next; null if it has not.
 */
function repeatedAt(all: readonly FiringPeriod[]): number | null {
  const periods = all.filter(({ recoveredAt }) => recoveredAt === null).sort((a, b) => a.lastAt - b.lastAt)
  const ended = periods.findLastIndex(({ quietAt }, index) => quietAt < (periods[index + 1]?.since ?? quietAt))
  let count = 0
  for (const period of periods.slice(ended + 1)) {
    count += period.count
    if (count >= REPEATS) return period.lastAt
  }
  return null
}

/** Whether a condition is over as soon as it was reported, and says nothing about what follows. */
function isFleeting(name: string): boolean {
  return isMoment(name) && !isTerminal(name)
}

/** Returns when a firing period next ends or opens an incident without a new event, in ms UTC; null for never. */
export function nextPeriodChange(alert: Watched, now: number, context: Circumstances): number | null {
  const periods = ongoingPeriods(alert, now, context)
  const times = periods.flatMap((period) => [
    period.quietAt + context.lag,
    verdictOf(period, alert, context, periods)?.at ?? 0,
  ])
  const later = times.filter((time) => time > now)
  return later.length > 0 ? Math.min(...later) : null
}

function ongoingPeriods(
  { name, evidence, status, source }: Watched,
  now: number,
  { repeats, lag, watchedUntil, metricsFiring = false }: Circumstances,
): FiringPeriod[] {
  if (status !== 'firing' || source !== 'cluster') return []
  const periods = firingPeriodsOf(evidence, { name, repeats, watchedUntil })
  return ongoing(periods, now - lag, lastsFrom(name, metricsFiring))
}

/** `all`: the periods of all pods that have the condition now. */
function verdictOf(
  period: FiringPeriod,
  alert: Watched,
  context: Circumstances,
  all: readonly FiringPeriod[],
): Unavailable | null {
  if (all.length === 1 && hasPeer(period, alert)) return null
  const verdict = ownVerdict(period, alert, context, all)
  const isLate = alert.receivedAt - alert.lastSeenAt > LATE
  return verdict && isLate ? { ...verdict, at: Math.max(verdict.at, alert.receivedAt + BACKLOG) } : verdict
}

function ownVerdict(
  { object, since, lastAt, count }: FiringPeriod,
  { name, evidence }: Watched,
  { planned }: Circumstances,
  all: readonly FiringPeriod[],
) {
  if (planned)
    return isFleeting(name) ? null : { at: since + PLANNED, since, rule: `${object}: ${name} for 15 minutes` }
  if (isProbe(name)) {
    const isRestarted = name === 'Unhealthy (liveness)' && count > PROBES
    const isOfOneNode = all.length === 1 && readPodName(object, null, '').how === 'daemonset or job pod'
    const isStarting = name === 'Unhealthy (startup)' || isOfOneNode || isRolledOut(object, since, evidence)
    const lasts = isStarting && name !== 'Unhealthy (liveness)' ? STARTS : PROBES_LAST
    const failed = isRestarted || (count >= PROBES && lastAt - since >= lasts)
    return failed ? { at: lastAt, since, rule: `${object}: ${countOf(count, 'failed attempt')}` } : null
  }
  if (count >= REPEATS) return { at: lastAt, since, rule: `${object}: ${countOf(count, 'failed attempt')}` }
  if (isFleeting(name)) return null
  const lasts = SLOW.get(name) ?? LASTS
  return { at: since + lasts, since, rule: `${object}: for more than ${lasts / MINUTE} min` }
}

/** Returns whether other pods of the workload serve while one pod is not ready. */
function hasPeer({ object }: FiringPeriod, { name, evidence }: Watched): boolean {
  return name === 'Unhealthy (readiness)' && (evidence.peers ?? []).some(([, peer]) => peer !== object)
}

/** Returns whether a rollout created a pod, or its ReplicaSet, before the pod began to fail. */
function isRolledOut(pod: string, since: number, { rollouts }: Evidence): boolean {
  return rollouts.some(([at, created]) => at <= since && (created === pod || templatesOf([pod])[0] === created))
}

function earliest(verdicts: readonly (Unavailable | null)[]): Unavailable | null {
  return verdicts.reduce((first, one) => (one && (!first || one.at < first.at) ? one : first), null)
}
