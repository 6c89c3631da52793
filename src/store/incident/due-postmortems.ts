/** Resolutions whose postmortems have not been written yet. The table is almost always empty. */
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidFromBytes, uuidToBytes } from '../sqlite/uuid.ts'
import { selectIncidents, toLiveIncident } from './live-incidents.ts'

export function insertDuePostmortem(db: Db, { rowId, resolvedAt }: LiveIncident, at: number): void {
  db.run(db.sql.insertInto('postmortems_due').values({ incident_id: rowId, resolved_at: resolvedAt ?? at, due_at: at }))
}

/** Lists all due postmortems in the order of the resolutions. */
export function listDuePostmortems(db: Db) {
  const due = db.sql
    .selectFrom('postmortems_due')
    .innerJoin('incidents', 'incidents.id', 'incident_id')
    .select(['postmortems_due.id', 'incidents.uuid', 'incidents.organization_id'])
    .orderBy('postmortems_due.id')
  return db.all(due).map(({ id, uuid, organization_id }) => {
    const notice = { kind: 'incident', id: uuidFromBytes(uuid), organizationId: organization_id } as const
    return { rowId: id, notice }
  })
}

export function listDuePostmortemsOf(db: Db, incidentId: number): number[] {
  const due = db.sql.selectFrom('postmortems_due').select('id').where('incident_id', '=', incidentId)
  return db.all(due.orderBy('id')).map(({ id }) => id)
}

/** Finds the incident as it was resolved, even if it has been opened again. Returns null if nothing is due. */
export function findDuePostmortem(
  db: Db,
  rowId: number,
): { readonly incident: LiveIncident; readonly at: number } | null {
  const due = db.first(db.sql.selectFrom('postmortems_due').selectAll().where('id', '=', rowId))
  const row = due && db.first(selectIncidents(db.sql).where('id', '=', due.incident_id))
  if (!row) return null
  const incident = { ...toLiveIncident(row), status: 'resolved', resolvedAt: due.resolved_at } as const
  return { incident, at: due.due_at }
}

/** Returns whether a postmortem of the incident is due. */
export function isPostmortemDue(db: Db, organizationId: number, incidentId: string): boolean {
  const uuid = uuidToBytes(incidentId)
  if (!uuid) return false
  const due = db.sql
    .selectFrom('postmortems_due')
    .innerJoin('incidents', 'incidents.id', 'incident_id')
    .select('postmortems_due.id')
    .where('incidents.organization_id', '=', organizationId)
    .where('incidents.uuid', '=', uuid)
  return db.first(due.limit(1)) !== undefined
}

/** Returns whether the postmortem was due. */
export function deleteDuePostmortem(db: Db, rowId: number): boolean {
  return db.run(db.sql.deleteFrom('postmortems_due').where('id', '=', rowId)) > 0
}
