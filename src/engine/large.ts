/** Stores large deliveries in chunks so that other requests wait for at most one chunk. */

import { IncmonError } from '../domain/error.ts'
import type { Delivery, Received } from './changes/receive/delivery.ts'
import type { Receipt } from './changes/receive/receipt.ts'

/** The numbers of items in the smallest chunk, in the largest first one of a delivery, and in the largest one. */
const CHUNK_ITEMS = { least: 10, first: 100, most: 250 }
/**
 * How much processor time a chunk should take, in milliseconds. Items of new services take several times as long as
 * others.
 */
const CHUNK_MS = 20
const CHUNK_BYTES = 262_144

/**
 * Returns whether a delivery must be split into chunks. A dry run is never split, because a dry run is a single
 * transaction that is rolled back.
 */
export function isLarge({ intake: { accepted, rejected }, bytes = 0, dryRun }: Delivery, mostItems: number): boolean {
  const items = accepted.length + rejected.length
  return (items > mostItems || (bytes > CHUNK_BYTES && items > 1)) && !dryRun
}

/** Returns the error for a rejected delivery. The sender can safely retry because stored items are deduplicated. */
export function unavailable(why: string, delivery?: Delivery): IncmonError {
  const stored = delivery?.part?.before
    ? 'only part of this request was stored'
    : 'nothing from this request was stored'
  return new IncmonError('unavailable', `${why}: ${stored}, send it again`)
}

/** Stores a chunk. `since`: when the chunk was queued, as Unix time in milliseconds. */
type StoreChunk = (chunk: Delivery, since: number) => Promise<Received>

/**
 * Creates a queue that stores large deliveries one at a time. A duplicate delivery is therefore stored only after the
 * original delivery.
 * @param workedMs returns the processor time that the last chunk took, in milliseconds
 */
export function createLargeQueue(storeChunk: StoreChunk, now: () => number, workedMs: () => number) {
  let last = Promise.resolve()
  const pace = { first: CHUNK_ITEMS.least, workedMs }
  let pending = 0
  let closed = false
  const nothing = () => {}
  const store: StoreChunk = (chunk, since) =>
    closed ? Promise.reject(unavailable('incmon is stopping', chunk)) : storeChunk(chunk, since)
  return {
    /**
     * Resolves once all chunks are on disk. If a chunk fails, earlier chunks remain stored and later ones are not
     * attempted.
     */
    store: (delivery: Delivery) => {
      pending += 1
      // The retry timeout starts when the delivery is queued, so that the timeouts of queued deliveries do not add up.
      const since = now()
      const stored = last.then(() => {
        pending -= 1
        const storeNext = (chunk: Delivery) => store(chunk, chunk.part?.before ? now() : since)
        return storeInChunks(delivery, storeNext, pace)
      })
      last = stored.then(nothing, nothing)
      return stored
    },
    /** Returns the number of deliveries that are waiting for their turn. */
    pending: () => pending,
    /** Finishes the current chunk and rejects all other chunks. */
    close: () => {
      closed = true
      return last
    },
  }
}

/** `first`: the number of items in the first chunk of the next delivery: half of what the last chunk could have had. */
type Pace = { first: number; readonly workedMs: () => number }

/** Stores the chunks in order. Returns a single receipt for the whole delivery. */
async function storeInChunks(
  delivery: Delivery,
  store: (chunk: Delivery) => Promise<Received>,
  pace: Pace,
): Promise<Receipt> {
  const { intake, bytes = 0 } = delivery
  const { accepted, rejected, group } = intake
  const items = Math.max(accepted.length, rejected.length)
  const { least, first, most } = CHUNK_ITEMS
  const largest = Math.ceil(items / Math.max(items / most, bytes / CHUNK_BYTES))
  let before: NonNullable<Delivery['part']>['before'] = null
  let step = Math.min(pace.first, largest)
  for (let from = 0; ; ) {
    const to = Math.min(from + step, items)
    const own = { accepted: accepted.slice(from, to), rejected: rejected.slice(from, to), group }
    const isLast = to === items
    const received = await store({ ...delivery, intake: own, part: { whole: intake, before, isLast } })
    // At most twice as many as in the last chunk.
    const wanted = Math.max(Math.round((to - from) * Math.min(2, CHUNK_MS / pace.workedMs())), least)
    pace.first = Math.min(Math.max(Math.round(wanted / 2), least), first)
    // If the Idempotency-Key was already stored, nothing is left to store.
    if (isLast || received.kind === 'repeated') return received.receipt
    before = received
    from = to
    step = Math.min(wanted, largest)
  }
}

/** Measures the processor time of work, in milliseconds. Other programs on a busy machine do not change it. */
export function createStopwatch() {
  let lastMs = 0
  return {
    during: async <Result>(work: () => Promise<Result>): Promise<Result> => {
      const began = process.threadCpuUsage()
      try {
        return await work()
      } finally {
        const { user, system } = process.threadCpuUsage(began)
        lastMs = (user + system) / 1000
      }
    },
    lastMs: () => lastMs,
  }
}
