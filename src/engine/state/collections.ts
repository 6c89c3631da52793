/** Collections for the live state: maps whose changes can be undone until the batch is saved. */

import type { Journal, Rows, Undo } from './journal.ts'

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
