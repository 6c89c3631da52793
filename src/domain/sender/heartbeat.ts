/** Sender activity: heartbeats, and the number of events per hour. */

import { HOUR, MINUTE } from '../units.ts'
import type { Awaited } from './beats.ts'
import { DEFAULT_HEARTBEAT_TIMEOUT, type DeliveryInterval, LONGER, repeatTimeoutOf } from './delivery-interval.ts'

/** Times and intervals in ms; null or 0 before the first heartbeat. */
export type Heartbeat = {
  readonly heartbeatAt: number | null
  /** The longest normal interval. */
  readonly heartbeatGap: number
  /** When a missing heartbeat opens an incident. Null before the first heartbeat, and while that incident is open. */
  readonly heartbeatDueAt: number | null
}

/** A shorter interval may be no heartbeat's, because a second Alertmanager sends copies, until `STEADY` of them arrived. */
const SHORTEST = MINUTE
const STEADY = 6
/** After this many intervals without a delivery, a sender counts as silent. */
const SILENT_AFTER = 2
/** Two pauses differ by less than this if they are the same interval. */
const SAME = 0.95

/**
 * `pause`: the pause of the heartbeat before this one, in milliseconds. `count`: how often it was received before.
 * `awaited`: a stop of incmon.
 */
export type Past = {
  readonly pause?: number | undefined
  readonly count?: number | undefined
  readonly awaited?: Awaited | undefined
}

/**
 * Returns the heartbeat after another arrival. A pause in which an incident opened or incmon was stopped is an outage and
 * no normal interval, and so is a much longer one, unless the pause before was as long: then the sender became slower.
 */
export function withHeartbeat(
  before: Heartbeat,
  at: number,
  receiver: DeliveryInterval,
  { pause: pauseBefore = 0, count = 0, awaited }: Past = {},
): Heartbeat {
  const { heartbeatAt: last, heartbeatDueAt, heartbeatGap: gap } = before
  const pause = last === null || last < (awaited?.since ?? 0) ? 0 : at - last
  // A single interval is enough, because heartbeats are triggered only by the repeat interval.
  const isKnown = (of: number) => of >= SHORTEST || (of > 0 && count >= STEADY)
  const isLong = heartbeatDueAt === null || (isKnown(gap) && pause > LONGER * gap)
  const isOutage = isLong && pauseBefore < SAME * pause
  const heartbeatGap = isOutage ? gap : Math.max(gap, pause)
  const own = { longestGap: heartbeatGap, gaps: isKnown(heartbeatGap) ? 2 : 0 }
  const heartbeatAt = Math.max(before.heartbeatAt ?? at, at)
  return {
    heartbeatAt,
    heartbeatGap,
    heartbeatDueAt: heartbeatAt + repeatTimeoutOf(own, receiver, DEFAULT_HEARTBEAT_TIMEOUT),
  }
}

/**
 * Returns whether a sender with a heartbeat has delivered nothing at all for two intervals. Then it is probably broken,
 * and a missing repeat says nothing about an alert.
 */
export function isSilent(
  { heartbeatAt, heartbeatGap, lastEventAt }: Heartbeat & { readonly lastEventAt: number | null },
  now: number,
): boolean {
  const heardAt = Math.max(heartbeatAt ?? 0, lastEventAt ?? 0)
  return heartbeatAt !== null && heartbeatGap > 0 && now > heardAt + SILENT_AFTER * heartbeatGap
}

const KEPT = 24

/** `last`: the newest hour, counted since 1970 UTC. `counts`: the number of events in each hour, oldest first. */
export type Hours = { readonly last: number; readonly counts: readonly number[] }

export const NO_HOURS: Hours = { last: 0, counts: [] }

/** Adds events received at `at`, as Unix time in milliseconds. Ignores events older than a day. */
export function withEvents(hours: Hours, at: number, events: number): Hours {
  if (events === 0) return hours
  // Most requests are for the newest hour.
  if (hours.counts.length === KEPT && hours.last === hourOf(at))
    return { ...hours, counts: hours.counts.with(-1, (hours.counts.at(-1) ?? 0) + events) }
  const last = Math.max(hours.last, hourOf(at))
  const age = last - hourOf(at)
  const counts = moved(hours, last)
  return { last, counts: counts.map((count, index) => (index === KEPT - 1 - age ? count + events : count)) }
}

/** Returns 24 counts, oldest first. The last count is for the hour of `now`. */
export function hoursUntil(hours: Hours, now: number): readonly number[] {
  return moved(hours, hourOf(now))
}

function moved({ last, counts }: Hours, to: number): readonly number[] {
  return Array.from({ length: KEPT }, (_, index) => counts[index + counts.length - KEPT + (to - last)] ?? 0)
}

function hourOf(at: number): number {
  return Math.floor(at / HOUR)
}
