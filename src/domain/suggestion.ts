/** Suggests the closest known name for an unknown name. */

/** Returns a suggestion, followed by the list of known names. */
export function suggestion(wrong: string, known: readonly string[]): string {
  const ranked = known.map((name) => ({ name, distance: editDistance(wrong.toLowerCase(), name.toLowerCase()) }))
  const [nearest] = ranked.sort((a, b) => a.distance - b.distance)
  const isNear = nearest && nearest.distance <= Math.max(2, wrong.length / 3)
  return `${isNear ? `did you mean ${nearest.name}? ` : ''}choose one of ${known.join(', ')}`
}

/** Returns the edit distance, counting two transposed letters as one edit. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j += 1) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1)
      const isExchanged = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j]
      const exchanged = isExchanged ? (before[j - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(replaced, exchanged, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row.at(-1) ?? 0
}

/** The shorter name must have this many letters per allowed mistake. */
const LETTERS_PER_MISTAKE = 3
const MOST_MISTAKES = 2

/**
 * Returns the known name that was probably meant, or null if the name is known or resembles none. Differences in case,
 * `_` or `-` are always a misspelling. Two transposed letters count as one mistake.
 */
export function misspelled(name: string, known: readonly string[]): string | null {
  if (known.includes(name) || name.length > 64) return null
  const same = known.find((one) => plain(one) === plain(name))
  if (same !== undefined) return same
  const near = known
    .map((one) => ({ one, distance: editDistance(plain(name), plain(one)) }))
    .filter(({ one, distance }) => distance <= mistakesIn(one, name))
    .sort((a, b) => a.distance - b.distance)
  return near[0]?.one ?? null
}

/** Returns how many letters can be wrong. A three-letter name may be missing one letter. */
function mistakesIn(one: string, other: string): number {
  const [shorter, longer] = [Math.min(one.length, other.length), Math.max(one.length, other.length)]
  return longer === LETTERS_PER_MISTAKE ? 1 : Math.min(Math.floor(shorter / LETTERS_PER_MISTAKE), MOST_MISTAKES)
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}
