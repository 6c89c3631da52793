/**
 * The heartbeats of a sender, and which ends prove nothing. If Prometheus stops, Alertmanager reports the end of the
 * heartbeat and of every other alert a few minutes later, although nobody has seen that a problem is over.
 */
import { areApart } from '../service/cluster.ts'
import { DAY, MINUTE } from '../units.ts'
import { LONGER } from './delivery-interval.ts'

/** One heartbeat, such as the Watchdog of one Prometheus. Times are Unix times in milliseconds. */
export type Beat = {
  readonly fingerprint: string
  /** The cluster that it names, or that the token has; '' if none. */
  readonly cluster: string
  /** When it ended or, unless it is repeated, ends; null if it fires and its sender does not say. */
  readonly endsAt: number | null
  /** Whether its sender reported the end. */
  readonly isReported?: boolean
  /** When it was last received while it fired. */
  readonly seenAt?: number | undefined
  /** How often it was received, and its last pause in milliseconds; copies of a second Alertmanager make none. */
  readonly count?: number
  readonly pause?: number
  /** When it ended before it last came back, and when it came back; null if it never did. */
  readonly gap: readonly [from: number, to: number] | null
  /** When it was last received before its Prometheus was stopped, and first after it; null if it never was. */
  readonly stop?: readonly [from: number, to: number] | null
}

/**
 * When incmon started after a stop or the clock jumped, until when it waits for repeats of what it received before, and when it last received
 * anything before; in ms UTC.
 */
export type Awaited = { readonly since: number; readonly until: number; readonly from: number }

const MAX_BEATS = 20
/** Prometheus sends alerts again after a minute and the evaluation interval, so that their ends differ by less. */
const BEFORE = 2 * MINUTE
/** Alertmanager ends an alert that Prometheus has stopped sending after this time at the earliest. */
const EXPIRES_AFTER = 4 * MINUTE
/** Alertmanager reports the end of the heartbeat within its `group_interval` of 30 seconds. */
const REPORTED_WITHIN = 40_000
/** Prometheus lets an alert end after four evaluations: a rule that is evaluated every 5 minutes, after 20. */
const AFTER = 20 * MINUTE
/**
 * A Prometheus that is back sends what it finds within this time: a rule waits up to 10 minutes after a start
 * (`rules.alert.for-grace-period`), and Alertmanager up to 5 (`group_interval`).
 */
const RETURNS_WITHIN = 15 * MINUTE
/** A copy of a second Alertmanager makes the interval seem short. */
const SHORTEST_STOP = 2 * MINUTE

/**
 * Returns the heartbeats after a report about one of them. It fires at all times, so that a later start shows that its
 * Prometheus was stopped.
 * @param at when it was received
 * @param interval the interval of the sender's heartbeats in milliseconds
 */
export function withBeat(
  beats: readonly Beat[],
  { startsAt, ...sent }: Omit<Beat, 'gap' | 'stop' | 'count' | 'pause'> & { readonly startsAt: number },
  at: number,
  interval = 0,
): readonly Beat[] {
  const before = beats.find(({ fingerprint }) => fingerprint === sent.fingerprint)
  const endedAt = before && isOver(before, at) ? before.endsAt : null
  const isBack = endedAt !== null && !isOver(sent, at)
  const seenAt = sent.isReported ? before?.seenAt : at
  const stoppedAt = before?.seenAt !== undefined && startsAt > before.seenAt ? before.seenAt : null
  const stop = stoppedAt === null ? (before?.stop ?? null) : ([stoppedAt, at] as const)
  const gap = isBack ? ([endedAt, at] as const) : (before?.gap ?? null)
  const last = at - (before?.seenAt ?? at)
  const pause = sent.isReported || last < interval / 2 ? (before?.pause ?? 0) : last
  const after: Beat = { ...sent, seenAt, count: (before?.count ?? 0) + 1, pause, gap, stop }
  return before ? beats.map((one) => (one === before ? after : one)) : [...beats, after].slice(-MAX_BEATS)
}

/** Returns whether a heartbeat has ended. */
export function isOver({ endsAt }: Pick<Beat, 'endsAt'>, now: number): boolean {
  return endsAt !== null && endsAt <= now
}

/**
 * Returns the heartbeats that have ended: their end was reported, or their sender did not repeat them in time, which it
 * could not while incmon was stopped. `newly`: those of them that have ended since the last delivery of one.
 * @param heardAt when the sender last delivered a heartbeat
 */
export function endedBeats(
  before: readonly Beat[],
  after: readonly Beat[],
  { heardAt, at, awaited }: { readonly heardAt: number; readonly at: number; readonly awaited: Awaited | undefined },
): { readonly missing: readonly Beat[]; readonly newly: readonly Beat[] } {
  const isOverAt = ({ endsAt, isReported }: Beat, time: number) => {
    const isAwaited = awaited !== undefined && endsAt !== null && endsAt > awaited.from && !isReported
    return isOver({ endsAt: isAwaited ? Math.max(endsAt, awaited.until) : endsAt }, time)
  }
  const missing = after.filter((beat) => isOverAt(beat, at))
  const newly = missing.filter((beat) => {
    const known = before.find(({ fingerprint }) => fingerprint === beat.fingerprint)
    return known && !isOverAt(known, known.endsAt === beat.endsAt ? heardAt : at)
  })
  return { missing, newly }
}

