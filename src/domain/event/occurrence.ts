/** Determines when a condition began and ended, given that each event can count many repeats. */
import { MINUTE } from '../units.ts'

/** After a pause of this length, a condition is considered new. */
export const PAUSE = 10 * MINUTE

/** The repeats in one event. Times are Unix times in milliseconds; `count` is at least 1. */
export type RepeatedEvent = { readonly firstSeenAt: number; readonly at: number; readonly count: number }

/** A period during which a condition was reported without a pause. `first`: its first event. */
export type Occurrence<Event extends RepeatedEvent> = {
  readonly startsAt: number
  readonly endsAt: number
  readonly first: Event
}

/**
 * Returns the start of the most recent run of repeats that an event counts. Kubernetes updates `lastTimestamp` and
 * `count` on each repeat, even after days without one. If the average interval is longer than `PAUSE`, the last repeat
 * may be the start of a new run. Two different times with a count of 1 mean that the sender omits the count.
 */
export function beginningOf({ firstSeenAt, at, count }: RepeatedEvent): number {
  return count === 1 || at - firstSeenAt < PAUSE * (count - 1) ? firstSeenAt : at
}

/** Returns the occurrences of a condition, earliest first. The events can be in any order. */
export function occurrencesOf<Event extends RepeatedEvent & { readonly eventId: string }>(
  events: readonly Event[],
): Occurrence<Event>[] {
  const inOrder = events
    .map((event) => ({ startsAt: beginningOf(event), endsAt: event.at, first: event }))
    .sort((a, b) => a.startsAt - b.startsAt || a.endsAt - b.endsAt || (a.first.eventId < b.first.eventId ? -1 : 1))
  const periods: Occurrence<Event>[] = []
  for (const next of inOrder) {
    const last = periods.at(-1)
    if (!last || next.startsAt - last.endsAt >= PAUSE) periods.push(next)
    else periods[periods.length - 1] = { ...last, endsAt: Math.max(last.endsAt, next.endsAt) }
  }
  return periods
}
