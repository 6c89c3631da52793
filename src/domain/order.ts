/** Sorts values deterministically. */

/** Sorts items by one or more keys. The first key that differs decides. Null sorts first. */
export function ordered<T>(
  items: readonly T[],
  keysOf: (item: T) => readonly (string | number | null)[],
): readonly T[] {
  return items
    .map((item) => ({ item, keys: keysOf(item) }))
    .sort((a, b) => compare(a.keys, b.keys))
    .map(({ item }) => item)
}

/** Removes duplicates and sorts by character code, regardless of the locale. */
export function distinct(names: readonly string[]): readonly string[] {
  return ordered([...new Set(names)], (name) => [name])
}

function compare(a: readonly (string | number | null)[], b: readonly (string | number | null)[]): number {
  // An iterator would be too slow, because an incident can have 10,000 alerts.
  for (let index = 0; index < a.length; index += 1) {
    const [left = null, right = null] = [a[index], b[index]]
    if (left === right) continue
    if (left === null || right === null) return left === null ? -1 : 1
    return left < right ? -1 : 1
  }
  return 0
}
