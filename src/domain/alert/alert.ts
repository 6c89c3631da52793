/** An alert tracks one condition of a service. Each further signal can change the alert. Start here. */
import { type Expiry, expiryOf, type Labels, type Links, type Source } from '../event/event.ts'
import { rank, type Severity } from '../severity.ts'
import { MINUTE } from '../units.ts'
import { isGuessed, withDoubtedEnd, withoutDoubt } from './doubt.ts'
import {
  type Evidence,
  NO_EVIDENCE,
  newOccurrences,
  severityAfter,
  withObservation,
  withReportedEnd,
} from './evidence.ts'
import { type Fingerprint, withEnd, withKnownSeverity, withSeverityOf, withStart } from './fingerprints.ts'
import { isLateCopy, isOlderPipeline, withLateCopy } from './late-copy.ts'
import type { Rules } from './rules.ts'

export type Resolution = 'reported' | 'inferred' | 'expired' | 'manual'

/** The container or object kind that is part of the fingerprint of a Kubernetes condition. */
export type AlertPart = { readonly container: string | null; readonly kind: string }

/** The fields of an alert that are stored only in the database. */
export type AlertTexts = { readonly labels: Labels; readonly annotations: Labels; readonly links: Links }

/** A condition as reported by a single event, regardless of earlier events. Times in ms. */
export type Signal = AlertTexts & {
  readonly status: 'firing' | 'resolved'
  readonly source: Source
  readonly name: string
  readonly severity: Severity
  /** The severity in the sender's own words, or null. */
  readonly said: string | null
  readonly summary: string
  /** Primary identity: signals with equal fingerprints are about the same condition. */
  readonly fingerprint: string
  /** Secondary identity: while an alert is active, signals of its service with an equal key are about its condition. */
  readonly logicalKey: string
  readonly failure: string | null
  readonly node: string | null
  readonly rules: Rules
  readonly startsAt: number
  /** Whether `startsAt` is the time of receipt, because the sender did not say it. */
  readonly isStartUnknown?: boolean | undefined
  /** Null while firing. */
  readonly endsAt: number | null
  /** When a firing item ends unless it is repeated. Null if the sender does not say. */
  readonly expiry: Expiry | null
  readonly at: number
  /**
   * The object, the count and whether repeats raise the severity. Null unless the signal comes from a Kubernetes event.
   */
  readonly sighting: { readonly object: string; readonly count: number; readonly escalates: boolean } | null
}

/** Labels, annotations and links are left out, because no rule needs them later. */
export type Alert = Omit<Signal, 'status' | 'at' | 'sighting' | 'expiry' | 'isStartUnknown' | keyof AlertTexts> & {
  readonly status: 'firing' | 'resolved'
  readonly resolution: Resolution | null
  readonly lastSeenAt: number
  readonly occurrences: number
  readonly evidence: Evidence
  /** When the last event of the alert was received. */
  readonly receivedAt: number
  /** When the end of the alert was received; null while firing. */
  readonly endedAt: number | null
  /** When the newest firing item ends unless it is repeated; null if the sender did not say. */
  readonly expiresAt: number | null
}

export type Change =
  | 'opened'
  | 'repeated'
  | 'reopened'
  | 'ended'
  /** The event belongs to the alert but changes nothing: a late copy, or the end of an older problem. */
  | 'kept'
  /** An end that does not count yet, because the heartbeat of the sender ended, too. */
  | 'doubted'

const REOPEN_WITHIN = 10 * MINUTE
/** How long after a user resolved an alert its repeats do not count. A later repeat shows that it still fires. */
const SETTLED_FOR = 30 * MINUTE

