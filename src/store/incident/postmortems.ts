/** Postmortems: a generated document for each resolution, and the parts written by users. */

import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { Postmortem, PostmortemState } from '../../domain/postmortem/document.ts'
import type { Edits } from '../../domain/postmortem/edits.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidBytes, uuidFromBytes, uuidOrNone } from '../sqlite/uuid.ts'
import { selectIncidents, toLiveIncident } from './live-incidents.ts'

export type PostmortemRecord = {
  readonly rowId: number
  readonly revision: number
  readonly state: PostmortemState
  readonly document: Postmortem
  readonly edits: Edits
  readonly generatedAt: number
}

/** Finds an incident's latest postmortem. Returns null if the postmortem or the incident does not exist. */
export function findPostmortem(db: Db, organizationId: number, incidentId: string): PostmortemRecord | null {
  const postmortems = db.sql
    .selectFrom('postmortems')
    .innerJoin('incidents', 'incidents.id', 'postmortems.incident_id')
    .select(['postmortems.id as rowId', 'revision', 'state', 'document', 'edits', 'generated_at as generatedAt'])
    .where('incidents.organization_id', '=', organizationId)
    .where('incidents.uuid', '=', uuidOrNone(incidentId))
  const row = db.first(postmortems.orderBy('revision', 'desc').limit(1))
  return row ? { ...row, document: JSON.parse(row.document), edits: JSON.parse(row.edits) } : null
}

/** Returns the latest revision number and its users' edits as JSON, or 0 and `{}` if there is no postmortem. */
export function findLastRevision(db: Db, incidentId: number): { readonly revision: number; readonly edits: string } {
  const all = db.sql.selectFrom('postmortems').select(['revision', 'edits']).where('incident_id', '=', incidentId)
  return db.first(all.orderBy('revision', 'desc').limit(1)) ?? { revision: 0, edits: '{}' }
}

/** `document` is JSON, because a worker thread returns one large string much faster than many objects. */
export type NewPostmortem = Omit<PostmortemRecord, 'rowId' | 'state' | 'edits' | 'document'> & {
  readonly document: string
  readonly id: string
  readonly incidentId: number
}

/**
 * Inserts a revision, and copies the users' edits from the previous revision. This includes edits made while the new
 * revision was generated. Throws SQLITE_CONSTRAINT_UNIQUE if the revision already exists.
 */
export function insertPostmortem(db: Db, made: NewPostmortem): void {
  db.run(
    db.sql.insertInto('postmortems').values({
      uuid: uuidBytes(made.id),
      incident_id: made.incidentId,
      revision: made.revision,
      state: 'draft',
      document: made.document,
      edits: editsFor(db, made.incidentId),
      generated_at: made.generatedAt,
    }),
  )
}

/** Returns the edits of the last revision. The first revision gets the action items that the incident has. */
function editsFor(db: Db, incidentId: number): string {
  const { revision, edits } = findLastRevision(db, incidentId)
  if (revision > 0) return edits
  const row = db.first(db.sql.selectFrom('incidents').select('actions').where('id', '=', incidentId))
  const actions: readonly object[] = JSON.parse(row?.actions ?? '[]')
  return actions.length === 0 ? edits : JSON.stringify({ actions })
}

/** Stores a postmortem's state and the users' edits. The generated document stays unchanged. */
export function updatePostmortem(db: Db, rowId: number, to: Pick<PostmortemRecord, 'state' | 'edits'>): void {
  const changed = { state: to.state, edits: JSON.stringify(to.edits) }
  db.run(db.sql.updateTable('postmortems').set(changed).where('id', '=', rowId))
}

/** Resolutions whose postmortems have not been written yet. The table is almost always empty. */
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
export function isPostmortemDue(db: Db, organizationId: number, incidentId: string): boolean {
  const due = db.sql
    .selectFrom('postmortems_due')
    .innerJoin('incidents', 'incidents.id', 'incident_id')
    .select('postmortems_due.id')
    .where('incidents.organization_id', '=', organizationId)
    .where('incidents.uuid', '=', uuidOrNone(incidentId))
  return db.first(due.limit(1)) !== undefined
}

/** Returns whether the postmortem was due. */
export function deleteDuePostmortem(db: Db, rowId: number): boolean {
  return db.run(db.sql.deleteFrom('postmortems_due').where('id', '=', rowId)) > 0
}
