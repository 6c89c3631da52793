/** Caches parsed requests, because senders often repeat the same bytes. */
import { crc32 } from 'node:zlib'
import type { Draft, Intake } from '../domain/event/event.ts'

export type Recent = {
  /** Returns the cached result for the same bytes from the same sender, or null if the result differs at `now`. */
  readonly find: (sender: string, bytes: Uint8Array, now: number) => Intake | null
  /** Caches a result unless it depends on the time of receipt. */
  readonly keep: (sender: string, bytes: Uint8Array, intake: Intake, receivedAt: number) => void
}

/** `until`: when the first alert of the body expires, in ms UTC. */
type Entry = { readonly bytes: Uint8Array; readonly intake: Intake; readonly until: number }

/**
 * The maximum total size of all cached bodies, and the maximum size of a cached body. The drafts of a body take about
 * five times as much memory as the body, and at most twenty times as much.
 */
const CACHE_LIMIT_BYTES = 2 * 1024 * 1024
const BODY_LIMIT_BYTES = 128 * 1024

export function createRecent(): Recent {
  // The checksum used as the key is fast but not unique, so the bytes are compared as well.
  const bySender = new Map<string, Map<number, Entry>>()
  let length = 0
  return {
    find: (sender, bytes, now) => {
      const found = bySender.get(sender)?.get(crc32(bytes))
      return found && now < found.until && Buffer.compare(found.bytes, bytes) === 0 ? found.intake : null
    },
    keep: (sender, bytes, intake, receivedAt) => {
      if (bytes.length > BODY_LIMIT_BYTES || !isIndependentOfReceipt(intake, receivedAt)) return
      if (length + bytes.length > CACHE_LIMIT_BYTES) {
        bySender.clear()
        length = 0
      }
      const entries = bySender.get(sender) ?? new Map<number, Entry>()
      const checksum = crc32(bytes)
      length += bytes.length - (entries.get(checksum)?.bytes.length ?? 0)
      // Copies the bytes, because a view would keep the whole socket buffer in memory.
      bySender.set(sender, entries.set(checksum, { bytes: Uint8Array.from(bytes), intake, until: untilOf(intake) }))
    },
  }
}

function untilOf({ accepted }: Intake): number {
  return accepted.reduce((until, { draft }) => Math.min(until, expiryOf(draft)), Number.POSITIVE_INFINITY)
}

function expiryOf(draft: Draft): number {
  return 'expiry' in draft && draft.expiry && 'at' in draft.expiry ? draft.expiry.at : Number.POSITIVE_INFINITY
}

/**
 * Missing and future times are replaced by the time of receipt, so a result that contains this time must not be cached.
 */
function isIndependentOfReceipt({ accepted, rejected }: Intake, receivedAt: number): boolean {
  return (
    rejected.length === 0 &&
    accepted.every(({ draft }) => {
      if (draft.source !== 'metrics' && draft.source !== 'dashboard') return false
      return draft.startsAt < receivedAt && draft.at < receivedAt && (draft.endsAt ?? 0) < receivedAt
    })
  )
}
