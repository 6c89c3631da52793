import type { LiveIncident } from '../../domain/state/live.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, query } from '../sqlite/query.ts'
import { uuidBytes } from '../sqlite/uuid.ts'
import type { SavedChange } from './save.ts'

export function saveIncidents(db: Db, incidents: readonly SavedChange<LiveIncident>[]): void {
  insertRows(
    db,
    'incidents',
    incidents.flatMap(({ before, after }) => (before ? [] : insertable(after))),
  )
  for (const { before, after } of incidents) {
    const { rowId, alertCount, lowestScore } = after
    if (before && isLife(before, after)) db.run(updateLife, lifeOf(after))
    else if (before) db.run(updateCount, { rowId, alertCount, lowestScore })
  }
}

/**
 * Returns whether anything except the alert count and the lowest score changed. Updating other columns also writes four
 * indexes.
 */
function isLife(before: LiveIncident, after: LiveIncident): boolean {
  return (Object.keys(after) as (keyof LiveIncident)[]).some(
    (name) => name !== 'alertCount' && name !== 'lowestScore' && before[name] !== after[name],
  )
}

function insertable(incident: LiveIncident) {
  return {
    id: incident.rowId,
    uuid: uuidBytes(incident.id),
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

function lifeOf(incident: LiveIncident) {
  const { rowId, title, severity, status, startedAt, acknowledgedAt, resolvedAt, touchedAt } = incident
  const { alertCount, lowestScore } = incident
  return {
    ...{ rowId, title, severity, status, startedAt, acknowledgedAt, resolvedAt, touchedAt, alertCount, lowestScore },
  }
}

const updateCount = query<{ rowId: number; alertCount: number; lowestScore: number | null }>()((sql, hole) =>
  sql
    .updateTable('incidents')
    .set({ alert_count: hole('alertCount'), lowest_score: hole('lowestScore') })
    .where('id', '=', hole('rowId')),
)
const updateLife = query<ReturnType<typeof lifeOf>>()((sql, hole) =>
  sql
    .updateTable('incidents')
    .set({
      title: hole('title'),
      severity: hole('severity'),
      status: hole('status'),
      started_at: hole('startedAt'),
      acknowledged_at: hole('acknowledgedAt'),
      resolved_at: hole('resolvedAt'),
      touched_at: hole('touchedAt'),
      alert_count: hole('alertCount'),
      lowest_score: hole('lowestScore'),
    })
    .where('id', '=', hole('rowId')),
)
