/** The fingerprints of an alert. Each fingerprint has its latest start time or, once it has ended, its end time. */

import { ordered } from '../order.ts'

/** `startedAt`: the latest start time, or the end time if `ended` is true. */
export type Fingerprint = { readonly fingerprint: string; readonly startedAt: number; readonly ended: boolean }

/** The fields of an alert from which the state of its only fingerprint can be derived. */
type Started = { readonly fingerprint: string; readonly startsAt: number }

/**
 * Returns the fingerprints of a live alert. Null stands for the alert's first fingerprint, which started with the alert
 * and has not ended.
 */
export function fingerprintsOf(
  { fingerprint, startsAt }: Started,
  fingerprints: readonly Fingerprint[] | null,
): readonly Fingerprint[] {
  return fingerprints ?? [{ fingerprint, startedAt: startsAt, ended: false }]
}

/** Returns null if `fingerprintsOf` can derive the fingerprints. Most live alerts therefore need no list in memory. */
export function withoutDerived(
  { fingerprint, startsAt }: Started,
  fingerprints: readonly Fingerprint[],
): readonly Fingerprint[] | null {
  const [only] = fingerprints
  const isDerived = only?.fingerprint === fingerprint && only.startedAt === startsAt && !only.ended
  return isDerived && fingerprints.length === 1 ? null : fingerprints
}

const KEPT = 64

/**
 * Records that a fingerprint started. If the fingerprint has ended since, and another fingerprint of the alert is
 * firing, the signal is a late copy and has no effect.
 */
export function withStart(
  fingerprints: readonly Fingerprint[],
  { fingerprint, startsAt }: { readonly fingerprint: string; readonly startsAt: number },
  reopens: boolean,
): readonly Fingerprint[] {
  const known = fingerprints.find((one) => one.fingerprint === fingerprint)
  if (known?.ended && !reopens && startsAt <= known.startedAt) return fingerprints
  const startedAt = Math.max(known?.startedAt ?? startsAt, startsAt)
  // The most common case: the signal repeats the alert's only fingerprint and changes nothing.
  if (known && !known.ended && known.startedAt === startedAt && fingerprints.length === 1) return fingerprints
  return withFingerprint(fingerprints, { fingerprint, startedAt, ended: false })
}

export function withFingerprint(fingerprints: readonly Fingerprint[], one: Fingerprint): readonly Fingerprint[] {
  const others = fingerprints.filter(({ fingerprint }) => fingerprint !== one.fingerprint)
  return [...(others.length < KEPT ? others : withoutOldest(others)), one]
}

/**
 * Drops the oldest fingerprint. Exporters restart only a few times, but an endless series of new fingerprints must not
 * slow down later items.
 */
function withoutOldest(fingerprints: readonly Fingerprint[]): readonly Fingerprint[] {
  const [oldest] = ordered(fingerprints, (one) => [one.ended ? 0 : 1, one.startedAt, one.fingerprint])
  return fingerprints.filter((one) => one !== oldest)
}
