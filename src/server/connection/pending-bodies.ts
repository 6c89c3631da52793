/** The memory of all pending request bodies together: those that are being read, and those that wait for the disk. */

/** In bytes. A parsed body takes up to fifteen times the memory of its bytes. */
const MAX_BYTES = 32 * 1_048_576

export type PendingBodies = {
  /** Whether so many more bytes can be held. */
  readonly fits: (bytes: number) => boolean
  /** Counts more bytes of a request. Returns false, and counts nothing, if they are too many. */
  readonly add: (request: object, bytes: number) => boolean
  /** Forgets a request that was answered. */
  readonly release: (request: object) => void
}

/** @param most the bytes of all pending bodies together */
export function limitPendingBodies(most = MAX_BYTES): PendingBodies {
  // A Map would keep many requests alive: V8 links each table that it replaces, and finds that out only in a full collection.
  const held = new WeakMap<object, number>()
  let total = 0
  const fits = (bytes: number) => total + bytes <= most
  return {
    fits,
    add: (request, bytes) => {
      if (!fits(bytes)) return false
      total += bytes
      held.set(request, (held.get(request) ?? 0) + bytes)
      return true
    },
    release: (request) => {
      total -= held.get(request) ?? 0
      held.delete(request)
    },
  }
}
