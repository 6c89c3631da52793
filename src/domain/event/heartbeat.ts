/** Heartbeats: an alert that always fires, so that its silence means that nobody would tell of trouble. */
import { silenceOf } from '../alert/delivery-interval.ts'

/** Times and pauses in milliseconds; all null or 0 before the first beat. */
export type Heartbeat = {
  readonly heartbeatAt: number | null
  /** The longest usual pause. */
  readonly heartbeatGap: number
  /** When its silence is trouble; null while silent, or never heard. */
  readonly heartbeatDueAt: number | null
}

/** The heartbeat after one more beat. The pause that was a silence is no usual one. */
export function beat(
  before: Heartbeat,
  at: number,
  receiver: { readonly longestGap: number; readonly gaps: number },
): Heartbeat {
  const pause = before.heartbeatAt === null || before.heartbeatDueAt === null ? 0 : at - before.heartbeatAt
  const heartbeatGap = Math.max(before.heartbeatGap, pause)
  // One pause is enough: a heartbeat is a group of its own, which nothing but its repeat interval sends.
  const own = { longestGap: heartbeatGap, gaps: heartbeatGap >= 60_000 ? 2 : 0 }
  const heartbeatAt = Math.max(before.heartbeatAt ?? at, at)
  return { heartbeatAt, heartbeatGap, heartbeatDueAt: heartbeatAt + silenceOf(own, receiver) }
}