/**
 * Returns when the last of these heartbeats was sent: its end if its sender reported it, or when it was last received. What
 * Prometheus says about the end is only how long to wait. Returns null if this is not known.
 */
export function lastBeatOf(beats: readonly Beat[], now: number): number | null {
  const times = beats.flatMap(({ endsAt, isReported, seenAt }) => {
    return (isReported ? endsAt : (seenAt ?? (endsAt === null ? null : Math.min(endsAt, now)))) ?? []
  })
  return times.length === 0 ? null : Math.max(...times)
}

/**
 * Returns the heartbeats, of which those count as stopped that are missing.
 * @param gap the interval of the sender's heartbeats in ms; 0 if unknown
 */
export function withMissing(
  beats: readonly Beat[],
  { gap, at, awaited }: { readonly gap: number; readonly at: number; readonly awaited: Awaited | undefined },
): readonly Beat[] {
  return beats.map((beat) => {
    const { seenAt = at } = beat
    const isMissing = gap > 0 && seenAt >= (awaited?.since ?? 0) && at - seenAt > Math.max(SHORTEST_STOP, LONGER * gap)
    return isMissing ? { ...beat, stop: [seenAt, at] } : beat
  })
}

/**
 * Returns whether an alert has a later start only because its Prometheus was stopped: the alert was repeated until then.
 * @param lastSeenAt when it was last repeated, and `within`: the time in ms within which it is repeated
 */
export function isMovedByStop(
  beats: readonly Beat[],
  { lastSeenAt, startsAt, within }: { readonly lastSeenAt: number; readonly startsAt: number; readonly within: number },
): boolean {
  return beats.some(({ stop }) => {
    if (!stop) return false
    const [from, to] = stop
    const wasRepeated = lastSeenAt >= from - within && lastSeenAt < to
    return wasRepeated && startsAt > from && startsAt <= to + RETURNS_WITHIN
  })
}

/** Returns `the heartbeat of cluster eu`, one name for each heartbeat of a cluster. */
export function beatNames(beats: readonly Beat[]): readonly string[] {
  const names = beats.map(({ cluster }) =>
    cluster === '' ? 'one of its heartbeats' : `the heartbeat of cluster ${cluster}`,
  )
  return [...new Set(names)].sort()
}

/** Returns the heartbeats that speak for the alerts of a cluster; '' is a service without one. */
export function beatsFor(beats: readonly Beat[], cluster: string): readonly Beat[] {
  return beats.filter((beat) => !areApart(beat.cluster, cluster))
}

/**
 * Returns when an end counts: at once, or if a heartbeat ended with it, some minutes after the heartbeat is back. If it
 * never comes back, after a day.
 * @param end when an alert ended or ends for lack of a repeat
 */
export function countsFrom(end: number, beats: readonly Beat[]): number {
  return Math.max(
    end,
    ...beats.map(({ endsAt, gap }) => {
      if (endsAt !== null && isNear(end, endsAt)) return endsAt + DAY
      return gap !== null && isNear(end, gap[0]) && end < gap[1] ? gap[1] + RETURNS_WITHIN : end
    }),
  )
}

/**
 * Returns until when the end of an alert does not count, because the end of a heartbeat that makes it doubtful may still
 * be reported; null if it cannot be.
 * @param startsAt when the alert last began to fire, at the earliest
 */
export function heldUntil(end: number, startsAt: number, beats: readonly Beat[]): number | null {
  return beats.length === 0 || end - startsAt < EXPIRES_AFTER ? null : end + BEFORE + REPORTED_WITHIN
}

/**
 * Returns the heartbeats of a sender. One that ended, as another receiver reported, has ended for this one, too, unless it
 * was received since: it is the same Prometheus.
 */
export function withShared(own: readonly Beat[], others: readonly Beat[]): readonly Beat[] {
  const ended = others.filter(({ endsAt, isReported = false }) => isReported && endsAt !== null)
  if (ended.length === 0) return own
  return own.map((beat) => {
    const same = ended.find(({ fingerprint, cluster, endsAt }) => {
      return fingerprint === beat.fingerprint && cluster === beat.cluster && (endsAt ?? 0) > (beat.seenAt ?? 0)
    })
    return same && !beat.isReported ? { ...beat, endsAt: same.endsAt, isReported: true } : beat
  })
}

/** Returns whether an end of an alert of a cluster does not count yet. */
export function isDoubted(end: number | null, beats: readonly Beat[], cluster: string, now: number): boolean {
  return end !== null && countsFrom(end, beatsFor(beats, cluster)) > now
}

function isNear(end: number, beatEnd: number): boolean {
  return end > beatEnd - BEFORE && end <= beatEnd + AFTER
}
