/** Reads the fields of incidents for retention, alone or joined with their records. */
import { sql } from 'kysely'

/** The columns of an `AgedIncident` for any query that uses `incidents`. `hasPostmortem` is 0 or 1. */
export const AGED_COLUMNS = [
  ...(['incidents.status', 'incidents.created_at as createdAt', 'incidents.started_at as startedAt'] as const),
  ...(['incidents.resolved_at as resolvedAt', 'incidents.touched_at as touchedAt'] as const),
  sql<0 | 1>`EXISTS (SELECT 1 FROM postmortems WHERE postmortems.incident_id = incidents.id)`.as('hasPostmortem'),
] as const

/** Converts a row with these columns. */
export function toAged<Row extends { readonly hasPostmortem: 0 | 1 }>(
  row: Row,
): Omit<Row, 'hasPostmortem'> & { readonly hasPostmortem: boolean } {
  return { ...row, hasPostmortem: row.hasPostmortem === 1 }
}
