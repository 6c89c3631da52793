/** A map with limited size that drops the oldest half at once, because finding a single oldest entry is slower. */

export type Generations<Key, Value> = {
  readonly get: (key: Key) => Value | undefined
  /** Setting an existing key does not renew its age. */
  readonly set: (key: Key, value: Value) => void
  readonly delete: (key: Key) => void
  readonly clear: () => void
}

/** Returns a map with at most `most` entries. It always keeps the newest half of them. */
export function createGenerations<Key, Value>(most: number): Generations<Key, Value> {
  let younger = new Map<Key, Value>()
  let older = new Map<Key, Value>()
  return {
    get: (key) => {
      const value = younger.get(key)
      return value === undefined ? older.get(key) : value
    },
    set: (key, value) => {
      if (older.has(key)) return void older.set(key, value)
      if (younger.size >= most / 2 && !younger.has(key)) {
        older = younger
        younger = new Map()
      }
      younger.set(key, value)
    },
    delete: (key) => {
      if (!younger.delete(key)) older.delete(key)
    },
    clear: () => {
      // Map.clear creates a new table even if the map is empty.
      for (const map of [younger, older]) if (map.size > 0) map.clear()
    },
  }
}
