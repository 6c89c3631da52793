/** Rejected webhook items and their errors. */

import type { Source } from '../domain/event/event.ts'
import type { Listed, Page } from '../domain/pagination.ts'
import type { StoredRejection } from '../engine/state/effect.ts'
import { countOf, readPage, type TimeFilter } from './read.ts'
import type { Db } from './sqlite/open.ts'
import { uuidFromBytes } from './sqlite/uuid.ts'

/**
 * A rejected item. `payload`: the item's text with secrets replaced, truncated to 64 kB. The text may be invalid JSON.
 * Times are Unix times in milliseconds.
 */
type RejectionRecord = Omit<StoredRejection, 'organizationId' | 'payload'> & { readonly payload: string }

/** Undefined fields are ignored. `from` and `to` limit the time of receipt: from ≤ receivedAt < to. */
type RejectionFilter = TimeFilter & { readonly source?: Source | undefined }

/** Lists one page of rejected items that match the filter, newest first. */
export function listRejections(
  db: Db,
  organizationId: number,
  filter: RejectionFilter,
  page: Page,
): Listed<RejectionRecord> {
  const query = filtered(db, organizationId, filter)
  const rows = query
    .select(['uuid', 'source', 'item as index', 'error', 'payload', 'received_at as receivedAt'])
    .orderBy('received_at', 'desc')
    .orderBy('id', 'desc')
  return readPage(db, query, rows, page, ({ uuid, ...rejection }) => ({ ...rejection, id: uuidFromBytes(uuid) }))
}

function filtered(db: Db, organizationId: number, filter: RejectionFilter) {
  let query = db.sql.selectFrom('rejections').where('organization_id', '=', organizationId)
  if (filter.source) query = query.where('source', '=', filter.source)
  if (filter.from !== undefined) query = query.where('received_at', '>=', filter.from)
  if (filter.to !== undefined) query = query.where('received_at', '<', filter.to)
  return query
}

/** Returns how many of an organization's webhook items were rejected in the period. */
export function rejectionsOf(db: Db, organizationId: number, from: number, to: number): number {
  return countOf(db, filtered(db, organizationId, { from, to: to + 1 }))
}
