/** Action items of incidents: added, changed and removed by people, from the moment the incident opens. */
import { IncmonError } from '../domain/error.ts'
import type { ActionEdit } from '../domain/postmortem/edits.ts'
import { listActionItems, storeActionItem } from '../store/incident/action-items.ts'
import type { Deps } from './deps.ts'

/** The maximum number of action items of an incident. */
const MAX_ITEMS = 100

type NewItem = { readonly text: string } & Partial<Pick<ActionEdit, 'owner' | 'due'>>

/** Adds an action item and returns its id. @throws IncmonError `invalid`; `conflict` if there are too many */
export function addActionItem(deps: Deps, organizationId: number, incidentId: string, item: NewItem): string {
  const id = deps.newId()
  deps.db.transaction(() => {
    if (listActionItems(deps.db, organizationId, incidentId).length >= MAX_ITEMS)
      throw new IncmonError('conflict', `there are already ${MAX_ITEMS} action items: remove some of them`)
    storeActionItem(deps.db, organizationId, incidentId, id, { id, ...item, state: 'open' })
  })
  deps.announce({ kind: 'incident', id: incidentId, organizationId })
  return id
}

/** Changes an action item and returns the text that it had. @throws IncmonError `not-found`; `invalid` */
export function changeActionItem(deps: Deps, organizationId: number, incidentId: string, edit: ActionEdit): string {
  const { text } = deps.db.transaction(() => {
    const found = requireItem(deps, organizationId, incidentId, edit.id)
    storeActionItem(deps.db, organizationId, incidentId, edit.id, edit)
    return found
  })
  deps.announce({ kind: 'incident', id: incidentId, organizationId })
  return text
}

/** Removes an action item. One that a rule suggested is marked as dropped. @throws IncmonError `not-found` */
export function removeActionItem(deps: Deps, organizationId: number, incidentId: string, id: string): void {
  deps.db.transaction(() => {
    const { because } = requireItem(deps, organizationId, incidentId, id)
    storeActionItem(deps.db, organizationId, incidentId, id, because === null ? null : { id, state: 'dropped' })
  })
  deps.announce({ kind: 'incident', id: incidentId, organizationId })
}

function requireItem({ db }: Deps, organizationId: number, incidentId: string, id: string) {
  const found = listActionItems(db, organizationId, incidentId).find((one) => one.id === id)
  if (!found) throw new IncmonError('not-found', 'no such action item; list them with GET /api/incidents/ID/actions')
  return found
}
