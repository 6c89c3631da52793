/** Finds the end of an alert that its sender did not report, but that a later start proves. */

import { MINUTE } from '../units.ts'
import type { Alert } from './alert.ts'
import type { Delivery } from './ending.ts'
import { type Fingerprint, fingerprintsOf } from './fingerprints.ts'

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
