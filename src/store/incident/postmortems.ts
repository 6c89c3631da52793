/** Postmortems: a generated document for each resolution, and the parts written by users. */

import type { Postmortem, PostmortemState } from '../../domain/postmortem/document.ts'
import type { Edits } from '../../domain/postmortem/edits.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidBytes, uuidToBytes } from '../sqlite/uuid.ts'

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
  const bytes = uuidToBytes(incidentId)
  if (!bytes) return null
  const postmortems = db.sql
    .selectFrom('postmortems')
    .innerJoin('incidents', 'incidents.id', 'postmortems.incident_id')
    .select(['postmortems.id as rowId', 'revision', 'state', 'document', 'edits', 'generated_at as generatedAt'])
    .where('incidents.organization_id', '=', organizationId)
    .where('incidents.uuid', '=', bytes)
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
