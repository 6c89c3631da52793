/** Strips show the status of a service over a period, in bins of equal length. */
import { formatDuration } from '../shown-time.ts'
import type { Health } from './health.ts'

/** The status of a service until the next entry. `unknown`: nothing was received from the service's sender. */
export type StatusChange = {
  readonly at: number
  readonly status: Health['status'] | 'unknown'
  readonly score: number
}

/** The worst status in a bin, and the largest number of points lost. */
export type StripBin = { readonly status: StatusChange['status']; readonly lost: number }

const STATUSES = ['unknown', 'healthy', 'degraded', 'critical'] as const
/** The number of bins for a day: 20 minutes each. */
const STRIP_BINS = 72

/**
 * Moves the state at the opening of each incident back to the start of the incident, unless the service was healthy.
 * Pages show the duration since the start of the problem, which is usually before the first event.
 */
export function sinceStart(
  changes: readonly StatusChange[],
  incident: { readonly startedAt: number; readonly createdAt: number },
): readonly StatusChange[] {
  const index = changes.findLastIndex(({ at }) => at <= incident.createdAt)
  const opening = changes[index]
  const isIll = opening?.status === 'critical' || opening?.status === 'degraded'
  if (!isIll || opening.at <= incident.startedAt) return changes
  const before = changes.filter(({ at }) => at < incident.startedAt)
  return [...before, { ...opening, at: incident.startedAt }, ...changes.slice(index + 1)]
}

/**
 * Returns the bins of a period, oldest first. `changes` must be sorted by time. The status before the first change is
 * unknown. The last change applies until `to`.
 */
export function stripOf(changes: readonly StatusChange[], from: number, to: number, count = STRIP_BINS): StripBin[] {
  const length = (to - from) / count
  const bins: StripBin[] = Array.from({ length: count }, () => ({ status: 'unknown', lost: 0 }))
  for (const { status, score, startsAt, endsAt } of spansOf(changes, from, to)) {
    const first = Math.max(0, Math.floor((startsAt - from) / length))
    const last = Math.min(count - 1, Math.ceil((endsAt - from) / length) - 1)
    for (let index = first; index <= last; index += 1) {
      const bin = bins[index]
      if (bin) bins[index] = { status: worse(bin.status, status), lost: Math.max(bin.lost, lostBy(status, score)) }
    }
  }
  return bins
}

/** Describes how long a service was in each state: `critical for 31 min, degraded for 1 h 22 min`. */
export function stripText(changes: readonly StatusChange[], from: number, to: number): string {
  const spans = spansOf(changes, from, to)
  const known = spans.reduce((sum, span) => sum + (span.status === 'unknown' ? 0 : span.endsAt - span.startsAt), 0)
  if (known === 0) return 'no data'
  const parts = (['critical', 'degraded', 'unknown'] as const).flatMap((status) => {
    const gap = status === 'unknown' ? Math.max(0, (changes[0]?.at ?? to) - from) : 0
    const ms = spans.filter((span) => span.status === status).reduce((sum, one) => sum + one.endsAt - one.startsAt, gap)
    return ms < 1000 ? [] : [`${status} for ${formatDuration(ms)}`]
  })
  return parts.length === 0 ? 'healthy for the whole period' : parts.join(', ')
}

/** Returns how long a service is known not to have been healthy, in ms; null if nothing is known. */
export function unhealthyMs(changes: readonly StatusChange[], from: number, to: number): number | null {
  const known = spansOf(changes, from, to).filter(({ status }) => status !== 'unknown')
  const ill = known.filter(({ status }) => status !== 'healthy')
  return known.length === 0 ? null : ill.reduce((sum, { startsAt, endsAt }) => sum + endsAt - startsAt, 0)
}

/** Adds the current state to the recorded ones: a score rises without an event that would record it. */
export function withCurrent(
  changes: readonly StatusChange[],
  { status, score }: Omit<StatusChange, 'at'>,
  now: number,
): readonly StatusChange[] {
  return [...changes, { at: now, status, score }]
}

/** Splits a period into parts with the same status and score. */
export function spansOf(
  changes: readonly StatusChange[],
  from: number,
  to: number,
): readonly (StatusChange & { readonly startsAt: number; readonly endsAt: number })[] {
  return changes.flatMap((change, index) => {
    const startsAt = Math.max(change.at, from)
    const endsAt = Math.min(changes[index + 1]?.at ?? to, to)
    return endsAt > startsAt ? [{ ...change, startsAt, endsAt }] : []
  })
}

function lostBy(status: StatusChange['status'], score: number): number {
  return status === 'unknown' ? 0 : Math.min(100, Math.max(0, 100 - score))
}

function worse(a: StatusChange['status'], b: StatusChange['status']): StatusChange['status'] {
  return STATUSES.indexOf(a) >= STATUSES.indexOf(b) ? a : b
}
