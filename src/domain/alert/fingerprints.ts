/** Fingerprints of an alert: the names under which its sender speaks of it, each with its latest start or its end. */

/** `startedAt`: its latest start, or its end once that was reported. */
export type Fingerprint = { readonly fingerprint: string; readonly startedAt: number; readonly ended: boolean }

/** Of an alert so many are known at most. */
const KEPT = 64

/** While the alert fires for another fingerprint, a repeat of a start that has ended is a late copy and begins nothing. */
export function withStart(
  fingerprints: readonly Fingerprint[],
  { fingerprint, startsAt }: { readonly fingerprint: string; readonly startsAt: number },
  reopens: boolean,
): readonly Fingerprint[] {
  const known = fingerprints.find((one) => one.fingerprint === fingerprint)
  if (known?.ended && !reopens && startsAt <= known.startedAt) return fingerprints
  const startedAt = Math.max(known?.startedAt ?? startsAt, startsAt)
  return withFingerprint(fingerprints, { fingerprint, startedAt, ended: false })
}

/** With one more, or as it stands now. */
export function withFingerprint(fingerprints: readonly Fingerprint[], one: Fingerprint): readonly Fingerprint[] {
  const others = fingerprints.filter(({ fingerprint }) => fingerprint !== one.fingerprint)
  return [...(others.length < KEPT ? others : withoutOldest(others)), one]
}

/** An exporter restarts a few times; who makes up fingerprints without end shall not make every later item slower. */
function withoutOldest(fingerprints: readonly Fingerprint[]): readonly Fingerprint[] {
  const oldest = fingerprints.reduce((a, b) => (isOlder(b, a) ? b : a))
  return fingerprints.filter((one) => one !== oldest)
}

function isOlder(a: Fingerprint, b: Fingerprint): boolean {
  if (a.ended !== b.ended) return a.ended
  return a.startedAt !== b.startedAt ? a.startedAt < b.startedAt : a.fingerprint < b.fingerprint
}
