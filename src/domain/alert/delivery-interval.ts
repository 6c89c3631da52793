/** Learns how often a sender repeats the alerts of a group. Missing repeats then indicate that an alert has ended. */

const MINUTE = 60_000
/** Shorter intervals come from a second Alertmanager or from retries. */
const SHORTEST_GAP = MINUTE / 2
export const MIN_REPEAT_TIMEOUT = 5 * MINUTE
/** An alert with an unknown delivery interval ends after this time without a repeat. */
export const DEFAULT_REPEAT_TIMEOUT = 60 * MINUTE
/** Alertmanager's default `repeat_interval`. */
const USUAL_REPEAT = 4 * 60 * MINUTE
/** A heartbeat with an unknown interval is overdue after this time. It is long, to avoid false alarms. */
export const DEFAULT_HEARTBEAT_TIMEOUT = 3 * USUAL_REPEAT
const GAPS_WANTED = 2
export const MISSED_REPEATS = 3
/**
 * A shorter interval lowers the longest one by this fraction of their difference. After an outage of a day, the normal
 * interval returns within a few dozen repeats. If every ninth interval is long, the longest interval never falls below
 * a third of it. Below a third, alerts would end between two repeats.
 */
const FADING = 1 / 8

/**
 * `longestGap`: the longest interval in ms between two deliveries with the same members. `gaps`: the number of
 * intervals.
 */
export type DeliveryInterval = { readonly longestGap: number; readonly gaps: number }

export type Group = DeliveryInterval & { readonly members: string; readonly deliveredAt: number }

/** A group after one more delivery. `gap`: the new interval, or null if it does not count. */
export type Delivered = { readonly group: Group; readonly gap: number | null }

/** Returns a group after one more delivery. A changed group is sent at once, so its interval does not count. */
export function withDelivery(
  group: Group | null,
  delivery: { readonly members: string; readonly at: number },
): Delivered {
  if (!group)
    return { group: { longestGap: 0, gaps: 0, members: delivery.members, deliveredAt: delivery.at }, gap: null }
  const deliveredAt = Math.max(group.deliveredAt, delivery.at)
  const pause = delivery.at - group.deliveredAt
  const gap = delivery.members === group.members && pause >= SHORTEST_GAP ? pause : null
  return { group: { ...withFadingGap(group, gap), members: delivery.members, deliveredAt }, gap }
}

/**
 * Adds an interval to a group. Once enough intervals are known, shorter intervals slowly lower the longest interval.
 */
function withFadingGap(interval: DeliveryInterval, gap: number | null): DeliveryInterval {
  const { longestGap, gaps } = interval
  if (gap === null || gap >= longestGap || gaps < GAPS_WANTED) return withGap(interval, gap)
  return { longestGap: longestGap - Math.round((longestGap - gap) * FADING), gaps: gaps + 1 }
}

/**
 * Adds an interval to a receiver, whose groups may have different intervals. The longest interval is kept. Otherwise
 * the alerts of a new group with a longer interval would end too early. An interval above Alertmanager's default may
 * come from an outage, so it decreases with the interval of its group down to the default.
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
 * Returns the usual interval in ms between two deliveries of the same alerts; null until enough intervals are known.
 */
export function usualInterval({ longestGap, gaps }: DeliveryInterval): number | null {
  return gaps >= GAPS_WANTED ? longestGap : null
}

/**
 * Returns the time in ms without a repeat after which an alert is inferred to have ended: three delivery intervals, but
 * at least five minutes. Uses the interval of the group or, if that is unknown, of its receiver. If neither is known,
 * returns `unknown`.
 */
export function repeatTimeoutOf(
  group: DeliveryInterval | null,
  receiver: DeliveryInterval,
  unknown = DEFAULT_REPEAT_TIMEOUT,
): number {
  const known = [group, receiver].find((one) => one !== null && one.gaps >= GAPS_WANTED)
  return known ? Math.max(MIN_REPEAT_TIMEOUT, MISSED_REPEATS * known.longestGap) : unknown
}
