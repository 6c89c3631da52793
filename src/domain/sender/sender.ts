/** A sender and its groups, as they are in the live state. */
import type { Source } from '../event/event.ts'
import type { Clock } from './clock.ts'
import type { DeliveryInterval, Group } from './delivery-interval.ts'
import type { Heartbeat, Hours } from './heartbeat.ts'
import type { Lag } from './lag.ts'

/** A sender is one receiver of one source in one cluster. */
export type LiveSender = Heartbeat & {
  readonly rowId: number
  readonly organizationId: number
  readonly source: Source
  readonly cluster: string
  readonly receiver: string
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
  /** The delivery interval across all of the sender's groups. */
  readonly deliveryInterval: DeliveryInterval
  /** The number of events from the sender in each of the last 24 hours. */
  readonly hours: Hours
}

export type LiveGroup = Group & { readonly rowId: number; readonly senderId: number; readonly key: string }
