/** Finds the known name that a person probably meant by an unknown one. */
import { editDistance } from './suggestion.ts'

/** Allows one mistake for each so many letters of the shorter name. */
const LETTERS_PER_MISTAKE = 3
const MOST_MISTAKES = 2

/**
 * Returns the known name that was probably meant; null if the name is known or resembles none. A name that differs only
 * in capitals, `_` or `-` is a misspelling. Two swapped letters count as one mistake.
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

/** Returns how many letters may be wrong. Of a name of three letters, one may be missing. */
function mistakesIn(one: string, other: string): number {
  const [shorter, longer] = [Math.min(one.length, other.length), Math.max(one.length, other.length)]
  return longer === LETTERS_PER_MISTAKE ? 1 : Math.min(Math.floor(shorter / LETTERS_PER_MISTAKE), MOST_MISTAKES)
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}
