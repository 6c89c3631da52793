/** Stores large deliveries in chunks, so that other requests wait for one chunk at most. */
import type { Chunk, Delivery, Receipt, Received } from '../domain/decide/delivery.ts'
import { IncmonError } from '../domain/error.ts'

/** The maximum number of items in a chunk. One chunk is stored in a few dozen milliseconds. */
const CHUNK_ITEMS = 250
const CHUNK_BYTES = 1_048_576

/**
 * Returns whether a delivery is stored in chunks. A dry run is never stored in chunks, because it is one transaction
 * that is rolled back.
 */
export function isLarge({ intake: { accepted, rejected }, bytes = 0, dryRun }: Delivery, mostItems: number): boolean {
  const items = accepted.length + rejected.length
  return (items > mostItems || (bytes > CHUNK_BYTES && items > 1)) && !dryRun
}

/**
 * Returns the error for a rejected delivery. A retry is safe, because stored items are recognised and not stored twice.
 */
export function unavailable(why: string, delivery?: Delivery): IncmonError {
  const stored = delivery?.part?.before
    ? 'only a part of this request was stored'
    : 'nothing of this request was stored'
  return new IncmonError('unavailable', `${why}: ${stored}, send it again`)
}

export type LargeQueue = {
  /** Resolves once all chunks are on disk. If a chunk fails, earlier chunks stay stored and later ones are skipped. */
  readonly store: (delivery: Delivery) => Promise<Receipt>
  /** Returns the number of deliveries without a stored chunk. */
  readonly pending: () => number
  /** Finishes the current chunk, and rejects the remaining chunks and all new deliveries. */
  readonly close: () => Promise<void>
}

/** Stores a chunk. `since`: when the chunk was queued, in milliseconds UTC. */
type StoreChunk = (chunk: Delivery, since: number) => Promise<Received>

/**
 * Creates a queue that stores one large delivery at a time, so that a duplicate finds the items of the first delivery.
 */
export function createLargeQueue(storeChunk: StoreChunk, now: () => number): LargeQueue {
  let last = Promise.resolve()
  let pending = 0
  let closed = false
  const nothing = () => {}
  const store: StoreChunk = (chunk, since) =>
    closed ? Promise.reject(unavailable('incmon is stopping', chunk)) : storeChunk(chunk, since)
  return {
    store: (delivery) => {
      pending += 1
      // The time for retries starts here, while the delivery is queued. If it started later and the database was
      // locked, each delivery in the queue would wait as long as the first.
      const since = now()
      const stored = last.then(() => {
        pending -= 1
        return storeInChunks(delivery, (chunk) => store(chunk, chunk.part?.before ? now() : since))
      })
      last = stored.then(nothing, nothing)
      return stored
    },
    pending: () => pending,
    close: () => {
      closed = true
      return last
    },
  }
}

/** Stores the chunks of a delivery one after another. Returns one receipt for all chunks. */
async function storeInChunks(delivery: Delivery, store: (chunk: Delivery) => Promise<Received>): Promise<Receipt> {
  const { intake, bytes = 0 } = delivery
  const { accepted, rejected, group } = intake
  const items = Math.max(accepted.length, rejected.length)
  const step = Math.ceil(items / Math.max(items / CHUNK_ITEMS, bytes / CHUNK_BYTES))
  let before: Chunk['before'] = null
  for (let from = 0; ; from += step) {
    const to = from + step
    const own = { accepted: accepted.slice(from, to), rejected: rejected.slice(from, to), group }
    const isLast = to >= items
    const received = await store({ ...delivery, intake: own, part: { whole: intake, before, isLast } })
    // A delivery that is answered from its Idempotency-Key is not stored again.
    if (isLast || received.kind === 'repeated') return received.receipt
    before = received
  }
}
