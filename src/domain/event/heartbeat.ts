/** Heartbeats: an alert that always fires. If it is missing, other alerts may not arrive either. */
import { DEFAULT_HEARTBEAT_TIMEOUT, repeatTimeoutOf } from '../alert/delivery-interval.ts'

/** Times and intervals in ms; null or 0 before the first heartbeat. */
export type Heartbeat = {
  readonly heartbeatAt: number | null
  /** The longest normal interval. */
  readonly heartbeatGap: number
  /** The time at which the heartbeat is overdue; null while it is missing, or if there was never one. */
  readonly heartbeatDueAt: number | null
}

/** Returns the heartbeat after one more arrival. The interval of an outage does not count as normal. */
export function withHeartbeat(
  before: Heartbeat,
  at: number,
  receiver: { readonly longestGap: number; readonly gaps: number },
): Heartbeat {
  const pause = before.heartbeatAt === null || before.heartbeatDueAt === null ? 0 : at - before.heartbeatAt
  const heartbeatGap = Math.max(before.heartbeatGap, pause)
  // One interval is enough, because only the repeat interval triggers a heartbeat.
  const own = { longestGap: heartbeatGap, gaps: heartbeatGap >= 60_000 ? 2 : 0 }
  const heartbeatAt = Math.max(before.heartbeatAt ?? at, at)
  return {
    heartbeatAt,
    heartbeatGap,
    heartbeatDueAt: heartbeatAt + repeatTimeoutOf(own, receiver, DEFAULT_HEARTBEAT_TIMEOUT),
  }
}
