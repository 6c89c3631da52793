/** Learns the error of a sender's clock from the times in the sender's items, and corrects those times. */

import type { Draft, Source } from '../event/event.ts'
import { MINUTE } from '../units.ts'

/**
 * Nothing is sent before it happens, so a time in the future proves that the sender's clock is ahead. Correct clocks
 * differ by seconds.
 */
const AHEAD = 2 * MINUTE
/** An item can be late for many reasons. Only a constant delay of this size indicates a wrong clock. */
const BEHIND = 30 * MINUTE
/** Offsets that differ by less than this are treated as equal, because delivery times vary. */
const SAME = 2 * MINUTE
/** At least `READINGS` consecutive readings over a period of at least `SPAN` must agree. */
const READINGS = 5
const SPAN = 10 * MINUTE
const READINGS_TO_DROP = 3
/** Local times differ from UTC by at most 14 hours. A larger offset is an error in the item, not a wrong time zone. */
const MAX_OFFSET = 14 * 60 * MINUTE + AHEAD

/**
 * A sender's clock. Offsets are in ms, positive if the clock is ahead. The last `count` readings agree on `candidate`.
 */
export type Clock = {
  /** The offset to subtract from the sender's times. */
  readonly offset: number
  readonly candidate: number
  readonly count: number
  /** When the first reading that agrees with `candidate` was taken, in ms UTC. */
  readonly since: number
}

/**
 * Returns the clock after another reading, or null if the clock is right. Only a constant offset counts, because
 * offsets vary in a backlog or if only one of several nodes has a wrong clock.
 * @param difference the newest time in a delivery minus the time of receipt, in ms
 */
export function withReading(before: Clock | null, difference: number, receivedAt: number): Clock | null {
  if (Math.abs(difference) > MAX_OFFSET) return before
  const reading = difference > AHEAD || difference < -BEHIND ? difference : 0
  if (!before && reading === 0) return null
  const clock = before ?? { offset: 0, candidate: 0, count: 0, since: receivedAt }
  const isSame = clock.count > 0 && Math.abs(reading - clock.candidate) <= SAME
  const next = isSame
    ? { ...clock, candidate: reading === 0 ? 0 : Math.max(clock.candidate, reading), count: clock.count + 1 }
    : { ...clock, candidate: reading, count: 1, since: receivedAt }
  const isLong = next.count >= READINGS && receivedAt - next.since >= SPAN
  // A clock that is behind never produces items with the current time. A few readings with the current time are
  // therefore enough to drop the offset.
  const isCertain = isLong || (next.offset < 0 && next.candidate === 0 && next.count >= READINGS_TO_DROP)
  const settled = isCertain ? { ...next, offset: next.candidate } : next
  const count = Math.min(settled.count, READINGS)
  return settled.offset === 0 && settled.candidate === 0 ? null : { ...settled, count }
}

/** An Alertmanager or Grafana delivery with only older times is a repeat and is no evidence about the clock. */
const FRESH = 5 * MINUTE

/**
 * Returns the newest time in these drafts minus the time of receipt, in ms, or null if the drafts are no evidence about
 * the clock.
 */
export function readingOf(drafts: readonly Draft[], receivedAt: number): number | null {
  let newest: number | null = null
  for (const draft of drafts) {
    const difference = draft.source === 'ci' ? null : (draft.sent?.at ?? draft.at) - receivedAt
    if (difference === null || (draft.source !== 'cluster' && difference < -FRESH)) continue
    newest = newest === null ? difference : Math.max(newest, difference)
  }
  return newest
}

/**
 * Returns the offset to correct in one delivery, in ms. An exporter sends events from many nodes with different clocks,
 * so a correction never moves an event to a time before its receipt. Alertmanager and Grafana repeat old alerts, so a
 * single delivery does not show how far ahead their clock is. For these two senders, the learned offset is used.
 * @param reading the result of `readingOf` for this delivery
 */
export function offsetIn(clock: Clock | null, source: Source, reading: number | null): number {
  const offset = clock?.offset ?? 0
  return offset <= 0 || source !== 'cluster' ? offset : Math.min(offset, Math.max(0, reading ?? 0))
}

/**
 * Corrects a draft's times by the clock offset. Times after the time of receipt are replaced by the time of receipt.
 */
export function corrected<Of extends Draft>(draft: Of, offset: number, receivedAt: number): Of {
  if (offset === 0 || draft.source === 'ci') return draft
  const sent = draft.sent ?? draft
  const at = Math.min(sent.at - offset, receivedAt)
  const startsAt = Math.min(sent.startsAt - offset, at)
  if (draft.source === 'cluster') return { ...draft, at, startsAt }
  const isStartUnknown = draft.isStartUnknown && !(draft.sent && startsAt < receivedAt)
  return { ...draft, at, startsAt, isStartUnknown, endsAt: draft.endsAt === null ? null : at }
}
