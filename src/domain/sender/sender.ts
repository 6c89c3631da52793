/**
 * A sender and its groups, as they are in the live state: how late its events arrive, when it falls silent, and how
 * wrong its clock is.
 */
import type { Draft, Source } from '../event/event.ts'
import { HOUR, MINUTE } from '../units.ts'
import type { Awaited, Beat } from './beats.ts'
import {
  DEFAULT_HEARTBEAT_TIMEOUT,
  type DeliveryInterval,
  type Group,
  LONGER,
  repeatTimeoutOf,
} from './delivery-interval.ts'

/** The receiver of alerts that Prometheus sends without an Alertmanager. */
export const PROMETHEUS = 'prometheus'

/** A sender is one receiver of one source in one cluster. */
export type LiveSender = Heartbeat & {
  readonly rowId: number
  readonly organizationId: number
  readonly source: Source
  readonly cluster: string
  readonly receiver: string
  /** The names of the tokens with which it delivered, newest first. */
  readonly tokens: readonly string[]
  readonly events: number
  readonly rejections: number
  readonly lastEventAt: number | null
  readonly lastRejectionAt: number | null
  /** Whether the sender has ever reported the end of an alert. Such a sender is expected to report every end. */
  readonly reportsEnds: boolean
  /** Kubernetes events only: whether the sender has ever reported a repeat. */
  readonly reportsRepeats: boolean
  /** Kubernetes events only: the sender's delay; null before the first event. */
  readonly lag: Lag | null
  /** The offset of the sender's clock from the server's; null if unknown. */
  readonly clock: Clock | null
  /**
   * Whether the sender names its cluster, by its token or in every item of its last delivery; null before the first
   * item.
   */
  readonly namesCluster: boolean | null
  /** Its heartbeats, such as the Watchdog of each Prometheus behind an Alertmanager. */
  readonly beats: readonly Beat[]
  /** The delivery interval across all of the sender's groups. */
  readonly deliveryInterval: DeliveryInterval
  /** The number of events from the sender in each of the last 24 hours. */
  readonly hours: Hours
}

const MAX_TOKENS = 3

/** In this many events, a sender that reports repeats has reported one: pods fail a probe now and then. */
const TELLING = 100

/** Returns whether missing repeats of a Kubernetes event mean something. A new sender is not suspected to ignore them. */
export function isRepeating(sender: Pick<LiveSender, 'events' | 'reportsRepeats'> | undefined): boolean {
  return sender !== undefined && (sender.reportsRepeats || sender.events < TELLING)
}

/** Returns the sender's tokens after a delivery. Returns the same list if it has not changed. */
export function withToken(before: readonly string[], token: string): readonly string[] {
  return before[0] === token ? before : [token, ...before.filter((one) => one !== token)].slice(0, MAX_TOKENS)
}

export type LiveGroup = Group & { readonly rowId: number; readonly senderId: number; readonly key: string }

/**
 * A quiet cluster may have no recent events when its sender connects. A lag above this value means that the sender is
 * late.
 */
const NORMAL = 15 * MINUTE
/** If all events during this period arrived later than before, the lag has grown. */
const RAISED_AFTER = 10 * MINUTE
/** Changes in the lag that are smaller than this do not affect any rule. */
const NEGLIGIBLE = MINUTE

/**
 * `lag`: the shortest delay between an event and its receipt. `lagAt`: when this lag was last measured. In
 * milliseconds.
 */
type Lag = { readonly lag: number; readonly lagAt: number }

/** Returns a sender's lag after another event. Returns the same object if the change is negligible. */
export function withLag(before: Lag | null, event: { readonly at: number; readonly receivedAt: number }): Lag {
  const lag = Math.max(0, event.receivedAt - event.at)
  const now = { lag, lagAt: event.receivedAt }
  if (!before) return now
  if (lag <= before.lag + NEGLIGIBLE) {
    const isKnown = before.lag - lag <= NEGLIGIBLE && event.receivedAt - before.lagAt < RAISED_AFTER / 2
    return isKnown ? before : { lag: Math.min(lag, before.lag), lagAt: event.receivedAt }
  }
  return event.receivedAt - before.lagAt > RAISED_AFTER ? now : before
}

/**
 * Returns a sender's delay in ms, or 0 if it is on time. A repeat that is overdue by less than this delay proves
 * nothing.
 */
export function delayOf(lag: Lag | null): number {
  return lag !== null && lag.lag > NORMAL ? lag.lag : 0
}

// Heartbeats, and the number of events per hour.

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

// The error of a sender's clock, learned from the times in the sender's items.

