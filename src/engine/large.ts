/** Large deliveries: stored in chunks, so that nobody else waits for all of one. */
import type { Delivery, Part, Receipt, Received } from '../domain/decide/delivery.ts'
import { IncmonError } from '../domain/error.ts'

/** What is stored in a few dozen milliseconds: so many items, of so many bytes together. */
const CHUNK_ITEMS = 250
const CHUNK_BYTES = 1_048_576

/** A dry run is one transaction, which is undone. */
export function isLarge({ intake: { accepted, rejected }, bytes = 0, dryRun }: Delivery, mostItems: number): boolean {
  const items = accepted.length + rejected.length
  return (items > mostItems || (bytes > CHUNK_BYTES && items > 1)) && !dryRun
}

/** What is sent again is recognised by its identity: nothing of the chunks that are stored is stored twice. */
export function unavailable(why: string, { part }: Delivery): IncmonError {
  const stored = part?.before ? 'only a part of this request was stored' : 'nothing of this request was stored'
  return new IncmonError('unavailable', `${why}: ${stored}, send it again`)
}

export type LargeQueue = {
  /** Resolves once all chunks are on disk. If one cannot be stored, those before it stay, and those after it are left out. */
  readonly store: (delivery: Delivery) => Promise<Receipt>
  /** Deliveries of which no chunk is stored yet. */
  readonly pending: () => number
  /** Stores no more than the chunk that has begun; the rest is refused, and what comes. */
  readonly close: () => Promise<void>
}

/** Stores a chunk; `since`: when it began to wait. */
type StoreChunk = (chunk: Delivery, since: number) => Promise<Received>

/** Large deliveries, one after another: if the same is sent twice at once, the second must find what the first has stored. */
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
      // While the database is locked, each would otherwise wait as long as the first did, one after another.
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

/** One chunk after another, each once the one before is on disk; the answer to all of them together. */
async function storeInChunks(delivery: Delivery, store: (chunk: Delivery) => Promise<Received>): Promise<Receipt> {
  const { intake, bytes = 0 } = delivery
  const { accepted, rejected, group } = intake
  const items = Math.max(accepted.length, rejected.length)
  const step = Math.ceil(items / Math.max(items / CHUNK_ITEMS, bytes / CHUNK_BYTES))
  let before: Part['before'] = null
  for (let from = 0; ; from += step) {
    const to = from + step
    const own = { accepted: accepted.slice(from, to), rejected: rejected.slice(from, to), group }
    const isLast = to >= items
    const received = await store({ ...delivery, intake: own, part: { whole: intake, before, isLast } })
    // If it is answered by its Idempotency-Key, nothing of it is stored again.
    if (isLast || received.kind === 'repeated') return received.receipt
    before = received
  }
}
