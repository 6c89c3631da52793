import { IncmonError } from '../domain/error.ts'
import type { Draft, Intake } from '../domain/event/event.ts'
import { type Fields, fieldsOf, unusable, type Warn } from './fields.ts'
import { adviseField } from './misspellings.ts'
import { redact, redactRaw } from './redact.ts'

/** The parsed items, in their original order. */
export type Items = { readonly accepted: Intake['accepted'][number][]; readonly rejected: Intake['rejected'][number][] }

const MAX_WARNINGS = 10

/** A GitLab pipeline with 1,500 jobs has about this many values; an alert has about fifty. */
const MAX_VALUES = 50_000
/** How many characters of an oversized item are stored. */
const KEPT_LENGTH = 65_536

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
      const fields = fieldsOf(item)
      if (!fields) throw unusable('item: expected object')
      let warnings: string[] | null = null
      const draft = read(fields, (text) => {
        warnings ??= []
        if (warnings.length < MAX_WARNINGS) warnings.push(text)
      })
      if (draft !== null) accepted.push(warnings === null ? { index, draft } : { index, draft, warnings })
    } catch (error) {
      if (!(error instanceof IncmonError)) throw error
      rejected.push({ index, error: adviseField(error.message, item), payload: redact(item) })
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
