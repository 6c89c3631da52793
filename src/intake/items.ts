import { IncmonError } from '../domain/error.ts'
import type { Draft, Intake } from '../domain/event/event.ts'
import { type Fields, fieldsOf, unusable, type Warn } from './fields.ts'
import { adviseField } from './misspellings.ts'
import { redact, redactAndCut, redactRaw } from './redact.ts'

/** The parsed items, in their original order. */
export type Items = { readonly accepted: Intake['accepted'][number][]; readonly rejected: Intake['rejected'][number][] }

/**
 * The maximum number of alerts or events in a request. The drafts of all of them are in memory at once. A 10 MiB body of
 * real ones contains fewer than 20,000.
 */
export const MAX_ITEMS = 20_000
const MAX_WARNINGS = 10

/** A GitLab pipeline with 1,500 jobs has about this many values; an alert has about fifty. */
const MAX_VALUES = 50_000
/** How many characters of an oversized item are stored. */
const KEPT_LENGTH = 65_536
/**
 * The maximum number of characters in an item: twice as many as its labels keep. If an item has more, its
 * values are cut to what is left, but not below `SHORT`. Names and times are shorter than that.
 */
const MAX_TEXT = 262_144
const SHORT = 512

/**
 * Parses items one by one. An item without a draft is left out. A rejected item does not affect the other items. An item
 * with more than `maxValues` values is rejected, because searching it for secrets would block all other requests.
 */
export function readItems(
  items: readonly unknown[],
  read: (item: Fields, warn: Warn) => Draft | null,
  maxValues = MAX_VALUES,
): Items {
  const { accepted, rejected }: Items = { accepted: [], rejected: [] }
  for (const [index, item] of items.entries()) {
    if (countValues(item, maxValues) > maxValues) {
      const error = `item: too large; at most ${maxValues} values`
      rejected.push({ index, error, payload: redactRaw(JSON.stringify(item).slice(0, 2 * KEPT_LENGTH), KEPT_LENGTH) })
      continue
    }
    try {
      let warnings: string[] | null = null
      const warn: Warn = (text) => {
        warnings ??= []
        if (warnings.length < MAX_WARNINGS) warnings.push(text)
      }
      const fields = fieldsOf(shortened(item, warn))
      if (!fields) throw unusable('item: expected object')
      const draft = read(fields, warn)
      if (draft !== null) accepted.push(warnings === null ? { index, draft } : { index, draft, warnings })
    } catch (error) {
      if (!(error instanceof IncmonError)) throw error
      rejected.push({ index, error: adviseField(error.message, item), payload: redact(shortened(item)) })
    }
  }
  return { accepted, rejected }
}

/** Counts the values in an item, at any depth. Stops as soon as there are more than `max` values. */
function countValues(item: unknown, max: number): number {
  let count = 0
  if (typeof item !== 'object' || item === null) return count
  for (const key in item) {
    count += 1 + countValues((item as Record<string, unknown>)[key], max - count - 1)
    if (count > max) break
  }
  return count
}

/** Returns the item, or a copy with short values if it has more than `MAX_TEXT` characters. */
function shortened(item: unknown, warn: Warn = () => {}): unknown {
  if (textOf(item) <= MAX_TEXT) return item
  let [length, isCut] = [0, false]
  const cut = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const room = Math.max(SHORT, MAX_TEXT - length)
      length += value.length
      if (value.length <= room) return value
      isCut = true
      return redactAndCut(value, room)
    }
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(cut)
    return Object.fromEntries(Object.entries(value).map(([name, child]) => [cut(name), cut(child)]))
  }
  const copy = cut(item)
  if (!isCut) return item
  warn(`item: more than ${MAX_TEXT} characters; its long values were cut`)
  return copy
}

/** Counts the characters of the names and texts in an item, at any depth. Stops when there are more than `MAX_TEXT`. */
function textOf(item: unknown): number {
  if (typeof item === 'string') return item.length
  let length = 0
  if (typeof item !== 'object' || item === null) return length
  for (const name in item) {
    length += (Array.isArray(item) ? 0 : name.length) + textOf((item as Record<string, unknown>)[name])
    if (length > MAX_TEXT) break
  }
  return length
}
