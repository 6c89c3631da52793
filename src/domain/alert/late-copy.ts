/** Recognizes a notification that arrives after the end that it precedes, and one that changes nothing. */

import { MINUTE, SECOND } from '../units.ts'
import type { Alert, Signal } from './alert.ts'
import { isLeftOut } from './doubt.ts'
import type { Fingerprint } from './fingerprints.ts'

const LATE_COPY_WITHIN = 2 * MINUTE
/** A late copy with the start of the ended alert itself comes from another replica. */
const SAME_START_WITHIN = 10 * MINUTE
/** A second copy that comes so much later than the first is a repeat: its sender says that the alert goes on. */
const REPEATS_AFTER = 20 * SECOND

type OfAlert = Pick<Alert, 'startsAt' | 'endedAt' | 'resolution'>
type OfSignal = Pick<Signal, 'fingerprint' | 'expiry' | 'startsAt' | 'sighting'>

/**
 * Returns whether a firing item is a late copy: it started before the reported end of its fingerprint and arrived within
 * 2 minutes of the alert's end, or within 10 minutes if it has the start of the alert. An item whose fingerprint never
 * ended is not a late copy, because a restarted exporter's new fingerprint starts before the old one ends. Neither is a
 * warning that returns just before its critical sibling ends, nor an item with an end of its own, as Prometheus sends
 * it: another replica still says that the alert fires, and Alertmanager believes it, too. Nor is a second copy at least
 * 20 seconds after the first one since the end, unless its sender has reported its own end meanwhile.
 */
export function isLateCopy(
  alert: OfAlert,
  fingerprints: readonly Fingerprint[],
  signal: OfSignal,
  receivedAt: number,
): boolean {
  const isSameStart = signal.startsAt === alert.startsAt
  const isRepeat = (seenAt: number) => seenAt > (alert.endedAt ?? seenAt) && receivedAt - seenAt >= REPEATS_AFTER
  return (
    alert.resolution === 'reported' &&
    signal.sighting === null &&
    signal.expiry === null &&
    fingerprints.some((one) => {
      const { fingerprint, ended, startedAt: end, seenAt } = one
      const isOwn = ended && !isLeftOut(one) && fingerprint === signal.fingerprint
      return isOwn && (isSameStart || signal.startsAt < end) && !isRepeat(seenAt)
    }) &&
    receivedAt - (alert.endedAt ?? receivedAt) <= (isSameStart ? SAME_START_WITHIN : LATE_COPY_WITHIN)
  )
}

/** Records the first late copy of a fingerprint since the end of its alert, so that the next one can be a repeat. */
export function withLateCopy(
  { endedAt }: OfAlert,
  fingerprints: readonly Fingerprint[],
  { fingerprint }: Pick<OfSignal, 'fingerprint'>,
  receivedAt: number,
): readonly Fingerprint[] {
  const isFirst = (one: Fingerprint) => one.fingerprint === fingerprint && one.ended && one.seenAt <= (endedAt ?? 0)
  return fingerprints.some(isFirst)
    ? fingerprints.map((one) => (isFirst(one) ? { ...one, seenAt: receivedAt } : one))
    : fingerprints
}

/** Returns whether only the count and the last-seen time changed, which is true for most signals. */
export function isMereRepeat(before: Alert, after: Alert): boolean {
  return COMPARED_FIELDS.every((name) => before[name] === after[name])
}

const COMPARED_FIELDS = [
  ...(['severity', 'said', 'status', 'resolution', 'summary', 'node', 'evidence', 'startsAt', 'endsAt'] as const),
]

/** Returns whether a pipeline failed before a later one succeeded. Its notification is late and reopens nothing. */
export function isOlderPipeline(
  { source, endsAt }: Pick<Alert, 'source' | 'endsAt'>,
  { startsAt }: Pick<Signal, 'startsAt'>,
): boolean {
  return source === 'ci' && endsAt !== null && startsAt <= endsAt
}
