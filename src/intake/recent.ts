/** Recent intakes: a sender repeats what has not changed byte for byte, and then it need not be read again. */
import type { Intake } from '../domain/event.ts'

export type Recent = {
  /** What this text of this sender was read as; null where that is not remembered. */
  readonly find: (sender: string, text: string) => Intake | null
  /** Remembers an intake of `receivedAt`, unless it would be another at another time. */
  readonly keep: (sender: string, text: string, intake: Intake, receivedAt: number) => void
}

/** Characters of all the texts together, and of one; drafts take five times as much, twenty times of a hostile one. */
const MOST = 2 * 1024 * 1024
const LONGEST = 128 * 1024

export function createRecent(): Recent {
  const known = new Map<string, Map<string, Intake>>()
  let length = 0
  return {
    find: (sender, text) => known.get(sender)?.get(text) ?? null,
    keep: (sender, text, intake, receivedAt) => {
      if (text.length > LONGEST || !isTimeless(intake, receivedAt)) return
      if (length + text.length > MOST) {
        known.clear()
        length = 0
      }
      const ofSender = known.get(sender) ?? new Map<string, Intake>()
      known.set(sender, ofSender.set(text, intake))
      length += text.length
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
