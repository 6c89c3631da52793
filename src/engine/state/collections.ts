/** Collections for the live state: maps whose changes can be undone until the batch is saved. */

import type { Journal, Rows, Undo } from './journal.ts'

/** A map whose values are never modified in place. */
type Table<Key, Value> = {
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
      if (!journal.isPaused()) journal.record(restore as Undo, key as never, map.get(key) as never)
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
type Index<Key, Value> = {
  readonly get: (key: Key) => ReadonlySet<Value>
  readonly add: (key: Key, value: Value) => void
  readonly remove: (key: Key, value: Value) => void
  readonly keys: () => IterableIterator<Key>
}

const NONE: ReadonlySet<never> = new Set()

export function createIndex<Key, Value>(journal: Journal): Index<Key, Value> {
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
    get: (key) => map.get(key) ?? NONE,
    add: (key, value) => {
      const values = map.get(key)
      if (values?.has(value)) return
      journal.record(drop as Undo, key as never, value as never)
      put(key, value, values)
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
  /** Returns all records with this name, newest first. */
  readonly all: (scope: string, name: string) => readonly number[]
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
    all: (scope, name) => {
      const newest = scopes.get(scope)?.get(name)
      if (newest === undefined) return []
      const others = sharing.get(`${scope}\0${name}`)
      return others.size < 2 ? [newest] : [...others].sort((a, b) => (isNewer(a, b) ? -1 : 1))
    },
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
