/** The engine's interface to the store. */

import type { Notice } from '../domain/notice.ts'
import type { ItemDecision } from './changes/receive/receipt.ts'
import type { IdTable } from './state/context.ts'
import type { FactKind } from './state/facts.ts'
import type { Changes, Journal } from './state/journal.ts'
import type { OrganizationState } from './state/state.ts'

export type EngineStore = {
  /** Loads the live state of an organization. Resolves with null if the organization does not exist. */
  readonly load: (journal: Journal, organizationId: number, now: number) => Promise<OrganizationState | null>
  /** Lists the row ids of all organizations. */
  readonly organizations: () => Promise<readonly number[]>
  /** Returns the highest row id in each table whose row ids the engine assigns. */
  readonly lastRowIds: () => Promise<Record<IdTable, number>>
  /** Reads one fact from the saved history at once. A decision therefore never has to wait or to be repeated. */
  readonly fact: (organizationId: number, kind: FactKind, asked: object) => unknown
  /**
   * Saves all changes of a batch or none. They are on disk only after `sync` resolves.
   * @returns notices about new links, which the store computes from the history
   */
  readonly save: (changes: Changes, newId: () => string) => Promise<readonly Notice[]>
  /** Lists the resolutions whose postmortems have not been written yet, oldest first. */
  readonly duePostmortems: () => readonly { readonly rowId: number; readonly notice: Notice }[]
  /** Generates a due postmortem from the saved records, and saves it. Does nothing if it has already been written. */
  readonly writePostmortem: (rowId: number, newId: () => string) => Promise<void>
  /**
   * Returns, for each decision, the links that its alert would have if the changes were saved, and the suspects of its
   * incident. Saves nothing.
   */
  readonly tryCauses: (
    changes: Changes,
    decisions: readonly ItemDecision[],
    at: { readonly organizationId: number; readonly now: number },
    newId: () => string,
  ) => Promise<readonly Pick<ItemDecision, 'correlations' | 'suspects'>[]>
  /**
   * Classifies an error. `busy`: another process holds the database lock, so a retry can succeed. `full`: the disk is
   * full and nothing was stored. `disk`: the disk failed, so the stored state is unknown. `store`: the store failed in
   * another way and nothing was stored. null: the error did not come from the store.
   */
  readonly faultOf: (error: unknown) => 'busy' | 'full' | 'disk' | 'store' | null
  /** Resolves once all saved effects are on disk. Rejects if the disk fails. */
  readonly sync: () => Promise<void>
}
