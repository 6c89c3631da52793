/** Infers the end of an alert when the sender does not report the end. */
import { isNotification } from '../event/event.ts'
import { lastsFrom } from '../event/lasting.ts'
import { type Awaited, type Beat, countsFrom } from '../sender/beats.ts'
import { HOUR, MINUTE } from '../units.ts'
import type { Alert, LiveAlert, Resolution } from './alert.ts'
import type { Mark } from './evidence.ts'
import { type Fingerprint, fingerprintsOf, type OfAlert, withSeverityOf } from './fingerprints.ts'
import { type FiringPeriod, firingPeriodsOf, ongoing } from './firing-period.ts'

/** A new pod template is considered a fix if the template's pods do not show the condition for this long. */
const ROLLOUT_QUIET = 10 * MINUTE
/** An alert that is neither repeated nor reported as ended expires after this time. */
export const EXPIRES = 24 * HOUR
/** A Kubernetes condition without repeats is rechecked at this interval while something else keeps it firing. */
const RECHECK_INTERVAL = 5 * MINUTE
/** A sender that has fallen behind may catch up within seconds. */
const CATCH_UP = 2_000
/** How long an ended alert stays in the live state, so that a repeat can reopen it. */
const REMEMBERED = 24 * HOUR
const NEVER = 8_640_000_000_000_000

/** How Alertmanager or Grafana delivers an alert. */
export type Delivery = {
  /** An alert that is not repeated for this many ms has ended or, from a sender that reports ends, was forgotten. */
  readonly repeatTimeout: number
  /** Whether the sender has ever reported an end. Such a sender is expected to report every end. */
  readonly reportsEnds: boolean
  /** When the sender last delivered anything, in ms UTC; null for never. */
  readonly heardAt: number | null
}

type ServerContext = Delays & {
  /** For Alertmanager and Grafana; null for other senders. */
  readonly delivery: Delivery | null
  /** Whether a metrics alert of the same service is firing. */
  readonly metricsFiring: boolean
  /** For Kubernetes events: whether the sender reports repeats. If so, a missing repeat indicates an end. */
  readonly repeats: boolean
  /** For Kubernetes events: the sender's delay in milliseconds. Default: 0. */
  readonly lag?: number
  /** For Kubernetes events: until when a watch of the cluster can be trusted; see `PeriodRules`. */
  readonly watchedUntil?: number | null | undefined
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
  return endedAs(alert, end, now)
}

/**
 * Like `settle`, but first ends each fingerprint whose time is over. The alert ends with its last fingerprint. A
 * fingerprint with an end time from its sender ends at that time, whatever the delivery interval is.
 */
export function settleAll(
  alert: Alert,
  fingerprints: readonly Fingerprint[] | null,
  context: ServerContext,
  now: number,
): Pick<LiveAlert, 'alert' | 'fingerprints' | 'dueAt'> {
  if (alert.status === 'resolved' || !isNotification(alert) || (!fingerprints && alert.expiresAt === null))
    return { ...settle(alert, context, now), fingerprints }
  const known = fingerprintsOf(alert, fingerprints)
  const expiry = lastExpiry(known)
  const timeout = silenceOf(context.delivery)
  const firing = withoutSilent(known, timeout, context, now)
  if (firing.every(({ ended }) => ended)) {
    if (expiry === null) return { ...settle(withSeverityOf(alert, firing), context, now), fingerprints }
    // Alertmanager reported the end, which did not count at first. Prometheus only said how long to wait.
    const end = context.delivery?.reportsEnds
      ? ({ at: Math.min(expiry, now), resolution: 'reported' } as const)
      : ({ at: alert.lastSeenAt, resolution: 'inferred' } as const)
    return { ...endedAs(alert, end, now), fingerprints }
  }
  const delivery = lastExpiry(firing) === null ? context.delivery : null
  const settled = settle(withSeverityOf(alert, firing), { ...context, delivery }, now)
  const dueAt =
    settled.alert.status === 'firing' ? Math.min(settled.dueAt, nextEnd(firing, timeout, context, now)) : settled.dueAt
  return { alert: settled.alert, fingerprints: firing === known ? fingerprints : firing, dueAt }
}

/** Returns the latest end time that the sender gave for a firing fingerprint; null if the sender gave none. */
function lastExpiry(fingerprints: readonly Fingerprint[]): number | null {
  const times = fingerprints.flatMap(({ ended, expiresAt }) => (ended || expiresAt === null ? [] : expiresAt))
  return times.length === 0 ? null : Math.max(...times)
}

/** Returns after how many ms without a repeat a fingerprint no longer counts; null for never. */
function silenceOf(delivery: Delivery | null): number | null {
  if (!delivery) return null
  return delivery.reportsEnds ? Math.max(EXPIRES, delivery.repeatTimeout) : delivery.repeatTimeout
}

