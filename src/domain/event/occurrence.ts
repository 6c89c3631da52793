/** Periods: when a condition began and ended, if each of its events may stand for many repeats. */

const MINUTE = 60_000
/** After a pause of this length, a condition counts as new. */
export const PAUSE = 10 * MINUTE

/** The repeats that one event counts. Times in milliseconds UTC; `count` is at least 1. */
export type RepeatedEvent = { readonly firstSeenAt: number; readonly at: number; readonly count: number }

/** A time in which a condition was seen without a pause. `first`: the event that began it. */
export type Occurrence<Event extends RepeatedEvent> = {
  readonly startsAt: number
  readonly endsAt: number
  readonly first: Event
}

/**
 * Returns when the repeats of an event began that belong to its last one. Kubernetes moves `lastTimestamp` and raises
 * `count` with each repeat, also after quiet days. If the repeats are further apart than a pause on average, the last one
 * may be a new beginning. Two different times with a count of 1 mean that the sender leaves the count out.
 */
export function beginningOf({ firstSeenAt, at, count }: RepeatedEvent): number {
  return count === 1 || at - firstSeenAt < PAUSE * (count - 1) ? firstSeenAt : at
}

/** Returns the periods of a condition, the earliest first, from its events in any order. */
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
