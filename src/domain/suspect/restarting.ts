/** A node whose kubelet or kube-proxy starts again and again. One start says nothing: every boot and upgrade has one. */
import { HOUR } from '../units.ts'
import type { SuspectEvent } from './suspect.ts'

/** The reason with which the kubelet and kube-proxy report that they start. Kubernetes calls it information. */
export const START = 'Starting'
/** How much the starts weigh, and what they mean. */
export const RESTARTING = [0.5, 'it keeps starting'] as const
/** How many starts within how long are too many. An upgrade of a node is followed by one or two. */
const STARTS = 3
const WITHIN = HOUR

/** Returns whether a component of a node started too often. `events`: its starts, unordered. */
export function startsAgain(events: readonly Pick<SuspectEvent, 'at'>[]): boolean {
  const times = [...new Set(events.map(({ at }) => at))].sort((a, b) => a - b)
  return times.some((at, index) => (times[index + STARTS - 1] ?? Number.POSITIVE_INFINITY) <= at + WITHIN)
}
