/** Ends that nobody reported or that do not count yet, because the heartbeat of their sender ended, too. */
import type { Absorbed, Alert, Resolution, Signal } from './alert.ts'
import type { Fingerprint } from './fingerprints.ts'

type Fingerprints = readonly Fingerprint[]

/** Returns whether nobody reported the end of an alert, which was only last reported then. */
export function isGuessed(resolution: Resolution | null): boolean {
  return resolution === 'inferred' || resolution === 'expired'
}

/** Returns whether a fingerprint ended because its sender left it out and repeated others of its alert. */
export function isLeftOut({ ended, expiresAt }: Pick<Fingerprint, 'ended' | 'expiresAt'>): boolean {
  return ended && expiresAt !== null
}

/** Notes when a firing fingerprint ends unless it is repeated. */
export function withDoubtedEnd(
  alert: Alert,
  fingerprints: Fingerprints,
  { fingerprint, endsAt, at }: Signal,
): Absorbed {
  const known = fingerprints.find((one) => one.fingerprint === fingerprint && !one.ended)
  if (alert.status === 'resolved' || !known) return { alert, fingerprints, change: 'kept', isNewest: false }
  const expiresAt = endsAt ?? at
  const after = fingerprints.map((one) => (one === known ? { ...one, expiresAt } : one))
  return { alert: { ...alert, expiresAt }, fingerprints: after, change: 'doubted', isNewest: false }
}

/** A later end of the condition, which counts, confirms the ends of the other fingerprints. */
export function withoutDoubt(fingerprints: Fingerprints, endsAt: number): Fingerprints {
  return fingerprints.map((one) => {
    const isConfirmed = !one.ended && one.expiresAt !== null && one.expiresAt < endsAt
    return isConfirmed ? { ...one, ended: true, startedAt: one.expiresAt, expiresAt: null } : one
  })
}

/**
 * Takes a reported end back, because it does not count yet. The alert fires on until the end counts. The starts of
 * fingerprints that ended are not known any more, so that they have the start of the alert.
 */
export function withoutEnd(
  alert: Alert,
  fingerprints: Fingerprints | null,
): { readonly alert: Alert; readonly fingerprints: Fingerprints | null } {
  const { endsAt: expiresAt, startsAt: startedAt, lastSeenAt: receivedAt } = alert
  return {
    alert: { ...alert, status: 'firing', resolution: null, endsAt: null, endedAt: null, expiresAt, receivedAt },
    fingerprints:
      fingerprints?.map((one) =>
        one.ended && one.startedAt === expiresAt ? { ...one, ended: false, startedAt, expiresAt } : one,
      ) ?? null,
  }
}
