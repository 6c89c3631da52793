/** A sender and its groups, as they are in the live state, and how late its events arrive. */

import type { Source } from '../event/event.ts'
import { MINUTE } from '../units.ts'
import type { Beat } from './beats.ts'
import type { Clock } from './clock.ts'
import type { DeliveryInterval, Group } from './delivery-interval.ts'
import type { Heartbeat, Hours } from './heartbeat.ts'

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
