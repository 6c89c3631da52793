/**
 * The fingerprints of an alert. For alerts from Alertmanager and Grafana, the fingerprints that still fire determine the
 * severity.
 */

import { expiryOf, isNotification, type Source } from '../event/event.ts'
import { ordered } from '../order.ts'
import { rank, type Severity } from '../severity.ts'
import type { Signal } from './alert.ts'
import { isLeftOut } from './doubt.ts'

/** Times are Unix times in milliseconds. */
export type Fingerprint = {
  readonly fingerprint: string
  /** The severity in the newest item. */
  readonly severity: Severity
  /** The severity in the sender's own words, or null. */
  readonly said: string | null
  /** When the severity last changed although the fingerprint kept firing; null if it did not. */
  readonly changedAt: number | null
  /** The latest start time, or the end time if `ended` is true. */
  readonly startedAt: number
  /** Whether it has ended. If `expiresAt` is not null, nobody reported the end; see `isLeftOut`. */
  readonly ended: boolean
  /** When the newest item was received; after an end, when the end or the first late copy since was received. */
  readonly seenAt: number
  /** When the fingerprint ends unless the sender repeats it; null if the sender did not say. */
  readonly expiresAt: number | null
}

/** The fields of an alert from which the state of its only fingerprint can be derived. */
export type OfAlert = Pick<Fingerprint, 'fingerprint' | 'severity' | 'said' | 'expiresAt'> & {
  readonly source: Source
  readonly startsAt: number
  readonly endsAt: number | null
  readonly resolution: string | null
  readonly receivedAt: number
}

/** The fields of a signal that change a fingerprint. */
type OfSignal = Pick<Signal, 'fingerprint' | 'severity' | 'said' | 'expiry' | 'source' | 'startsAt' | 'isStartUnknown'>

/**
 * Returns the fingerprints of a live alert. Null stands for the alert's first fingerprint, which started with the alert
 * and ended only if an end was reported.
 */
export function fingerprintsOf(alert: OfAlert, fingerprints: readonly Fingerprint[] | null): readonly Fingerprint[] {
  return fingerprints ?? [derivedFrom(alert)]
}

function derivedFrom(alert: OfAlert): Fingerprint {
  const { fingerprint, severity, said, startsAt, endsAt, receivedAt: seenAt } = alert
  const changedAt = null
  // A Kubernetes event never reports the end of a fingerprint.
  const ended = alert.resolution === 'reported' && alert.source !== 'cluster' && endsAt !== null
  const expiresAt = ended ? null : alert.expiresAt
  return { fingerprint, severity, said, changedAt, startedAt: ended ? endsAt : startsAt, ended, seenAt, expiresAt }
}

/** Returns null if `fingerprintsOf` can derive the fingerprints. Most live alerts therefore need no list in memory. */
export function withoutDerived(alert: OfAlert, fingerprints: readonly Fingerprint[]): readonly Fingerprint[] | null {
  const [only] = fingerprints
  if (!only || fingerprints.length > 1 || only.fingerprint !== alert.fingerprint) return fingerprints
  const derived = derivedFrom(alert)
  const fields = isNotification(alert) ? [...TIMES, ...JUDGED] : TIMES
  return fields.every((name) => only[name] === derived[name]) ? null : fingerprints
}

const TIMES = ['startedAt', 'ended', 'expiresAt'] as const
const JUDGED = ['severity', 'said', 'changedAt', 'seenAt'] as const

const KEPT = 64

/**
 * Records that a fingerprint started. If the fingerprint has ended since, and another fingerprint of the alert is
 * firing, the signal is a late copy and has no effect. If the signal reopens the alert, all fingerprints were over:
 * those without a reported end are forgotten until their next item. A repeat without a start is no new start.
 */
