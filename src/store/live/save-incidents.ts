/** Saving incidents: the new ones, and the columns that the life of the others changes. */
import type { LiveIncident } from '../../domain/state/live.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows } from '../sqlite/rows.ts'
import { uuidBytes } from '../sqlite/uuid.ts'
import type { SavedRecord } from './save.ts'

export function saveIncidents(db: Db, incidents: readonly SavedRecord<LiveIncident>[]): void {
  const made = incidents.filter(({ isNew }) => isNew)
  insertRows(
    db,
    'incidents',
    made.map(({ record }) => ({
      id: record.rowId,
      uuid: uuidBytes(record.id),
      organization_id: record.organizationId,
      service_id: record.serviceId,
      origin: record.origin,
      cause: record.cause,
      created_at: record.createdAt,
      ...changing(record),
    })),
  )
  for (const { record, isNew } of incidents) {
    if (!isNew) db.run(db.sql.updateTable('incidents').set(changing(record)).where('id', '=', record.rowId))
  }
}

function changing(incident: LiveIncident) {
  return {
    title: incident.title,
    severity: incident.severity,
    status: incident.status,
    started_at: incident.startedAt,
    acknowledged_at: incident.acknowledgedAt,
    resolved_at: incident.resolvedAt,
    touched_at: incident.touchedAt,
    alert_count: incident.alertCount,
    lowest_score: incident.lowestScore,
  }
}
