import type { LiveIncident } from '../../domain/state/live.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, updateRow } from '../sqlite/query.ts'
import { uuidBytes } from '../sqlite/uuid.ts'
import type { SavedChange } from './save.ts'

export function saveIncidents(db: Db, incidents: readonly SavedChange<LiveIncident>[]): void {
  insertRows(
    db,
    'incidents',
    incidents.flatMap(({ before, after }) =>
      before ? [] : { id: after.rowId, uuid: uuidBytes(after.id), ...rowOf(after) },
    ),
  )
  for (const { before, after } of incidents) {
    if (before) updateRow(db, 'incidents', after.rowId, rowOf(after), rowOf(before))
  }
}

function rowOf(incident: LiveIncident) {
  return {
    organization_id: incident.organizationId,
    service_id: incident.serviceId,
    origin: incident.origin,
    cause: incident.cause,
    created_at: incident.createdAt,
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
