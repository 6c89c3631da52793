/** Measures how late a sender's Kubernetes events arrive. A clock that is behind has the same effect. */
import { MINUTE } from '../units.ts'

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
export type Lag = { readonly lag: number; readonly lagAt: number }

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
