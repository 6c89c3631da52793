/** The merge of two incidents in the store: alerts and timeline entries change their incident. */
import type { Db } from '../sqlite/open.ts'

/**
 * Moves the alerts and the timeline of one incident to another; links between changes and alerts follow the alerts.
 * @param own kinds of timeline entries that stay; inside the caller's transaction
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