/**
 * Nothing is sent before it happens, so a time in the future proves that the sender's clock is ahead. Correct clocks
 * differ by seconds.
 */
const AHEAD = 2 * MINUTE
/** An item can be late for many reasons. Only a constant delay of this size indicates a wrong clock. */
const BEHIND = 30 * MINUTE
/** Offsets that differ by less than this are treated as equal, because delivery times vary. */
const SAME_ERROR = 2 * MINUTE
/** At least `READINGS` consecutive readings over a period of at least `SPAN` must agree. */
const READINGS = 5
const SPAN = 10 * MINUTE
const READINGS_TO_DROP = 3
/** Local times differ from UTC by at most 14 hours. A larger offset is an error in the item, not a wrong time zone. */
const MAX_OFFSET = 14 * 60 * MINUTE + AHEAD

/**
 * A sender's clock. Offsets are in ms, positive if the clock is ahead. The last `count` readings agree on `candidate`.
 */
export type Clock = {
  /** The offset to subtract from the sender's times. */
  readonly offset: number
  readonly candidate: number
  readonly count: number
  /** When the first reading that agrees with `candidate` was taken, in ms UTC. */
  readonly since: number
}

/**
 * Returns the clock after another reading, or null if the clock is right. Only a constant offset counts, because
 * offsets vary in a backlog or if only one of several nodes has a wrong clock.
 * @param difference the newest time in a delivery minus the time of receipt, in ms
 */
export function withReading(before: Clock | null, difference: number, receivedAt: number): Clock | null {
  if (Math.abs(difference) > MAX_OFFSET) return before
  const reading = difference > AHEAD || difference < -BEHIND ? difference : 0
  if (!before && reading === 0) return null
  const clock = before ?? { offset: 0, candidate: 0, count: 0, since: receivedAt }
  const isSame = clock.count > 0 && Math.abs(reading - clock.candidate) <= SAME_ERROR
  const next = isSame
    ? { ...clock, candidate: reading === 0 ? 0 : Math.max(clock.candidate, reading), count: clock.count + 1 }
    : { ...clock, candidate: reading, count: 1, since: receivedAt }
  const isLong = next.count >= READINGS && receivedAt - next.since >= SPAN
  // A clock that is behind never produces items with the current time. A few readings with the current time are
  // therefore enough to drop the offset.
  const isCertain = isLong || (next.offset < 0 && next.candidate === 0 && next.count >= READINGS_TO_DROP)
  const settled = isCertain ? { ...next, offset: next.candidate } : next
  const count = Math.min(settled.count, READINGS)
  return settled.offset === 0 && settled.candidate === 0 ? null : { ...settled, count }
}

/** An Alertmanager or Grafana delivery with only older times is a repeat and is no evidence about the clock. */
const FRESH = 5 * MINUTE

/**
 * Returns the newest time in these drafts minus the time of receipt, in ms, or null if the drafts are no evidence about
 * the clock.
 */
export function readingOf(drafts: readonly Draft[], receivedAt: number): number | null {
  let newest: number | null = null
  for (const draft of drafts) {
    const difference = draft.source === 'ci' ? null : (draft.sent?.at ?? draft.at) - receivedAt
    if (difference === null || (draft.source !== 'cluster' && difference < -FRESH)) continue
    newest = newest === null ? difference : Math.max(newest, difference)
  }
  return newest
}

/**
 * Returns the offset to correct in one delivery, in ms. An exporter sends events from many nodes with different clocks,
 * so a correction never moves an event to a time before its receipt. Alertmanager and Grafana repeat old alerts, so a
 * single delivery does not show how far ahead their clock is. For these two senders, the learned offset is used.
 * @param reading the result of `readingOf` for this delivery
 */
export function offsetIn(clock: Clock | null, source: Source, reading: number | null): number {
  const offset = clock?.offset ?? 0
  return offset <= 0 || source !== 'cluster' ? offset : Math.min(offset, Math.max(0, reading ?? 0))
}

/**
 * Corrects a draft's times by the clock offset. Times after the time of receipt are replaced by the time of receipt.
 */
export function corrected<Of extends Draft>(draft: Of, offset: number, receivedAt: number): Of {
  if (offset === 0 || draft.source === 'ci') return draft
  const sent = draft.sent ?? draft
  const at = Math.min(sent.at - offset, receivedAt)
  const startsAt = Math.min(sent.startsAt - offset, at)
  if (draft.source === 'cluster') return { ...draft, at, startsAt }
  const isStartUnknown = draft.isStartUnknown && !(draft.sent && startsAt < receivedAt)
  return { ...draft, at, startsAt, isStartUnknown, endsAt: draft.endsAt === null ? null : at }
}
