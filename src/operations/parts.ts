/** Deliveries of very many items, or very long ones: stored part by part, so that nobody else waits for all of them. */
import { unavailable } from './batch.ts'
import type { Delivery, Part, Receipt, Received } from './delivery.ts'

/** What is stored in a few dozen milliseconds: so many items, of so many bytes together. */
const PART_ITEMS = 250
const PART_BYTES = 1_048_576

/** What is only tried is one transaction, which is undone. */
export function isLarge({ intake: { accepted, rejected }, bytes = 0, dryRun }: Delivery, mostItems: number): boolean {
  const items = accepted.length + rejected.length
  return (items > mostItems || (bytes > PART_BYTES && items > 1)) && !dryRun
}

export type Line = {
  /** Resolves once all parts are on disk; of one that cannot be stored, those before it stay, and those behind are left. */
  readonly store: (delivery: Delivery) => Promise<Receipt>
  /** Those of which no part is stored yet. */
  readonly waiting: () => number
  /** Stores no more than the part that has begun; the rest is refused, and what comes. */
  readonly close: () => Promise<void>
}

/** Stores a part; `since`: when it began to wait. */
type StorePart = (part: Delivery, since: number) => Promise<Received>

/** Large deliveries, one after another: of the same sent twice at once the second must find what the first has stored. */
export function standInLine(storePart: StorePart, now: () => number): Line {
  let last = Promise.resolve()
  let waiting = 0
  let closed = false
  const nothing = () => {}
  const store: StorePart = (part, since) =>
    closed ? Promise.reject(unavailable('incmon is stopping', part)) : storePart(part, since)
  return {
    store: (delivery) => {
      waiting += 1
      // Of a store that is held each would else wait as long as the first did, one behind the other.
      const since = now()
      const stored = last.then(() => {
        waiting -= 1
        return storeInParts(delivery, (part) => store(part, part.part?.before ? now() : since))
      })
      last = stored.then(nothing, nothing)
      return stored
    },
    waiting: () => waiting,
    close: () => {
      closed = true
      return last
    },
  }
}

/** One part after another, each once the one before is on disk; what all of them together are answered. */
async function storeInParts(delivery: Delivery, store: (part: Delivery) => Promise<Received>): Promise<Receipt> {
  const { intake, bytes = 0 } = delivery
  const { accepted, rejected, group } = intake
  const items = Math.max(accepted.length, rejected.length)
  const step = Math.ceil(items / Math.max(items / PART_ITEMS, bytes / PART_BYTES))
  let before: Part['before'] = null
  for (let from = 0; ; from += step) {
    const to = from + step
    const own = { accepted: accepted.slice(from, to), rejected: rejected.slice(from, to), group }
    const isLast = to >= items
    const received = await store({ ...delivery, intake: own, part: { whole: intake, before, isLast } })
    // Answered by its Idempotency-Key, nothing of it is stored again.
    if (isLast || received.kind === 'repeated') return received.receipt
    before = received
  }
}
