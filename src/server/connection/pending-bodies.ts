/** Limits the memory used by all pending request bodies. A pending body is being read or is waiting for the disk. */
import { BUDGETS } from '../../domain/budgets.ts'

const MEBIBYTE = 1_048_576
const MAX_BYTES = BUDGETS['pending-bodies'].value
/** Parsing takes up to fifteen times as much memory. */
const MAX_PARSED = BUDGETS['parsed-bodies'].value
/** Bytes reserved for small bodies, of all and of each organization, so that a few large bodies cannot lock out the others. */
const RESERVED_BYTES = 4 * MEBIBYTE
const SMALL_BYTES = 128 * 1024
/** The part of the memory that one organization can use, so that it cannot lock out the others. */
const SHARE = 0.75

export type PendingBodies = {
  /** Returns whether this many additional bytes are within the limits of all requests and of the organization. */
  readonly fits: (bytes: number, organizationId?: number) => boolean
  /** Counts additional bytes of a request. If the bytes exceed the limit, does not count them and returns false. */
  readonly add: (request: object, bytes: number, organizationId?: number) => boolean
  /** Releases the bytes of a request that has been answered. */
  readonly release: (request: object) => void
  /** Runs `work`, which parses and stores a body, when enough memory is free. Frees the bytes of the body afterwards. */
  readonly whileParsed: <Result>(body: Uint8Array, work: () => Promise<Result>) => Promise<Result>
}

/**
 * @param most the maximum size of all pending bodies in bytes
 * @param mostParsed the maximum size of all bodies being parsed; a single larger body is still accepted
 */
export function limitPendingBodies(most = MAX_BYTES, mostParsed = MAX_PARSED): PendingBodies {
  // A Map would retain many requests: when a Map grows, V8 keeps the old table until a full garbage collection.
  const held = new WeakMap<object, { readonly bytes: number; readonly organizationId: number | undefined }>()
  const shares = new Map<number | undefined, number>()
  let total = 0
  let parsed = 0
  const waiting: { readonly bytes: number; readonly start: () => void }[] = []
  const fits = (bytes: number, organizationId?: number) => {
    const share = shares.get(organizationId) ?? 0
    const ofOne = organizationId === undefined ? most : most * SHARE
    const reserved = bytes > SMALL_BYTES ? RESERVED_BYTES : 0
    return total + bytes <= most - reserved && share + bytes <= ofOne - reserved
  }
  /** Counts `bytes`, which can be negative. */
  const count = (bytes: number, organizationId: number | undefined) => {
    total += bytes
    const share = (shares.get(organizationId) ?? 0) + bytes
    if (share === 0) shares.delete(organizationId)
    else shares.set(organizationId, share)
  }
  /** Starts to parse the bodies that have waited longest. Always starts one body, even if it exceeds the limit. */
  const startWaiting = () => {
    for (let next = waiting[0]; next && (parsed === 0 || parsed + next.bytes <= mostParsed); next = waiting[0]) {
      waiting.shift()
      parsed += next.bytes
      next.start()
    }
  }
  return {
    fits,
    add: (request, bytes, organizationId) => {
      const before = held.get(request)?.bytes ?? 0
      count(-before, organizationId)
      const isAccepted = fits(before + bytes, organizationId)
      count(isAccepted ? before + bytes : before, organizationId)
      if (isAccepted) held.set(request, { bytes: before + bytes, organizationId })
      return isAccepted
    },
    release: (request) => {
      const { bytes, organizationId } = held.get(request) ?? { bytes: 0, organizationId: undefined }
      count(-bytes, organizationId)
      held.delete(request)
    },
    whileParsed: async (body, work) => {
      const bytes = body.length
      await new Promise<void>((start) => {
        waiting.push({ bytes, start })
        startWaiting()
      })
      try {
        return await work()
      } finally {
        freeBytes(body)
        parsed -= bytes
        startWaiting()
      }
    },
  }
}

/**
 * Frees the memory of bytes that are no longer needed. V8 collects buffers only when about 100 MB of them are unused.
 */
export function freeBytes({ buffer, length }: Uint8Array): void {
  // Small buffers share their memory with others.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}
