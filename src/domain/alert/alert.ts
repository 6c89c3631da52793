/** Alerts: a condition of a service, and how one more signal of it changes what we hold. */

import type { Labels, Links, Source } from '../event/event.ts'
import { isRepeated } from '../event/reason.ts'
import { type Severity, worst } from '../severity.ts'
import { type Evidence, NO_EVIDENCE, repetitionOf, withSeen } from './evidence.ts'
import { type Fingerprint, withFingerprint, withStart } from './fingerprints.ts'

export type Resolution = 'reported' | 'inferred' | 'expired' | 'manual'

/** What an event says of a condition, before anything is known of its past. Times in milliseconds. */
export type Signal = {
  readonly status: 'firing' | 'resolved'
  readonly source: Source
  readonly name: string
  readonly severity: Severity
  /** The sender's own word for it; null where it said none. */
  readonly said: string | null
  readonly summary: string
  readonly labels: Labels
  readonly annotations: Labels
  readonly links: Links
  /** Identity, first layer: equal means the same condition. */
  readonly fingerprint: string
  /** Identity, second layer: equal means the same condition as long as it is active. */
  readonly logicalKey: string
  /** What kind of failure it speaks of; null where unknown. */
  readonly failure: string | null
  readonly node: string | null
  readonly rules: Rules
  readonly startsAt: number
  /** Null while firing. */
  readonly endsAt: number | null
  readonly at: number
  /** A cluster event's own count and the object that it was seen on; null elsewhere. */
  readonly sighting: { readonly object: string; readonly count: number; readonly escalates: boolean } | null
}

/** The rule behind each decision, for a person who asks why. */
export type Rules = { readonly service: string; readonly severity: string; readonly identity: string }

/** Labels, annotations and links are not part of it: no rule reads them again, and they would fill the memory. */
export type Alert = Omit<Signal, 'status' | 'at' | 'sighting' | 'labels' | 'annotations' | 'links'> & {
  readonly status: 'firing' | 'resolved'
  readonly resolution: Resolution | null
  readonly lastSeenAt: number
  readonly occurrences: number
  readonly evidence: Evidence
  /** Receipt of its last event. */
  readonly heardAt: number
  /** Receipt of what ended it; null while firing. */
  readonly endedAt: number | null
}

export type Change =
  | 'opened'
  | 'repeated'
  | 'reopened'
  | 'ended'
  /** The event belongs to the alert and changes nothing: a late copy, or an end of something older. */
  | 'kept'

const MINUTE = 60_000
const REOPEN_WITHIN = 10 * MINUTE
const LATE_COPY_WITHIN = 2 * MINUTE

/** A new alert out of the first signal of its condition; one whose first signal is its end is born resolved. */
export function open(signal: Signal, receivedAt: number): Alert {
  const { status, at, sighting, labels: _, annotations: __, links: ___, ...same } = signal
  const evidence = withSighting(NO_EVIDENCE, signal)
  const resolved = status === 'resolved'
  return {
    ...same,
    severity: severityAfter(signal, signal.severity, evidence),
    status,
    endsAt: resolved ? Math.max(signal.endsAt ?? at, signal.startsAt) : null,
    resolution: resolved ? 'reported' : null,
    lastSeenAt: lastSeen(signal, receivedAt),
    occurrences: sighting?.count ?? 1,
    evidence,
    heardAt: receivedAt,
    endedAt: resolved ? receivedAt : null,
  }
}

/**
 * Whether a signal belongs to an alert that has ended, and so reopens or leaves it, rather than begins another:
 * an end of the same fingerprint always; a firing one within 10 minutes of the end, in either direction;
 * a silent notification's end was only a guess, so that any repeat takes it back; what a person ended stays so for what
 * began before.
 */
export function belongsTo(alert: Alert, signal: Signal, receivedAt: number): boolean {
  if (alert.status === 'firing' || signal.status === 'resolved' || alert.endsAt === null) return true
  if (alert.resolution === 'inferred' && signal.sighting === null) return true
  if (isSettledByHand(alert, signal)) return true
  return (
    lastSeen(signal, receivedAt) - alert.endsAt <= REOPEN_WITHIN || receivedAt - (alert.endedAt ?? 0) <= REOPEN_WITHIN
  )
}

/** `isNewest`: whether the signal's texts are what a person reads from now on; those of a late one are not. */
export type Absorbed = {
  readonly alert: Alert
  readonly fingerprints: readonly Fingerprint[]
  readonly change: Change
  readonly isNewest: boolean
}

