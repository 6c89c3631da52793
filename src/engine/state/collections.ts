/** Collections for the live state: maps whose changes can be undone until the batch is saved. */
import type { Rows } from './rows.ts'

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

type Undo = (key: never, value: never) => void

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

/** A map whose values are never modified in place. */
export type Table<Key, Value> = {
  readonly get: (key: Key) => Value | undefined
  readonly set: (key: Key, value: Value) => void
  /** Adds a row that is already saved. Not a change. */
  readonly load: (key: Key, value: Value) => void
  readonly delete: (key: Key) => void
  /** Removes all entries. A rollback does not restore these entries. */
  readonly clear: () => void
  readonly keys: () => IterableIterator<Key>
  readonly values: () => IterableIterator<Value>
  readonly size: () => number
}

/** @param name set if the table's changed rows are saved */
export function createTable<Key, Value>(journal: Journal, name?: keyof Rows): Table<Key, Value> {
  let map = new Map<Key, Value>()
  const restore = (key: Key, before: Value | undefined) => {
    if (before === undefined) map.delete(key)
    else map.set(key, before)
  }
  // A separate function, so that the loaded value counts as the value before the first change.
  const unload = (key: Key) => void map.delete(key)
  if (name) journal.track([restore, unload], { name, get: (key) => map.get(key) })
  return {
    get: (key) => map.get(key),
    load: (key, value) => {
      journal.record(unload as Undo, key as never, value as never)
      map.set(key, value)
    },
    set: (key, value) => {
      journal.record(restore as Undo, key as never, map.get(key) as never)
      map.set(key, value)
    },
    delete: (key) => {
      const before = map.get(key)
      if (before === undefined) return
      journal.record(restore as Undo, key as never, before as never)
      map.delete(key)
    },
    clear: () => {
      // V8 links an emptied Map's old table to the new one, which would keep the old entries in memory.
      if (map.size > 0) map = new Map()
    },
    keys: () => map.keys(),
    values: () => map.values(),
    size: () => map.size,
  }
}

/** A map from a key to a set of values. */
export type Index<Key, Value> = {
  readonly get: (key: Key) => ReadonlySet<Value>
  readonly add: (key: Key, value: Value) => void
  readonly remove: (key: Key, value: Value) => void
  readonly keys: () => IterableIterator<Key>
}

const NONE: ReadonlySet<never> = new Set()

export function createIndex<Key, Value>(journal: Journal): Index<Key, Value> {
  const map = new Map<Key, Set<Value>>()
  const put = (key: Key, value: Value) => {
    const values = map.get(key)
    if (values) values.add(value)
    else map.set(key, new Set([value]))
  }
  const drop = (key: Key, value: Value) => {
    const values = map.get(key)
    values?.delete(value)
    if (values?.size === 0) map.delete(key)
  }
  return {
    get: (key) => map.get(key) ?? NONE,
    add: (key, value) => {
      if (map.get(key)?.has(value)) return
      journal.record(drop as Undo, key as never, value as never)
      put(key, value)
    },
    remove: (key, value) => {
      if (!map.get(key)?.has(value)) return
      journal.record(put as Undo, key as never, value as never)
      drop(key, value)
    },
    keys: () => map.keys(),
  }
}

/** Finds records by name within a scope. A name can exist in several scopes. */
export type Names = {
  /** Returns the newest record with this name. */
  readonly get: (scope: string, name: string) => number | undefined
  /** Adds a name for a record, or updates the index after the record has become newer. */
  readonly add: (scope: string, name: string, rowId: number) => void
  readonly remove: (scope: string, name: string, rowId: number) => void
  readonly entries: () => Iterable<readonly [scope: string, name: string, rowId: number]>
}

/**
 * Each scope has its own table, so that the key can be the same string object as the name in the record. A combined key
 * would take 100 extra bytes per alert.
 * @param isNewer returns whether the first record is newer than the second
 */
export function createNames(journal: Journal, isNewer: (one: number, other: number) => boolean): Names {
  const scopes = new Map<string, Table<string, number>>()
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
    get: (scope, name) => scopes.get(scope)?.get(name),
    add: (scope, name, rowId) => {
      const table = tableOf(scope)
      const found = table.get(name)
      if (found === rowId) return
      if (found !== undefined) for (const one of [found, rowId]) sharing.add(`${scope}\0${name}`, one)
      if (found === undefined || isNewer(rowId, found)) table.set(name, rowId)
    },
    remove: (scope, name, rowId) => {
      const key = `${scope}\0${name}`
      sharing.remove(key, rowId)
      const table = tableOf(scope)
      if (table.get(name) !== rowId) return
      const next = newestOf(sharing.get(key))
      if (next === undefined) table.delete(name)
      else table.set(name, next)
    },
    entries: function* () {
      for (const [scope, table] of scopes) for (const name of table.keys()) yield [scope, name, table.get(name) ?? 0]
    },
  }
}

/** Row ids sorted by time and then by row id. */
export type Timeline = {
  readonly add: (time: number, rowId: number) => void
  readonly remove: (time: number, rowId: number) => void
  readonly size: () => number
  readonly at: (position: number) => number | undefined
  /** Returns the number of entries before a time. */
  readonly before: (time: number) => number
}

export function createTimeline(journal: Journal): Timeline {
  const times: number[] = []
  const rowIds: number[] = []
  const position = (time: number, rowId: number) => {
    let [low, high] = [0, times.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = times[middle] ?? 0
      if (at < time || (at === time && (rowIds[middle] ?? 0) < rowId)) low = middle + 1
      else high = middle
    }
    return low
  }
  const put = (time: number, rowId: number) => {
    const index = position(time, rowId)
    // New entries usually have the latest time and go to the end.
    if (index === times.length) {
      times.push(time)
      rowIds.push(rowId)
    } else {
      times.splice(index, 0, time)
      rowIds.splice(index, 0, rowId)
    }
  }
  const drop = (time: number, rowId: number) => {
    const index = position(time, rowId)
    times.splice(index, 1)
    rowIds.splice(index, 1)
  }
  return {
    add: (time, rowId) => {
      journal.record(drop as Undo, time as never, rowId as never)
      put(time, rowId)
    },
    remove: (time, rowId) => {
      journal.record(put as Undo, time as never, rowId as never)
      drop(time, rowId)
    },
    size: () => times.length,
    at: (index) => rowIds[index],
    before: (time) => position(time, -1),
  }
}
