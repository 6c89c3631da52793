/** The memory of all pending request bodies together: those that are being read, and those that wait for the disk. */

const MEBIBYTE = 1_048_576
/** In bytes. */
const MAX_BYTES = 32 * MEBIBYTE
/** In bytes of the bodies before parsing. A parsed body takes up to fifteen times the memory of its bytes. */
const MAX_PARSED = 8 * MEBIBYTE

export type PendingBodies = {
  /** Whether so many more bytes can be held. */
  readonly fits: (bytes: number) => boolean
  /** Counts more bytes of a request. Returns false, and counts nothing, if they are too many. */
  readonly add: (request: object, bytes: number) => boolean
  /** Forgets a request that was answered. */
  readonly release: (request: object) => void
  /** Runs `work`, which parses and stores a body, once the bodies parsed before it leave enough memory. */
  readonly whileParsed: <Result>(bytes: number, work: () => Promise<Result>) => Promise<Result>
}

/** @param most the bytes of all pending bodies together; @param mostParsed of those that are parsed, if more than one is */
export function limitPendingBodies(most = MAX_BYTES, mostParsed = MAX_PARSED): PendingBodies {
  // A Map would keep many requests alive: V8 links each table that it replaces, and finds that out only in a full collection.
  const held = new WeakMap<object, number>()
  let total = 0
  let parsed = 0
  const waiting: { readonly bytes: number; readonly start: () => void }[] = []
  const fits = (bytes: number) => total + bytes <= most
  /** Starts those that have waited longest. One is started even if it is larger than the limit. */
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
      if (!fits(bytes)) return false
      total += bytes
      held.set(request, (held.get(request) ?? 0) + bytes)
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
