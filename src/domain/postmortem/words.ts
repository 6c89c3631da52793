/** The words of a postmortem: times, durations, counts and lists as people read them, and one order for everything. */
import type { ServiceFact } from './facts.ts'

const LISTED = 8

/** `2026-03-14 02:11:09 UTC`; parts of a second are cut. @throws RangeError where `ms` is no time */
export function shownTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** `1 h 5 min 12 s`, `2 d 3 s`, `0 s`: parts that are nought are left out. `seconds` is a whole number, not negative. */
export function shownDuration(seconds: number): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const shown = parts.filter(([value]) => value > 0).map(([value, unit]) => `${value} ${unit}`)
  return shown.length > 0 ? shown.join(' ') : '0 s'
}

/** Whole seconds between two times as `shownTime` writes them, so that a reader who subtracts gets the same. */
export function secondsBetween(from: number, to: number): number {
  return Math.floor(to / 1000) - Math.floor(from / 1000)
}

/** `1 alert`, `3 alerts`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** `once`, `twice`, `3 times`. */
export function times(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`
}

/** `a`, `a and b`, `a, b and c`; beyond 8 names `a, b, … and 12 more`. */
export function listed(names: readonly string[]): string {
  if (names.length > LISTED) return `${names.slice(0, LISTED).join(', ')} and ${names.length - LISTED} more`
  const last = names.at(-1) ?? ''
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${last}` : last
}

/** `shop/cart`, or the name alone where it has no namespace. */
export function serviceName({ namespace, name }: Pick<ServiceFact, 'namespace' | 'name'>): string {
  return namespace === '' ? name : `${namespace}/${name}`
}

/** A text of others within a sentence of ours: on one line, without its final stop. */
export function quoted(text: string): string {
  return `“${text.replace(/\s+/g, ' ').trim().replace(/\.$/, '')}”`
}

/** Sorted by the keys of each item, the first that differs deciding; null before all else. */
export function ordered<T>(
  items: readonly T[],
  keysOf: (item: T) => readonly (string | number | null)[],
): readonly T[] {
  return items
    .map((item) => ({ item, keys: keysOf(item) }))
    .sort((a, b) => compare(a.keys, b.keys))
    .map(({ item }) => item)
}

/** Without repeats, in order of their characters' codes, which no locale changes. */
export function distinct(names: readonly string[]): readonly string[] {
  return ordered([...new Set(names)], (name) => [name])
}

function compare(a: readonly (string | number | null)[], b: readonly (string | number | null)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? null
    if (left === right) continue
    if (left === null || right === null) return left === null ? -1 : 1
    return left < right ? -1 : 1
  }
  return 0
}
