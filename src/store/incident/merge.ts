/** Merges two incidents: moves alerts and timeline entries. */
import type { Db } from '../sqlite/open.ts'

/**
 * Moves the alerts and the timeline of one incident to another. Call it in a transaction.
 * @param own the kinds of timeline entries that stay
 */
export function moveIncidentRecords(db: Db, from: number, into: number, own: readonly string[]): void {
  db.run(db.sql.updateTable('alerts').set({ incident_id: into }).where('incident_id', '=', from))
  db.run(
    db.sql
      .updateTable('timeline')
      .set({ incident_id: into })
      .where('incident_id', '=', from)
      .where('kind', 'not in', [...own, 'merged']),
  )
}
