/** Lag: how late a sender of Kubernetes events delivers them, or how far its clock is behind ours. */

const MINUTE = 60_000
/** A quiet cluster may have no recent event when its sender connects. A sender with a larger lag is late. */
const NORMAL = 15 * MINUTE
/** If all events of this period were later than before, the lag has grown. */
const RAISED_AFTER = 10 * MINUTE
/** A smaller change does not matter to any rule. */
const NEGLIGIBLE = MINUTE

/** `lag`: the shortest time from an event to its receipt. `lagAt`: when this lag was last measured. In milliseconds. */
export type Lag = { readonly lag: number; readonly lagAt: number }

/** Returns the lag of a sender after one more event. Returns the same object if the change does not matter. */
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

/** Returns the delay of a sender in ms, 0 if it is punctual. Missing repeats within the delay do not show an end. */
export function delayOf(lag: Lag | null): number {
  return lag !== null && lag.lag > NORMAL ? lag.lag : 0
}
