/** Limits the memory of all pending request bodies: those being read, and those that wait for the disk. */

const MEBIBYTE = 1_048_576
/** The maximum size of all pending bodies together, in bytes. */
const MAX_BYTES = 32 * MEBIBYTE
/**
 * The maximum size of all bodies that are parsed at the same time, in bytes before parsing. A parsed body takes up to
 * fifteen times the memory of its bytes.
 */
const MAX_PARSED = 8 * MEBIBYTE
/**
 * Large bodies leave this many bytes for small bodies, so that a few senders of large bodies do not lock out all
 * others.
 */
const RESERVED_BYTES = 4 * MEBIBYTE
const SMALL_BYTES = 128 * 1024

export type PendingBodies = {
  /** Returns whether this many more bytes fit. */
  readonly fits: (bytes: number) => boolean
  /** Counts more bytes of a request. Returns false, without counting, if they are too many. */
  readonly add: (request: object, bytes: number) => boolean
  /** Releases the bytes of an answered request. */
  readonly release: (request: object) => void
  /** Runs `work`, which parses and stores a body, as soon as enough memory is free. */
  readonly whileParsed: <Result>(bytes: number, work: () => Promise<Result>) => Promise<Result>
}

/**
 * @param most the maximum bytes of all pending bodies
 * @param mostParsed the maximum bytes of all bodies being parsed; a single larger body is still accepted
 */
export function limitPendingBodies(most = MAX_BYTES, mostParsed = MAX_PARSED): PendingBodies {
  // A Map would keep many requests in memory: V8 keeps references to each replaced table and frees it only in a full
  // garbage collection.
  const held = new WeakMap<object, number>()
  let total = 0
  let parsed = 0
  const waiting: { readonly bytes: number; readonly start: () => void }[] = []
  const fits = (bytes: number) => total + bytes <= (bytes > SMALL_BYTES ? most - RESERVED_BYTES : most)
  /** Starts the oldest waiting bodies. Always starts one, even if it is larger than the limit. */
  const startWaiting = () => {
    for (let next = waiting[0]; next && (parsed === 0 || parsed + next.bytes <= mostParsed); next = waiting[0]) {
      waiting.shift()
      parsed += next.bytes
      next.start()
    }
  }
  return {
    fits,
    add: (request, bytes) => {
      const before = held.get(request) ?? 0
      total -= before
      const isAccepted = fits(before + bytes)
      total += isAccepted ? before + bytes : before
      if (!isAccepted) return false
      held.set(request, before + bytes)
      return true
    },
    release: (request) => {
      total -= held.get(request) ?? 0
      held.delete(request)
    },
    whileParsed: async (bytes, work) => {
      await new Promise<void>((start) => {
        waiting.push({ bytes, start })
        startWaiting()
      })
      try {
        return await work()
      } finally {
        parsed -= bytes
        startWaiting()
      }
    },
  }
}
