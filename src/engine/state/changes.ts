/**
 * What a batch changed: the rows with their first and last values, as the journal recorded them, and what was appended.
 * Saving, notices and the undo all read the same journal.
 */

import type { Effect } from './effect.ts'
import type { Journal, Rows } from './journal.ts'

/** `before`: null if the record is new. `isGone`: whether the record has left the live state; `after` is its last value. */
export type RowChange<Live> = { readonly before: Live | null; readonly after: Live; readonly isGone: boolean }

export type Changes = {
  readonly rows: { readonly [Name in keyof Rows]: readonly RowChange<Rows[Name]>[] }
  /** Everything that was appended, in order. */
  readonly effects: readonly Effect[]
}

/** Returns the changes since the mark. */
export function changesSince(journal: Journal, mark: number, effects: readonly Effect[]): Changes {
  const rows = { services: [], alerts: [], incidents: [], senders: [], groups: [], silences: [] }
  const found: Record<keyof Rows, RowChange<never>[]> = rows
  for (const { name, before, last, now } of journal.rowsSince(mark)) {
    const after = (now ?? last) as never
    if (before !== after || now === undefined)
      found[name].push({ before: before as never, after, isGone: now === undefined })
  }
  return { rows, effects }
}

export function isEmpty({ rows, effects }: Changes): boolean {
  return effects.length === 0 && Object.values(rows).every((changes) => changes.length === 0)
}
