/** Changes the order in which deliveries arrive, like a network can. The same seed gives the same order. */
import type { Delivery } from './deliveries.ts'

/** Shuffled deliveries are received within this many minutes of the last delivery's time. */
const RECEIVED_WITHIN = 3

/**
 * Returns the deliveries in a different order. If none of them has to arrive on time, all are received shortly after
 * the last one was sent. Otherwise, the others arrive at any time between when they were sent and the last one's time.
 */
export function received(all: readonly Delivery[], seed: number): Delivery[] {
  const random = randomFrom(seed)
  const last = Math.max(...all.map(({ at }) => at))
  const fixed = all.filter(({ onTime }) => onTime)
  if (fixed.length > 0) {
    const free = all.filter(({ onTime }) => !onTime).map((one) => ({ ...one, at: one.at + random() * (last - one.at) }))
    return [...fixed, ...free].sort((a, b) => a.at - b.at)
  }
  const mixed = inQueues(shuffled(all, random), all)
  const order = [...mixed.filter(({ longBefore }) => longBefore), ...mixed.filter(({ longBefore }) => !longBefore)]
  return order.map((one, index) => ({ ...one, at: last + ((index + 1) * RECEIVED_WITHIN) / order.length }))
}

/** Fills the positions assigned to each queue's deliveries in the order in which they were sent. */
function inQueues(order: readonly Delivery[], sent: readonly Delivery[]): Delivery[] {
  const queues = new Map<string, Delivery[]>()
  for (const one of sent) if (one.queue) queues.set(one.queue, [...(queues.get(one.queue) ?? []), one])
  return order.map((one) => (one.queue && queues.get(one.queue)?.shift()) || one)
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
}

/** Mulberry32: the same seed gives the same order on every machine. */
export function randomFrom(seed: number): () => number {
  let state = seed * 0x9e3779b9
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