export function withStart(
  fingerprints: readonly Fingerprint[],
  signal: OfSignal,
  receivedAt: number,
  reopens: boolean,
): readonly Fingerprint[] {
  const { fingerprint } = signal
  const expiresAt = expiryOf(signal.expiry, receivedAt)
  // An item of one that was left out shows that it fires, whenever it started.
  const known = fingerprints.find((one) => one.fingerprint === fingerprint && !isLeftOut(one))
  // A Prometheus that was restarted reports a new start although the alert has fired all the time.
  const overlaps =
    expiresAt !== null && signal.startsAt >= (known?.startedAt ?? 0) && receivedAt <= (known?.expiresAt ?? 0)
  const startsAt = known && !known.ended && (signal.isStartUnknown || overlaps) ? known.startedAt : signal.startsAt
  if (known?.ended && !reopens && expiresAt === null && startsAt < known.startedAt) return fingerprints
  const startedAt = known ? Math.max(known.startedAt, startsAt) : startsAt
  // An item about an earlier start is late, so its severity is outdated.
  const { severity, said } = known && !known.ended && startsAt < known.startedAt ? known : signal
  const seenAt = known ? Math.max(known.seenAt, receivedAt) : receivedAt
  const goesOn = known && !known.ended && startedAt === known.startedAt
  const changedAt = !goesOn ? null : severity === known.severity ? known.changedAt : receivedAt
  const started = { fingerprint, severity, said, changedAt, startedAt, ended: false, seenAt, expiresAt }
  if (known && fingerprints.length === 1) return [started]
  const forgets = reopens && isNotification(signal)
  return withFingerprint(forgets ? fingerprints.filter(({ ended }) => ended) : fingerprints, started)
}

/**
 * Returns a signal that does not lower the severity of its fingerprint if its rule has no data or cannot be evaluated:
 * that does not show that the condition became milder.
 */
export function withKnownSeverity<Sent extends Pick<Fingerprint, 'fingerprint' | 'severity' | 'said'>>(
  signal: Sent & { readonly status: string; readonly failure: string | null },
  fingerprints: readonly Fingerprint[],
): Sent {
  if (signal.failure !== 'monitoring' || signal.status === 'resolved') return signal
  const known = fingerprints.find(({ fingerprint, ended }) => fingerprint === signal.fingerprint && !ended)
  const isMilder = known !== undefined && rank(known.severity) > rank(signal.severity)
  return isMilder ? { ...signal, severity: known.severity, said: known.said } : signal
}

/** Records that a fingerprint ended, which is as severe as it was: Grafana can lose and find its data meanwhile. */
export function withEnd(
  fingerprints: readonly Fingerprint[],
  { fingerprint, severity, said }: OfSignal,
  receivedAt: number,
  endedAt: number,
): readonly Fingerprint[] {
  const none = { changedAt: null, expiresAt: null }
  const was = fingerprints.find((one) => one.fingerprint === fingerprint && !one.ended) ?? { severity, said }
  const of = { fingerprint, severity: was.severity, said: was.said }
  const ended = { ...of, startedAt: endedAt, ended: true, seenAt: receivedAt, ...none }
  return withFingerprint(fingerprints, ended)
}

/**
 * Returns since when an alert has had its severity, and when it last began to fire with it. A warning that becomes
 * critical has been critical since then, and not since the start of the alert.
 */
export function severeTimesOf(
  alert: OfAlert,
  fingerprints: readonly Fingerprint[] | null,
): { readonly since: number; readonly onset: number } {
  const all = fingerprintsOf(alert, fingerprints)
  const severe = all.filter(({ ended, severity }) => !ended && severity === alert.severity)
  const starts = severe.map(({ changedAt, startedAt }) => changedAt ?? startedAt)
  if (starts.length === 0) return { since: alert.startsAt, onset: alert.startsAt }
  const hadOneSeverity =
    all.every(({ severity, changedAt }) => severity === alert.severity && changedAt === null) &&
    all.some(({ fingerprint }) => fingerprint === alert.fingerprint)
  return { since: hadOneSeverity ? alert.startsAt : Math.min(...starts), onset: Math.max(...starts) }
}

/** A change of an alert's severity. `from`: null if unknown. `at`: when it took effect, according to the sender. */
export type SeverityChange = { readonly from: Severity | null; readonly at: number }