/** Creates an alert from its first signal. If the signal reports an end, the new alert is already resolved. */
export function open(
  signal: Signal,
  receivedAt: number,
  { name, summary, rules }: Pick<Signal, 'name' | 'summary' | 'rules'> = signal,
): Alert {
  const { source, said, status, fingerprint, logicalKey, failure, node, startsAt } = signal
  const evidence = withSighting(NO_EVIDENCE, signal)
  const resolved = status === 'resolved'
  // The fields are listed one by one, because a spread is several times slower. Loaded alerts use the same order.
  return {
    source,
    name,
    severity: severityAfter(signal, signal.severity, evidence),
    said,
    status,
    resolution: resolved ? 'reported' : null,
    summary,
    fingerprint,
    logicalKey,
    failure,
    node,
    rules,
    evidence,
    startsAt,
    endsAt: resolved ? Math.max(signal.endsAt ?? signal.at, startsAt) : null,
    lastSeenAt: lastSeen(signal, receivedAt),
    occurrences: signal.sighting?.count ?? 1,
    receivedAt,
    endedAt: resolved ? receivedAt : null,
    expiresAt: resolved ? null : expiryOf(signal.expiry, receivedAt),
  }
}

/**
 * Returns whether a signal belongs to an existing alert. A signal that does not belong to the alert may open another
 * alert. A signal that reports the end of the alert's condition always belongs to the alert. A firing signal belongs to
 * a resolved alert if the condition fired again within 10 minutes of the alert's recorded end. A notification whose
 * problem began before that end shows that the problem never ended, no matter how late it comes.
 */
export function belongsTo(alert: Alert, signal: Signal): boolean {
  if (alert.status === 'firing' || signal.status === 'resolved' || alert.endsAt === null) return true
  if (isOfManualEnd(alert, signal)) return true
  return (signal.sighting === null ? signal.startsAt : signal.at) - alert.endsAt <= REOPEN_WITHIN
}

/** `isNewest`: whether the signal's summary, annotations and links replace the alert's. False for a late signal. */
export type Absorbed = {
  readonly alert: Alert
  readonly fingerprints: readonly Fingerprint[]
  readonly change: Change
  readonly isNewest: boolean
}

/** Applies another signal. `isDoubted`: whether its end does not count yet; null if all ends of the sender count. */
export function absorb(
  alert: Alert,
  fingerprints: readonly Fingerprint[],
  sent: Signal,
  receivedAt: number,
  isDoubted: boolean | null = null,
): Absorbed {
  const signal = withKnownSeverity(sent, fingerprints)
  if (signal.status === 'resolved') {
    if (isDoubted) return withDoubtedEnd(alert, fingerprints, signal)
    const known = isDoubted === null ? fingerprints : withoutDoubt(fingerprints, signal.endsAt ?? signal.at)
    return absorbEnd(alert, known, signal, receivedAt)
  }
  const over = alert.status === 'resolved'
  const isLate = isLateCopy(alert, fingerprints, signal, receivedAt) || isOlderPipeline(alert, signal)
  const isSettled = isOfManualEnd(alert, signal) && receivedAt - (alert.endedAt ?? 0) < SETTLED_FOR
  if (over && (isLate || isSettled)) {
    const copied = withLateCopy(alert, fingerprints, signal, receivedAt)
    return { alert: widened(alert, signal), fingerprints: copied, change: 'kept', isNewest: false }
  }
  const evidence = withSighting(withReportedEnd(alert), signal)
  const started = withStart(fingerprints, signal, receivedAt, over)
  const isNewest = isTextOf(alert, started, signal) && !(signal.sighting && signal.at < alert.lastSeenAt)
  const next: Alert = {
    ...widened(alert, signal),
    status: 'firing',
    resolution: null,
    endsAt: null,
    endedAt: null,
    expiresAt: expiryOf(signal.expiry, receivedAt),
    severity: severityAfter(signal, alert.severity, evidence),
    evidence,
    occurrences: alert.occurrences + newOccurrences(alert.evidence, signal),
    lastSeenAt: Math.max(alert.lastSeenAt, lastSeen(signal, receivedAt)),
    receivedAt: Math.max(alert.receivedAt, receivedAt),
    ...(isNewest ? { summary: signal.summary, said: signal.said, node: signal.node ?? alert.node } : {}),
  }
  const change = over ? 'reopened' : 'repeated'
  return { alert: withSeverityOf(next, started), fingerprints: started, change, isNewest }
}

