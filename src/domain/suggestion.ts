/** Suggests the known name that is closest to an unknown one. */

/** Returns a suggestion and the list of known names. */
export function suggestion(wrong: string, known: readonly string[]): string {
  const ranked = known.map((name) => ({ name, distance: editDistance(wrong.toLowerCase(), name.toLowerCase()) }))
  const [nearest] = ranked.sort((a, b) => a.distance - b.distance)
  const isNear = nearest && nearest.distance <= Math.max(2, wrong.length / 3)
  return `${isNear ? `did you mean ${nearest.name}? ` : ''}known are ${known.join(', ')}`
}

/** The Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, left] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, right] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (left === right ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
