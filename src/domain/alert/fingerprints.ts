/** The fingerprints of an alert, each with its latest start or its end. */

/** `startedAt`: the latest start or, after the fingerprint has ended, its end. */
export type Fingerprint = { readonly fingerprint: string; readonly startedAt: number; readonly ended: boolean }

/** The maximum number of fingerprints per alert. */
const KEPT = 64

/**
 * Adds a start. If another fingerprint of the alert fires and this start has already ended, the signal is a late copy
 * and has no effect.
 */
export function withStart(
  fingerprints: readonly Fingerprint[],
  { fingerprint, startsAt }: { readonly fingerprint: string; readonly startsAt: number },
  reopens: boolean,
): readonly Fingerprint[] {
  const known = fingerprints.find((one) => one.fingerprint === fingerprint)
  if (known?.ended && !reopens && startsAt <= known.startedAt) return fingerprints
  const startedAt = Math.max(known?.startedAt ?? startsAt, startsAt)
  // Most signals repeat the only fingerprint of an alert and change nothing.
  if (known && !known.ended && known.startedAt === startedAt && fingerprints.length === 1) return fingerprints
  return withFingerprint(fingerprints, { fingerprint, startedAt, ended: false })
}

/** Adds or replaces a fingerprint. */
export function withFingerprint(fingerprints: readonly Fingerprint[], one: Fingerprint): readonly Fingerprint[] {
  const others = fingerprints.filter(({ fingerprint }) => fingerprint !== one.fingerprint)
  return [...(others.length < KEPT ? others : withoutOldest(others)), one]
}

/**
 * Drops the oldest fingerprints. An exporter restarts only a few times. An endless series of new fingerprints must not
 * slow down later items.
 */
function withoutOldest(fingerprints: readonly Fingerprint[]): readonly Fingerprint[] {
  const oldest = fingerprints.reduce((a, b) => (isOlder(b, a) ? b : a))
  return fingerprints.filter((one) => one !== oldest)
}

function isOlder(a: Fingerprint, b: Fingerprint): boolean {
  if (a.ended !== b.ended) return a.ended
  return a.startedAt !== b.startedAt ? a.startedAt < b.startedAt : a.fingerprint < b.fingerprint
}
