/** The journal of a batch: the tables whose rows are saved, the first value of each changed row, and how to undo. */
import type { LiveAlert } from '../../domain/alert/alert.ts'
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
type Rows = {
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

// Collections for the live state, whose changes the journal notes.

/** Creates a map whose values are never modified in place. @param name set if the table's changed rows are saved */
export function createTable<Key, Value>(journal: Journal, name?: keyof Rows) {
  let map = new Map<Key, Value>()
  const restore = (key: Key, before: Value | undefined) => {
    if (before === undefined) map.delete(key)
    else map.set(key, before)
  }
  // A separate function, so that the loaded value counts as the value before the first change.
  const unload = (key: Key) => void map.delete(key)
  if (name) journal.track([restore, unload], { name, get: (key) => map.get(key) })
  return {
    get: (key: Key) => map.get(key),
    /** Adds a row that is already saved. Not a change. */
    load: (key: Key, value: Value) => {
      journal.record(unload as Undo, key as never, value as never)
      map.set(key, value)
    },
    set: (key: Key, value: Value) => {
      if (!journal.isPaused()) journal.record(restore as Undo, key as never, map.get(key) as never)
      map.set(key, value)
    },
    delete: (key: Key) => {
      const before = map.get(key)
      if (before === undefined) return
      journal.record(restore as Undo, key as never, before as never)
      map.delete(key)
    },
    /** Removes all entries. A rollback does not restore these entries. */
    clear: () => {
      // V8 links an emptied Map's old table to the new one, which would keep the old entries in memory.
      if (map.size > 0) map = new Map()
    },
    keys: () => map.keys(),
    values: () => map.values(),
    size: () => map.size,
  }
}

const NONE: ReadonlySet<never> = new Set()

/** Creates a map from a key to a set of values. */
export function createIndex<Key, Value>(journal: Journal) {
  const map = new Map<Key, Set<Value>>()
  const put = (key: Key, value: Value, values = map.get(key)) => {
    if (values) values.add(value)
    else map.set(key, new Set([value]))
  }
  const drop = (key: Key, value: Value) => {
    const values = map.get(key)
    values?.delete(value)
    if (values?.size === 0) map.delete(key)
  }
  return {
    get: (key: Key): ReadonlySet<Value> => map.get(key) ?? NONE,
    add: (key: Key, value: Value) => {
      const values = map.get(key)
      if (values?.has(value)) return
      journal.record(drop as Undo, key as never, value as never)
      put(key, value, values)
    },
    remove: (key: Key, value: Value) => {
      if (!map.get(key)?.has(value)) return
      journal.record(put as Undo, key as never, value as never)
      drop(key, value)
    },
    keys: () => map.keys(),
  }
}

/**
 * Creates an index that finds records by name within a scope. A name can exist in several scopes. Each scope has its own
 * table, so that the key can be the same string object as the name in the record. A combined key would take 100 extra
 * bytes per alert.
 * @param isNewer returns whether the first record is newer than the second
 */
export function createNames(journal: Journal, isNewer: (one: number, other: number) => boolean) {
  const scopes = new Map<string, ReturnType<typeof createTable<string, number>>>()
  /** The records that share their name with another record, by name. */
  const sharing = createIndex<string, number>(journal)
  const tableOf = (scope: string) => {
    const known = scopes.get(scope)
    if (known) return known
    const table = createTable<string, number>(journal)
    scopes.set(scope, table)
    return table
  }
  const newestOf = (rowIds: ReadonlySet<number>) =>
    [...rowIds].reduce<number | undefined>((a, b) => (a === undefined || isNewer(b, a) ? b : a), undefined)
  return {
    /** Returns the newest record with this name. */
    get: (scope: string, name: string) => scopes.get(scope)?.get(name),
    /** Returns all records with this name, newest first. */
    all: (scope: string, name: string): readonly number[] => {
      const newest = scopes.get(scope)?.get(name)
      if (newest === undefined) return []
      const others = sharing.get(`${scope}\0${name}`)
      return others.size < 2 ? [newest] : [...others].sort((a, b) => (isNewer(a, b) ? -1 : 1))
    },
    /** Adds a name for a record, or updates the index after the record has become newer. */
    add: (scope: string, name: string, rowId: number) => {
      const table = tableOf(scope)
      const found = table.get(name)
      if (found === rowId) return
      if (found !== undefined) for (const one of [found, rowId]) sharing.add(`${scope}\0${name}`, one)
      if (found === undefined || isNewer(rowId, found)) table.set(name, rowId)
    },
    remove: (scope: string, name: string, rowId: number) => {
      const key = `${scope}\0${name}`
      sharing.remove(key, rowId)
      const table = tableOf(scope)
      if (table.get(name) !== rowId) return
      const next = newestOf(sharing.get(key))
      if (next === undefined) table.delete(name)
      else table.set(name, next)
    },
    entries: function* (): Generator<readonly [scope: string, name: string, rowId: number]> {
      for (const [scope, table] of scopes) for (const name of table.keys()) yield [scope, name, table.get(name) ?? 0]
    },
  }
}
