import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { RowChange } from '../../engine/state/changes.ts'
import type { Db } from '../sqlite/open.ts'
import { saveChanges } from '../sqlite/query.ts'
import { uuidBytes } from '../sqlite/uuid.ts'

export function saveIncidents(db: Db, incidents: readonly RowChange<LiveIncident>[]): void {
  saveChanges(db, 'incidents', incidents, rowOf, columnsOf)
}

function rowOf(incident: LiveIncident) {
  const previous = incident.previous === null ? null : uuidBytes(incident.previous)
  return { id: incident.rowId, uuid: uuidBytes(incident.id), previous, ...columnsOf(incident) }
}

function columnsOf(incident: LiveIncident) {
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
    acknowledged_by: incident.acknowledgedBy,
    problem: JSON.stringify(incident.problem),
  }
}
