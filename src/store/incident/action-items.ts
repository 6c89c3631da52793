/**
 * The action items of an incident. Before there is a postmortem, the incident has them. Afterwards, they are part of the
 * postmortem, which copies those of the incident.
 */

import type { Action } from '../../domain/postmortem/document.ts'
import { type ActionEdit, applyEdits, itemsOf, merge } from '../../domain/postmortem/edits.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidOrNone } from '../sqlite/uuid.ts'
import { findPostmortem, updatePostmortem } from './postmortems.ts'

/** Lists the action items of an incident; none if the organization has no such incident. */
export function listActionItems(db: Db, organizationId: number, incidentId: string): readonly Action[] {
  const postmortem = findPostmortem(db, organizationId, incidentId)
  if (postmortem) return merge(postmortem.document, postmortem.edits).actions
  return itemsOf(editsOf(db, organizationId, incidentId))
}

/** Stores the change of one action item. `edit`: null removes an item that a person added. */
export function storeActionItem(
  db: Db,
  organizationId: number,
  incidentId: string,
  id: string,
  edit: ActionEdit | null,
): void {
  const postmortem = findPostmortem(db, organizationId, incidentId)
  const before = postmortem ? (postmortem.edits.actions ?? []) : editsOf(db, organizationId, incidentId)
  const actions =
    edit === null
      ? before.filter((one) => one.id !== id)
      : (applyEdits({ actions: before }, { actions: [edit] }).actions ?? [])
  if (postmortem) {
    const { rowId, state, edits } = postmortem
    updatePostmortem(db, rowId, { state, edits: { ...edits, actions } })
    return
  }
  const changed = db.sql.updateTable('incidents').set({ actions: JSON.stringify(actions) })
  db.run(changed.where('organization_id', '=', organizationId).where('uuid', '=', uuidOrNone(incidentId)))
}

function editsOf(db: Db, organizationId: number, incidentId: string): readonly ActionEdit[] {
  const incidents = db.sql.selectFrom('incidents').select('actions').where('organization_id', '=', organizationId)
  const row = db.first(incidents.where('uuid', '=', uuidOrNone(incidentId)))
  return row ? JSON.parse(row.actions) : []
}
