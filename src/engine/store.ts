/** The store as the engine sees it: asynchronous, so that a database across a network could stand behind it. */

import type { LinkSummary } from '../domain/decide/delivery.ts'
import type { Notice } from '../domain/notice.ts'
import type { Journal } from '../domain/state/collections.ts'
import type { FactKind, IdTable } from '../domain/state/context.ts'
import type { Effect } from '../domain/state/effect.ts'
import type { OrganizationState } from '../domain/state/state.ts'

export type EngineStore = {
  /** The live state of an organization as it is stored; null if there is no such organization. */
  readonly load: (journal: Journal, organizationId: number, now: number) => Promise<OrganizationState | null>
  /** The row ids of all organizations. */
  readonly organizations: () => Promise<readonly number[]>
  /** The highest row id of each table that the engine numbers. */
  readonly lastRowIds: () => Promise<Record<IdTable, number>>
  /** The answer to a question about the history. */
  readonly fact: (organizationId: number, kind: FactKind, asked: object) => Promise<unknown>
  /**
   * Saves the effects of a batch, all or nothing. They are on disk once `sync` has resolved.
   * @returns notices about what the store computed from the history: new links
   */
  readonly save: (effects: readonly Effect[], newId: () => string) => Promise<readonly Notice[]>
  /** The links that these alerts would have after the effects, by row id; nothing is changed. */
  readonly tryLinks: (
    effects: readonly Effect[],
    alertIds: readonly number[],
    newId: () => string,
  ) => Promise<ReadonlyMap<number, readonly LinkSummary[]>>
  /**
   * What kind of failure an error of these calls is. `busy`: another process holds the database, and a retry may succeed;
   * `disk`: nobody knows what is stored; `store`: nothing was stored; null: it is not a failure of the store.
   */
  readonly faultOf: (error: unknown) => 'busy' | 'disk' | 'store' | null
  /** Resolves once everything that was saved is on disk. Rejects if the disk fails. */
  readonly sync: () => Promise<void>
}
