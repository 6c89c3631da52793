/**
 * Fingerprints that end because nobody repeats them. Nobody can repeat one while incmon does not run, so repeats are
 * awaited for some time after a stop. While the heartbeat of the sender is missing, an end proves nothing.
 */

import { type Awaited, type Beat, countsFrom } from '../sender/beats.ts'
import { MINUTE } from '../units.ts'
import type { Fingerprint } from './fingerprints.ts'

/** What can delay the end of a fingerprint. `beats`: the heartbeats of its sender. */
export type Delays = { readonly awaited?: Awaited | undefined; readonly beats?: readonly Beat[] | undefined }

/** How often a fingerprint is checked whose end does not count yet. */
const RECHECK_INTERVAL = MINUTE

/** Returns when something that was received at `at` ends for lack of a repeat, which nobody could send during a stop. */
export function notBefore(end: number, at: number, awaited: Awaited | undefined): number {
  return awaited && at < awaited.since ? Math.max(end, awaited.until) : end
}

/**
 * Ends the firing fingerprints whose time is over: the sender's own end time has passed, or the sender does not report
 * ends and has not repeated the fingerprint for `repeatTimeout`. Each ended when it was last received. Returns the same
 * list if nothing changes.
 */
export function withoutSilent(
  fingerprints: readonly Fingerprint[],
  repeatTimeout: number | null,
  delays: Delays,
  now: number,
): readonly Fingerprint[] {
  const isOver = (one: Fingerprint) => !one.ended && endOf(one, repeatTimeout, delays) <= now
  if (!fingerprints.some(isOver)) return fingerprints
  return fingerprints.map((one) => {
    return isOver(one) ? { ...one, ended: true, startedAt: one.seenAt, expiresAt: one.seenAt } : one
  })
}

/** Returns when the next firing fingerprint ends unless it is repeated, or is to be checked; infinity for never. */
export function nextEnd(
  fingerprints: readonly Fingerprint[],
  repeatTimeout: number | null,
  delays: Delays,
  now: number,
): number {
  const times = fingerprints.flatMap((one) => {
    if (one.ended) return []
    const end = endOf(one, repeatTimeout, delays)
    return one.expiresAt === null ? end : Math.min(end, Math.max(one.expiresAt, now + RECHECK_INTERVAL))
  })
  return times.reduce((next, at) => Math.min(next, at), Number.POSITIVE_INFINITY)
}

function endOf({ expiresAt, seenAt }: Fingerprint, repeatTimeout: number | null, { awaited, beats = [] }: Delays) {
  const silent = repeatTimeout === null ? Number.POSITIVE_INFINITY : seenAt + repeatTimeout
  return notBefore(expiresAt === null ? silent : countsFrom(expiresAt, beats), seenAt, awaited)
}