/** Returns whether the texts of a firing signal describe the alert: while another fingerprint is worse, they do not. */
function isTextOf(alert: Alert, fingerprints: readonly Fingerprint[], signal: Signal): boolean {
  const { severity } = withSeverityOf({ ...alert, severity: signal.severity }, fingerprints)
  return signal.at >= alert.startsAt && rank(signal.severity) >= rank(severity)
}

/**
 * Marks one fingerprint as ended, unless that fingerprint has started again since. The alert ends when its last
 * fingerprint ends. A late end does not move the alert's start, because the end may belong to an earlier alert.
 */
function absorbEnd(alert: Alert, fingerprints: readonly Fingerprint[], signal: Signal, receivedAt: number): Absorbed {
  const endsAt = signal.endsAt ?? signal.at
  const known = fingerprints.find((one) => one.fingerprint === signal.fingerprint)
  const kept = { alert, fingerprints, change: 'kept' as Change, isNewest: false }
  // A resolved signal with the latest start time always counts, even if a wrong clock puts its end before its start.
  if (known && known.startedAt > endsAt && signal.startsAt < known.startedAt) return kept
  // A further end shows that late copies since the first one were no repeats.
  const after = withEnd(fingerprints, signal, alert.endedAt ?? receivedAt, Math.max(endsAt, signal.startsAt))
  if (after.some((one) => !one.ended)) return { ...kept, alert: withSeverityOf(alert, after), fingerprints: after }
  // A reported end takes precedence over an inferred end.
  if (alert.status === 'resolved' && !isGuessed(alert.resolution)) return { ...kept, fingerprints: after }
  return {
    alert: {
      ...withSeverityOf(alert, after),
      status: 'resolved' as const,
      resolution: 'reported' as const,
      endsAt: Math.max(...after.map(({ startedAt }) => startedAt)),
      endedAt: receivedAt,
      receivedAt: Math.max(alert.receivedAt, receivedAt),
    },
    fingerprints: after,
    change: alert.status === 'firing' ? 'ended' : 'kept',
    isNewest: false,
  }
}

/** Returns whether a user has already resolved this problem. A new start is another one. */
function isOfManualEnd(alert: Alert, signal: Signal): boolean {
  return alert.resolution === 'manual' && alert.endsAt !== null && signal.startsAt <= alert.endsAt
}

/** Moves the alert's start back if a firing signal started earlier. */
function widened(alert: Alert, signal: Signal): Alert {
  return signal.startsAt < alert.startsAt ? { ...alert, startsAt: signal.startsAt } : alert
}

function withSighting(evidence: Evidence, signal: Signal): Evidence {
  const { at, startsAt, sighting } = signal
  return sighting ? withObservation(evidence, [at, sighting.object, startsAt, sighting.count]) : evidence
}

/**
 * Returns when a signal last confirmed the condition: the time of receipt for a notification, and the event's own time
 * for a Kubernetes event.
 */
function lastSeen(signal: Signal, receivedAt: number): number {
  if (signal.status === 'resolved') return signal.endsAt ?? signal.at
  return signal.source === 'cluster' || signal.source === 'ci' ? signal.at : receivedAt
}

/** An alert's last stored event. `hash` is used to detect repeated notifications. */
type LastEvent = { readonly rowId: number; readonly id: string; readonly hash: number }

/** An alert that is firing or that can still be reopened. */
export type LiveAlert = {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly serviceId: number
  readonly incidentId: number | null
  readonly groupId: number | null
  /** The cluster assigned to the sender's token. Two clusters can send equal fingerprints. */
  readonly cluster: string
  /** When the alert may change without a new event, in ms UTC. */
  readonly dueAt: number
  readonly alert: Alert
  /** Null if the alert has only its first fingerprint, which started with the alert and has not ended. */
  readonly fingerprints: readonly Fingerprint[] | null
  /** The last event; null before the first event, and after the last event has been pruned. */
  readonly lastEvent: LastEvent | null
  /** For Kubernetes conditions: the container or object kind that is part of the fingerprint. */
  readonly part: AlertPart | null
  /** Row ids of the silences that apply to the alert, or that applied when it ended. */
  readonly silencedBy: readonly number[]
}