/** One more signal of the condition of `alert`: the alert after it, its fingerprints, and what that was. */
export function absorb(
  alert: Alert,
  fingerprints: readonly Fingerprint[],
  signal: Signal,
  receivedAt: number,
): Absorbed {
  if (signal.status === 'resolved') return absorbEnd(alert, fingerprints, signal, receivedAt)
  const over = alert.status === 'resolved'
  if (over && (isLateCopy(alert, fingerprints, signal, receivedAt) || isSettledByHand(alert, signal))) {
    return { alert: widened(alert, signal), fingerprints, change: 'kept', isNewest: false }
  }
  const evidence = withSighting(alert.evidence, signal)
  const isNewest = signal.at >= alert.startsAt && !(signal.sighting && signal.at < alert.lastSeenAt)
  const next: Alert = {
    ...widened(alert, signal),
    status: 'firing',
    resolution: null,
    endsAt: null,
    endedAt: null,
    severity: severityAfter(signal, alert.severity, evidence),
    evidence,
    // A sender that counts for itself may have told of some at once, or of some again.
    occurrences: Math.max(alert.occurrences + 1, signal.sighting?.count ?? 1),
    lastSeenAt: Math.max(alert.lastSeenAt, lastSeen(signal, receivedAt)),
    heardAt: Math.max(alert.heardAt, receivedAt),
    ...(isNewest ? { summary: signal.summary, said: signal.said, node: signal.node ?? alert.node } : {}),
  }
  const change = over ? 'reopened' : 'repeated'
  return { alert: next, fingerprints: withStart(fingerprints, signal, over), change, isNewest }
}

/** Whether only the count and the last sighting differ; most notifications change no more than that. */
export function isMereRepeat(before: Alert, after: Alert): boolean {
  return TOLD.every((name) => before[name] === after[name])
}

const TOLD = [
  ...(['severity', 'said', 'status', 'resolution', 'summary', 'node', 'evidence', 'startsAt', 'endsAt'] as const),
]

/** An end counts for its own fingerprint, unless that has started anew since; the alert ends with its last one. */
function absorbEnd(alert: Alert, fingerprints: readonly Fingerprint[], signal: Signal, receivedAt: number): Absorbed {
  const endsAt = signal.endsAt ?? signal.at
  const known = fingerprints.find((one) => one.fingerprint === signal.fingerprint)
  const kept = { alert: widened(alert, signal), fingerprints, change: 'kept' as Change, isNewest: false }
  // An end that bears the latest start is that start's, though a clock set back dates it before.
  if (known && known.startedAt > endsAt && signal.startsAt < known.startedAt) return kept
  const ended = { fingerprint: signal.fingerprint, startedAt: Math.max(endsAt, signal.startsAt), ended: true }
  const after = withFingerprint(fingerprints, ended)
  if (after.some((one) => !one.ended)) return { ...kept, fingerprints: after }
  // What was believed to be over since a guess is now known to be over since then.
  const guessed = alert.resolution === 'inferred' || alert.resolution === 'expired'
  if (alert.status === 'resolved' && !guessed) return { ...kept, fingerprints: after }
  return {
    alert: {
      ...kept.alert,
      status: 'resolved' as const,
      resolution: 'reported' as const,
      endsAt: Math.max(...after.map(({ startedAt }) => startedAt)),
      endedAt: receivedAt,
      heardAt: Math.max(alert.heardAt, receivedAt),
    },
    fingerprints: after,
    change: alert.status === 'firing' ? 'ended' : 'kept',
    isNewest: false,
  }
}

/**
 * A firing item that started before its reported end and comes within 2 minutes of it was sent before it. One whose
 * fingerprint never ended is no copy: a restarted exporter's begins before the old one's ends.
 */
function isLateCopy(alert: Alert, fingerprints: readonly Fingerprint[], signal: Signal, receivedAt: number): boolean {
  return (
    alert.resolution === 'reported' &&
    signal.sighting === null &&
    alert.endsAt !== null &&
    signal.startsAt <= alert.endsAt &&
    fingerprints.some(({ fingerprint, ended }) => ended && fingerprint === signal.fingerprint) &&
    receivedAt - (alert.endedAt ?? receivedAt) <= LATE_COPY_WITHIN
  )
}

/** A person ended it: repeats of what was going on then do not speak against the person, a new start does. */
function isSettledByHand(alert: Alert, signal: Signal): boolean {
  return alert.resolution === 'manual' && alert.endsAt !== null && signal.startsAt <= alert.endsAt
}

/** The earliest start is the alert's. */
function widened(alert: Alert, signal: Signal): Alert {
  return signal.startsAt < alert.startsAt ? { ...alert, startsAt: signal.startsAt } : alert
}

/** Severity never falls while the condition lasts, and repetition lifts what escalates to critical. */
function severityAfter(signal: Signal, before: Severity, evidence: Evidence): Severity {
  const severity = worst(before, signal.severity)
  if (severity === 'critical' || !signal.sighting?.escalates) return severity
  return isRepeated(repetitionOf(evidence)) ? 'critical' : severity
}

function withSighting(evidence: Evidence, signal: Signal): Evidence {
  const { at, startsAt, sighting } = signal
  return sighting ? withSeen(evidence, [at, sighting.object, startsAt, sighting.count]) : evidence
}

/** A notification says that the condition holds as it is sent; an event, that it held when it happened. */
function lastSeen(signal: Signal, receivedAt: number): number {
  if (signal.status === 'resolved') return signal.endsAt ?? signal.at
  return signal.source === 'cluster' || signal.source === 'ci' ? signal.at : receivedAt
}