function endedAs(alert: Alert, end: { readonly at: number; readonly resolution: Resolution }, now: number) {
  const { resolution } = end
  const endsAt = Math.max(end.at, alert.startsAt)
  const ended: Alert = { ...alert, status: 'resolved', resolution, endsAt, endedAt: now }
  return { alert: ended, dueAt: now + REMEMBERED }
}

function endOf(alert: Alert, context: ServerContext, now: number): { at: number; resolution: Resolution } | null {
  if (alert.source === 'cluster') return clusterEnd(alert, context, now)
  const { delivery, awaited } = context
  // The alert is known to have been firing until it was last seen. Only the knowledge of its end comes later.
  const at = alert.lastSeenAt
  if (alert.source === 'ci' || !delivery)
    return alert.source === 'ci' && now >= alert.receivedAt + EXPIRES ? { at, resolution: 'expired' } : null
  if (!delivery.reportsEnds) return now < inferredAt(alert, delivery, awaited) ? null : { at, resolution: 'inferred' }
  return now >= expiresAt(alert, delivery) && isForgotten(alert, delivery) ? { at, resolution: 'expired' } : null
}

function inferredAt({ receivedAt }: Alert, { repeatTimeout }: Delivery, awaited: Awaited | undefined): number {
  return notBefore(receivedAt + repeatTimeout, receivedAt, awaited)
}

/** A sender that reports ends can still lose one, for example while it is restarted. */
function expiresAt({ receivedAt }: Alert, { repeatTimeout }: Delivery): number {
  return receivedAt + Math.max(EXPIRES, repeatTimeout)
}

/** Returns whether the sender went on delivering other alerts when it should have repeated this one. */
function isForgotten({ receivedAt }: Alert, { repeatTimeout, heardAt }: Delivery): boolean {
  return heardAt !== null && heardAt >= receivedAt + Math.max(HOUR, repeatTimeout)
}

function clusterEnd(alert: Alert, context: ServerContext, now: number): { at: number; resolution: Resolution } | null {
  const runAt = laterRun(alert)
  if (runAt !== null) return { at: runAt, resolution: 'reported' }
  const periods = periodsOf(alert, context)
  const lasts = lastsFrom(alert.name, context.metricsFiring)
  if (periods.length > 0 && ongoing(periods, now - (context.lag ?? 0), lasts).length === 0) return endOfPeriods(periods)
  const rollout = quietRollout(alert)
  if (rollout && now >= Math.max(rollout[0], alert.lastSeenAt) + ROLLOUT_QUIET) {
    return { at: alert.lastSeenAt, resolution: 'inferred' }
  }
  return null
}

function periodsOf({ name, evidence }: Alert, { repeats, watchedUntil }: ServerContext): FiringPeriod[] {
  return firingPeriodsOf(evidence, { name, repeats, watchedUntil })
}

