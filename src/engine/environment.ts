/** Assigns row ids to new records, and caches the results of analyzing drafts. */
import type { Environment, IdTable } from './state/context.ts'

export type EngineEnvironment = Environment & {
  /** Loads the highest row ids unless they are already loaded. */
  readonly loadRowIds: (last: () => Promise<Record<IdTable, number>>) => Promise<void>
  /** Returns a function that restores the current row ids and clears the draft cache. */
  readonly mark: () => () => void
  readonly reset: () => void
}

export function createEnvironment({
  newId,
  hashOf,
  limits,
}: Pick<Environment, 'newId' | 'hashOf' | 'limits'>): EngineEnvironment {
  let rowIds: Record<IdTable, number> | null = null
  let drafts = new WeakMap<object, unknown>()
  const forgetDrafts = () => {
    drafts = new WeakMap()
  }
  return {
    ...{ newId, hashOf, limits, forgetDrafts },
    rowId: (of) => {
      if (!rowIds) throw new Error('the row ids are not loaded')
      rowIds[of] += 1
      return rowIds[of]
    },
    cached: (draft, find) => {
      const known = drafts.get(draft)
      if (known !== undefined) return known as never
      const found = find()
      drafts.set(draft, found)
      return found
    },
    loadRowIds: async (last) => {
      rowIds ??= await last()
    },
    mark: () => {
      const marked = rowIds && { ...rowIds }
      return () => {
        rowIds = marked && { ...marked }
        forgetDrafts()
      }
    },
    reset: () => {
      rowIds = null
      forgetDrafts()
    },
  }
}