/** Returns the change after which an alert was more severe than before; null if it has always been as severe. */
export function riseOf(alert: OfAlert, fingerprints: readonly Fingerprint[] | null): SeverityChange | null {
  const all = fingerprintsOf(alert, fingerprints)
  const { since: at } = severeTimesOf(alert, fingerprints)
  const milder = all.filter(({ severity }) => rank(severity) < rank(alert.severity))
  const last = ordered(milder, ({ severity }) => [-rank(severity)])[0]
  const isRise = last !== undefined || all.some(({ changedAt }) => changedAt !== null)
  return isRise && at > alert.startsAt ? { from: last?.severity ?? null, at } : null
}

/** Returns when an alert changed from another severity: at its rise, or when the last worse fingerprint ended. */
export function changedAt(
  alert: OfAlert,
  fingerprints: readonly Fingerprint[] | null,
  from: Severity,
  receivedAt: number,
): number {
  if (!isNotification(alert)) return receivedAt
  if (rank(alert.severity) > rank(from)) return Math.min(receivedAt, severeTimesOf(alert, fingerprints).since)
  return Math.min(receivedAt, worseEndOf(alert, fingerprints)?.endsAt ?? receivedAt)
}

/** Returns the last of the fingerprints that were worse than the alert is now to end; null if there is none. */
export function worseEndOf(
  alert: OfAlert,
  fingerprints: readonly Fingerprint[] | null,
): { readonly endsAt: number; readonly isGuess: boolean } | null {
  const all = fingerprintsOf(alert, fingerprints)
  const worse = all.filter(({ ended, severity }) => ended && rank(severity) > rank(alert.severity))
  const last = ordered(worse, ({ startedAt }) => [-startedAt])[0]
  return last ? { endsAt: last.startedAt, isGuess: isLeftOut(last) } : null
}

/** Replaces or adds a fingerprint. Sorts by fingerprint, as in the database. */
function withFingerprint(fingerprints: readonly Fingerprint[], one: Fingerprint): readonly Fingerprint[] {
  const others = fingerprints.filter(({ fingerprint }) => fingerprint !== one.fingerprint)
  const kept = others.length < KEPT ? others : withoutOldest(others)
  return [...kept, one].sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1))
}

/**
 * Drops the oldest fingerprint. Exporters restart only a few times, but an endless series of new fingerprints must not
 * slow down later items.
 */
function withoutOldest(fingerprints: readonly Fingerprint[]): readonly Fingerprint[] {
  const [oldest] = ordered(fingerprints, (one) => [one.ended ? 0 : 1, one.startedAt, one.fingerprint])
  return fingerprints.filter((one) => one !== oldest)
}

/**
 * Returns an alert with the severity of its worst firing fingerprint. After the end of the alert, the fingerprint that
 * ended last determines the severity. The result does not depend on the order of the fingerprints.
 */
export function withSeverityOf<Alert extends Pick<OfAlert, 'source' | 'severity' | 'said'>>(
  alert: Alert,
  fingerprints: readonly Fingerprint[],
): Alert {
  const worst = isNotification(alert) ? worstFiring(fingerprints) : null
  if (!worst || (worst.severity === alert.severity && worst.said === alert.said)) return alert
  return { ...alert, severity: worst.severity, said: worst.said }
}

function worstFiring(fingerprints: readonly Fingerprint[]): Fingerprint | null {
  const last = Math.max(...fingerprints.map(({ startedAt }) => startedAt))
  const firing = fingerprints.filter(({ ended }) => !ended)
  const deciding = firing.length > 0 ? firing : fingerprints.filter(({ startedAt }) => startedAt === last)
  return deciding.reduce<Fingerprint | null>((a, b) => (a && !isWorse(b, a) ? a : b), null)
}

function isWorse(one: Fingerprint, other: Fingerprint): boolean {
  const worse = rank(one.severity) - rank(other.severity)
  return worse > 0 || (worse === 0 && one.fingerprint < other.fingerprint)
}
