/** Finds when an alert began to fire anew, and its end that its sender did not report, but that a later start proves. */

import { isNotification } from '../event/event.ts'
import { MINUTE } from '../units.ts'
import type { Alert } from './alert.ts'
import type { Delivery } from './ending.ts'
import { type Fingerprint, fingerprintsOf, type OfAlert } from './fingerprints.ts'

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
