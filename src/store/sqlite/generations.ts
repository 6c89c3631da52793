/** A map of bounded size that forgets what is oldest, half of it at once: to look for the oldest takes longer the more it holds. */

export type Generations<Key, Value> = {
  readonly get: (key: Key) => Value | undefined
  /** What is set anew keeps its age. */
  readonly set: (key: Key, value: Value) => void
  readonly delete: (key: Key) => void
  readonly clear: () => void
}

/** Holds `most` entries at most, and the newest half of so many at least. */
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
      // Map.clear makes a new table, even of nothing.
      for (const map of [younger, older]) if (map.size > 0) map.clear()
    },
  }
}