/** Returns when the condition ended, that is, when its last object recovered or was last seen. */
function endOfPeriods(periods: readonly FiringPeriod[]): { at: number; resolution: Resolution } {
  const ends = periods.map(({ recoveredAt, lastAt }) => recoveredAt ?? lastAt)
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

function dueAt(alert: Alert, context: ServerContext, now: number): number {
  if (alert.source === 'ci') return alert.receivedAt + EXPIRES
  if (alert.source !== 'cluster') return deliveryDueAt(alert, context, now)
  const rollout = quietRollout(alert)
  const rolloutDue = rollout ? Math.max(rollout[0], alert.lastSeenAt) + ROLLOUT_QUIET : NEVER
  const { lag = 0 } = context
  const periods = ongoing(periodsOf(alert, context), now - lag)
  const quiet = Math.max(now, ...periods.map(({ quietAt }) => quietAt))
  const quietDue = quiet > now ? quiet : now + (lag > 0 ? CATCH_UP : RECHECK_INTERVAL)
  return rolloutDue > now ? Math.min(rolloutDue, quietDue) : quietDue
}

function deliveryDueAt(alert: Alert, { delivery, awaited }: ServerContext, now: number): number {
  if (!delivery) return NEVER
  if (!delivery.reportsEnds) return inferredAt(alert, delivery, awaited)
  const at = expiresAt(alert, delivery)
  // The sender delivered nothing else, so that its silence about this alert says nothing yet.
  return at > now ? at : now + HOUR
}

// An end that the sender did not report, but that a later start proves.

/** A clock that is ahead can move a start by as much. */
const SHORT = 2 * MINUTE

/**
 * Returns when an alert ended that fires anew, or null if it goes on. Alertmanager keeps the start of an alert that
 * fires on, so that a later start means that the alert was over in between, unless Prometheus was stopped for four
 * minutes (see `isMovedByStop`). It ended when its sender last sent it. A receiver that reports ends reports all but
 * short ones, so that the start must be later than its repeats take.
 */
export function skippedEndOf(
  alert: Alert,
  fingerprints: readonly Fingerprint[] | null,
  { fingerprint, startsAt }: { readonly fingerprint: string; readonly startsAt: number },
  { reportsEnds, repeatTimeout }: Delivery,
): number | null {
  const firing = fingerprintsOf(alert, fingerprints).filter(({ ended }) => !ended)
  const [known] = firing
  // Another fingerprint can go on.
  const isOnly = firing.length === 1 && known?.fingerprint === fingerprint
  if (alert.status !== 'firing' || !known || !isOnly) return null
  // An end that does not count yet may be wrong.
  if (known.expiresAt !== null || startsAt <= known.startedAt) return null
  const goesOnUntil = alert.lastSeenAt + (reportsEnds ? repeatTimeout : SHORT)
  return startsAt > goesOnUntil ? alert.lastSeenAt : null
}

/**
 * Returns when an alert last began to fire. Alertmanager may skip an end if the alert fires again soon, but the new item
 * has a new start. A fingerprint that takes over from another one, as after a restart of the exporter, is no new start.
 */
export function begunAtOf(alert: OfAlert, fingerprints: readonly Fingerprint[] | null): number {
  const all = isNotification(alert) ? fingerprintsOf(alert, fingerprints) : []
  const first = Math.min(...all.flatMap(({ ended, startedAt }) => (ended ? [] : startedAt)))
  const takesOver = all.some(({ ended, startedAt }) => ended && startedAt >= first)
  return takesOver || first === Number.POSITIVE_INFINITY ? alert.startsAt : Math.max(first, alert.startsAt)
}

/** Returns when an alert that had ended at `endedAt` began to fire again, as its sender says; null if it does not say. */
export function firingAgainSince(
  alert: OfAlert,
  fingerprints: readonly Fingerprint[] | null,
  endedAt: number,
): number | null {
  const again = fingerprintsOf(alert, fingerprints).filter(({ ended, startedAt }) => !ended && startedAt > endedAt)
  return again.length === 0 ? null : Math.min(...again.map(({ startedAt }) => startedAt))
}

// The ends of the fingerprints of an alert.

/** What can delay the end of a fingerprint. `beats`: the heartbeats of its sender. */
type Delays = { readonly awaited?: Awaited | undefined; readonly beats?: readonly Beat[] | undefined }

/** How often a fingerprint is checked whose end does not count yet. */
const FINGERPRINT_RECHECK = MINUTE

/** Returns when something that was received at `at` ends for lack of a repeat, which nobody could send during a stop. */
function notBefore(end: number, at: number, awaited: Awaited | undefined): number {
  return awaited && at < awaited.since ? Math.max(end, awaited.until) : end
}

/**
 * Ends the firing fingerprints whose time is over: the sender's own end time has passed, or the sender does not report
 * ends and has not repeated the fingerprint for `repeatTimeout`. Each ended when it was last received. Returns the same
 * list if nothing changes.
 */
function withoutSilent(
  fingerprints: readonly Fingerprint[],
  repeatTimeout: number | null,
  delays: Delays,
  now: number,
): readonly Fingerprint[] {
  const isOver = (one: Fingerprint) => !one.ended && lapseOf(one, repeatTimeout, delays) <= now
  if (!fingerprints.some(isOver)) return fingerprints
  return fingerprints.map((one) => {
    return isOver(one) ? { ...one, ended: true, startedAt: one.seenAt, expiresAt: one.seenAt } : one
  })
}

/** Returns when the next firing fingerprint ends unless it is repeated, or is to be checked; infinity for never. */
function nextEnd(
  fingerprints: readonly Fingerprint[],
  repeatTimeout: number | null,
  delays: Delays,
  now: number,
): number {
  const times = fingerprints.flatMap((one) => {
    if (one.ended) return []
    const end = lapseOf(one, repeatTimeout, delays)
    return one.expiresAt === null ? end : Math.min(end, Math.max(one.expiresAt, now + FINGERPRINT_RECHECK))
  })
  return times.reduce((next, at) => Math.min(next, at), Number.POSITIVE_INFINITY)
}

function lapseOf({ expiresAt, seenAt }: Fingerprint, repeatTimeout: number | null, { awaited, beats = [] }: Delays) {
  const silent = repeatTimeout === null ? Number.POSITIVE_INFINITY : seenAt + repeatTimeout
  return notBefore(expiresAt === null ? silent : countsFrom(expiresAt, beats), seenAt, awaited)
}
