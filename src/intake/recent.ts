/** Recent intakes: a sender repeats what has not changed byte for byte, and then it need not be read again. */
import { crc32 } from 'node:zlib'
import type { Intake } from '../domain/event/event.ts'

export type Recent = {
  /** What these bytes of this sender were read as; null where that is not remembered. */
  readonly find: (sender: string, bytes: Uint8Array) => Intake | null
  /** Remembers an intake of `receivedAt`, unless it would be another at another time. */
  readonly keep: (sender: string, bytes: Uint8Array, intake: Intake, receivedAt: number) => void
}

type Known = { readonly bytes: Uint8Array; readonly intake: Intake }

/** Bytes of all bodies together, and of one; drafts take five times as much, twenty times of a hostile one. */
const MOST = 2 * 1024 * 1024
const LONGEST = 128 * 1024

export function createRecent(): Recent {
  // By a checksum, which is quick to take and proves nothing: the bytes themselves are compared.
  const known = new Map<string, Map<number, Known>>()
  let length = 0
  return {
    find: (sender, bytes) => {
      const found = known.get(sender)?.get(crc32(bytes))
      return found && Buffer.compare(found.bytes, bytes) === 0 ? found.intake : null
    },
    keep: (sender, bytes, intake, receivedAt) => {
      if (bytes.length > LONGEST || !isTimeless(intake, receivedAt)) return
      if (length + bytes.length > MOST) {
        known.clear()
        length = 0
      }
      const ofSender = known.get(sender) ?? new Map<number, Known>()
      const checksum = crc32(bytes)
      length += bytes.length - (ofSender.get(checksum)?.bytes.length ?? 0)
      // A copy: what came from a socket is a window into more that would stay with it.
      known.set(sender, ofSender.set(checksum, { bytes: Uint8Array.from(bytes), intake }))
    },
  }
}

/** No time of it is that of its receipt, which stands in for a missing time or one in the future. */
function isTimeless({ accepted, rejected }: Intake, receivedAt: number): boolean {
  return (
    rejected.length === 0 &&
    accepted.every(({ draft }) => {
      if (draft.source !== 'metrics' && draft.source !== 'dashboard') return false
      return draft.startsAt < receivedAt && draft.at < receivedAt && (draft.endsAt ?? 0) < receivedAt
    })
  )
}
