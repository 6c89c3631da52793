/**
 * The interface of the store that the engine uses. It is asynchronous, so that the database could be on another
 * machine.
 */

import type { LinkSummary } from '../domain/decide/delivery.ts'
import type { Notice } from '../domain/notice.ts'
import type { Journal } from '../domain/state/collections.ts'
import type { FactKind, IdTable } from '../domain/state/context.ts'
import type { Effect } from '../domain/state/effect.ts'
import type { OrganizationState } from '../domain/state/state.ts'

export type EngineStore = {
  /** Loads the live state of an organization. Returns null if the organization does not exist. */
  readonly load: (journal: Journal, organizationId: number, now: number) => Promise<OrganizationState | null>
  /** Returns the row ids of all organizations. */
  readonly organizations: () => Promise<readonly number[]>
  /** Returns the highest row id of each table whose row ids the engine assigns. */
  readonly lastRowIds: () => Promise<Record<IdTable, number>>
  /** Reads a fact from the history. */
  readonly fact: (organizationId: number, kind: FactKind, asked: object) => Promise<unknown>
  /**
   * Saves all effects of a batch or none. They are on disk once `sync` has resolved.
   * @returns notices about new links, which the store computes from the history
   */
  readonly save: (effects: readonly Effect[], newId: () => string) => Promise<readonly Notice[]>
  /** Returns the links that these alerts would have after the effects, by row id. Changes nothing. */
  readonly tryLinks: (
    effects: readonly Effect[],
    alertIds: readonly number[],
    newId: () => string,
  ) => Promise<ReadonlyMap<number, readonly LinkSummary[]>>
  /**
   * Returns the kind of failure of an error. `busy`: another process locks the database, and a retry may succeed;
   * `full`: nothing was stored, because the disk is full; `disk`: the stored state is unknown; `store`: nothing was
   * stored; null: the store did not cause the error.
   */
  readonly faultOf: (error: unknown) => 'busy' | 'full' | 'disk' | 'store' | null
  /** Resolves once everything that was saved is on disk. Rejects if the disk fails. */
  readonly sync: () => Promise<void>
}
