/** The journal of a batch: the tables whose rows are saved, the first value of each changed row, and how to undo. */
import type { LiveAlert } from '../../domain/alert/live-alert.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { LiveGroup, LiveSender } from '../../domain/sender/sender.ts'
import type { LiveSilence } from '../../domain/silence/silence.ts'
import type { Effect } from './effect.ts'

/** Records changes, so that they can be undone or saved. */
export type Journal = {
  /** Returns the current position in the journal. */
  readonly mark: () => number
  /** Undoes every change since the mark, newest first. */
  readonly rollback: (mark: number) => void
  /** Clears the journal once its changes are saved. */
  readonly clear: () => void
  /** Runs `work` without recording its changes, so they cannot be undone. */
  readonly pause: (work: () => void) => void
  readonly isPaused: () => boolean
  readonly record: (undo: Undo, key: never, value: never) => void
  /** Makes `rowsSince` report the entries that these functions undo. */
  readonly track: (undos: readonly Undo[], table: Tracked) => void
  /** Returns each changed row of the tracked tables once, with its values before the first and the last change. */
  readonly rowsSince: (mark: number) => Iterable<JournaledRow>
}

type Tracked = { readonly name: keyof Rows; readonly get: (key: never) => unknown }
/** `now`: undefined if the row was deleted. `last`: the value before the last change that replaced or deleted one. */
type JournaledRow = {
  readonly name: keyof Rows
  readonly before: unknown
  readonly last: unknown
  readonly now: unknown
}

export type Undo = (key: never, value: never) => void

export function createJournal(): Journal {
  // Each change is stored as three entries. A closure for each change would create garbage for every alert.
  let entries: unknown[] = []
  let length = 0
  let isPaused = false
  const tracked = new Map<unknown, Tracked>()

  function* rowsSince(mark: number): Generator<JournaledRow> {
    const byTable = new Map<Tracked, Map<unknown, { readonly before: unknown; last: unknown }>>()
    for (let index = mark; index < length; index += 3) {
      const table = tracked.get(entries[index])
      if (!table) continue
      const [key, value] = [entries[index + 1], entries[index + 2]]
      const rows = byTable.get(table) ?? new Map<unknown, { readonly before: unknown; last: unknown }>()
      byTable.set(table, rows)
      const row = rows.get(key)
      if (!row) rows.set(key, { before: value ?? null, last: value })
      else if (value !== undefined) row.last = value
    }
    for (const [table, rows] of byTable) {
      for (const [key, row] of rows) yield { name: table.name, ...row, now: table.get(key as never) }
    }
  }
  return {
    rowsSince,
    track: (undos, table) => {
      for (const undo of undos) tracked.set(undo, table)
    },
    mark: () => length,
    rollback: (mark) => {
      while (length > mark) {
        length -= 3
        const [undo, key, value] = entries.slice(length, length + 3) as [Undo, never, never]
        undo(key, value)
      }
    },
    clear: () => {
      // Allocates as many entries as this batch needed, because V8 copies an array whenever it grows.
      if (length > 0) entries = new Array(length)
      length = 0
    },
    isPaused: () => isPaused,
    pause: (work) => {
      isPaused = true
      try {
        work()
      } finally {
        isPaused = false
      }
    },
    record: (undo, key, value) => {
      if (isPaused) return
      entries[length] = undo
      entries[length + 1] = key
      entries[length + 2] = value
      length += 3
    },
  }
}

/** The tables of the live state whose changed rows are saved. */
export type Rows = {
  readonly services: LiveService
  readonly alerts: LiveAlert
  readonly incidents: LiveIncident
  readonly senders: LiveSender
  readonly groups: LiveGroup
  readonly silences: { readonly silence: LiveSilence }
}

// What a batch changed: the rows with their first and last values, as the journal recorded them, and what was appended.
// Saving, notices and the undo all read the same journal.

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
