/**
 * Learns how often a sender repeats the alerts of a group. If an expected repeat does not arrive, the alert has
 * probably ended.
 */
import { MINUTE } from '../units.ts'

/** The shortest interval that counts. Retries and a second Alertmanager cause shorter intervals. */
const SHORTEST_GAP = MINUTE / 2
export const MIN_REPEAT_TIMEOUT = 5 * MINUTE
/** Alertmanager's default `repeat_interval`. */
const USUAL_REPEAT = 4 * 60 * MINUTE
/**
 * How long an alert stays firing without a repeat if the delivery interval is unknown. A sender with the default
 * settings repeats within this time.
 */
export const DEFAULT_REPEAT_TIMEOUT = USUAL_REPEAT + 30 * MINUTE
/** The timeout for a heartbeat whose interval is unknown, long enough to avoid false alarms. */
export const DEFAULT_HEARTBEAT_TIMEOUT = 3 * USUAL_REPEAT
const GAPS_WANTED = 2
export const MISSED_REPEATS = 3
/** A pause of more intervals than this may be an outage. */
export const LONGER = 1.5
/**
 * An interval that is shorter than the learned interval reduces the learned interval by this fraction of the
 * difference. After a day-long outage, the learned interval returns to normal within a few dozen repeats. Even if only
 * every ninth interval is long, the learned interval stays above a third of the long intervals. Below a third, alerts
 * would end between two repeats.
 */
const FADING = 1 / 8

/**
 * `longestGap`: the longest interval between two deliveries with the same members, in ms. `gaps`: the number of
 * intervals.
 */
export type DeliveryInterval = { readonly longestGap: number; readonly gaps: number }

export const NO_INTERVAL: DeliveryInterval = { longestGap: 0, gaps: 0 }

export type Group = DeliveryInterval & { readonly members: string; readonly deliveredAt: number }

/** The state of a group after another delivery. `gap`: the new interval; null if it must be ignored. */
type Delivered = { readonly group: Group; readonly gap: number | null }

/**
 * Returns a group after another delivery. Alertmanager sends a changed group immediately, so the interval before that
 * delivery is ignored, and so is one in which incmon was stopped.
 * @param startedAt when incmon started after a stop, in ms UTC; 0 if it was not stopped
 */
export function withDelivery(
  group: Group | null,
  delivery: { readonly members: string; readonly at: number },
  startedAt = 0,
): Delivered {
  if (!group)
    return { group: { longestGap: 0, gaps: 0, members: delivery.members, deliveredAt: delivery.at }, gap: null }
  const pause = delivery.at - group.deliveredAt
  const isRepeat = delivery.members === group.members && group.deliveredAt >= startedAt
  // The interval begins before a copy. A sender that repeats more often than this has the shortest interval.
  const deliveredAt = isRepeat && pause < SHORTEST_GAP ? group.deliveredAt : Math.max(group.deliveredAt, delivery.at)
  const gap = isRepeat && pause >= SHORTEST_GAP ? pause : null
  return { group: { ...withFadingGap(group, gap), members: delivery.members, deliveredAt }, gap }
}

/**
 * Returns a group that a repeat proved to be slower than assumed: its alerts had been considered ended, but were firing
 * all the time. One interval is then enough.
 */
export function withProvenGap({ group, gap }: Delivered): Group {
  if (gap === null) return group
  return { ...group, longestGap: Math.max(group.longestGap, gap), gaps: Math.max(GAPS_WANTED, group.gaps) }
}

/** Returns whether enough intervals are known. */
export function isKnown({ gaps }: Pick<DeliveryInterval, 'gaps'>): boolean {
  return gaps >= GAPS_WANTED
}

/**
 * Adds an interval to a group. Once enough intervals are known, shorter intervals gradually reduce the longest
 * interval.
 */
function withFadingGap(interval: DeliveryInterval, gap: number | null): DeliveryInterval {
  const { longestGap, gaps } = interval
  if (gap === null || gap >= longestGap || gaps < GAPS_WANTED) return withGap(interval, gap)
  return { longestGap: longestGap - Math.round((longestGap - gap) * FADING), gaps: gaps + 1 }
}

/**
 * Updates a receiver's delivery interval after a delivery. The receiver's groups may have different intervals. The
 * receiver keeps the longest interval, so that alerts of a new group with a longer interval do not end too early. If
 * the longest interval exceeds Alertmanager's default, an outage may be the reason. In that case, the receiver's
 * interval decreases with the group's interval, but not below the default.
 */
export function withReceiverInterval(
  receiver: DeliveryInterval,
  before: DeliveryInterval | null,
  { group, gap }: Delivered,
): DeliveryInterval {
  const { longestGap, gaps } = withGap(receiver, gap)
  const isFading = before?.longestGap === longestGap && group.longestGap < longestGap
  const least = Math.min(longestGap, USUAL_REPEAT)
  return { longestGap: isFading ? Math.max(least, group.longestGap) : longestGap, gaps }
}

function withGap(interval: DeliveryInterval, gap: number | null): DeliveryInterval {
  return gap === null ? interval : { longestGap: Math.max(interval.longestGap, gap), gaps: interval.gaps + 1 }
}

/**
 * Returns the usual interval between two deliveries of the same alerts, in ms, or null until enough intervals are
 * known.
 */
export function usualInterval({ longestGap, gaps }: DeliveryInterval): number | null {
  return gaps >= GAPS_WANTED ? longestGap : null
}

/**
 * Returns the repeat timeout in ms: an alert without a repeat for this long is considered ended. The timeout is three
 * delivery intervals, but at least five minutes. Uses the group's interval, or the receiver's interval if the group's
 * interval is unknown. If both intervals are unknown, returns `unknown`.
 */
export function repeatTimeoutOf(
  group: DeliveryInterval | null,
  receiver: DeliveryInterval,
  unknown = DEFAULT_REPEAT_TIMEOUT,
): number {
  const known = [group, receiver].find((one) => one !== null && isKnown(one))
  return known ? timeoutOf(known.longestGap) : unknown
}

/** Returns after how many ms without a repeat an alert is missing, if it is repeated at this interval in ms. */
export function timeoutOf(interval: number): number {
  return Math.max(MIN_REPEAT_TIMEOUT, MISSED_REPEATS * interval)
}
