/** Postmortems: generated when an incident is resolved, and edited by users. */
import { IncmonError } from '../domain/error.ts'
import { hasPostmortems, type Plan, POSTMORTEM_PLANS } from '../domain/organization.ts'
import type { PostmortemState } from '../domain/postmortem/document.ts'
import { applyEdits, type Edits } from '../domain/postmortem/edits.ts'
import { findPostmortem, isPostmortemDue, updatePostmortem } from '../store/incident/postmortems.ts'
import type { Deps } from './deps.ts'

/** How to resolve an incident manually. */
const BY_HAND =
  'for example with "incmon incident resolve ID", or with PATCH /api/incidents/ID and {"status":"resolved"}'

/** Explains why an incident has no postmortem and how to get one. */
export function whyNoPostmortem(plan: Plan, resolvedAt: number | null): string {
  if (!hasPostmortems(plan))
    return `no postmortem: the ${plan} plan does not include postmortems; change the plan to ${POSTMORTEM_PLANS.join(' or ')}`
  if (resolvedAt === null) return `no postmortem yet: it is created when the incident is resolved, ${BY_HAND}`
  return 'no postmortem: none was created when this incident was resolved; reopen the incident and resolve it again to create one'
}

/** @throws IncmonError `unavailable` while the postmortem of the last resolution is not written yet */
export function requireWritten({ db }: Deps, organizationId: number, incidentId: string): void {
  if (isPostmortemDue(db, organizationId, incidentId))
    throw new IncmonError('unavailable', 'the postmortem is not written yet: try again in a few seconds')
}

/**
 * Changes the users' edits or the state of the latest revision.
 * @param seen the values that the user saw before editing; undefined to skip this check
 * @throws IncmonError `not-found`; `conflict` if the postmortem is final and an edit would change it, or if a value has
 * changed since the user saw it
 */
export function editPostmortem(
  deps: Deps,
  organizationId: number,
  incidentId: string,
  change: Edits & { readonly state?: PostmortemState | undefined },
  seen?: Edits,
): void {
  deps.db.transaction(() => {
    const before = findPostmortem(deps.db, organizationId, incidentId)
    if (!before) throw new IncmonError('not-found', 'no postmortem')
    const { state = before.state, ...edits } = change
    if (seen && !isAsSeen(before.edits, seen, edits))
      throw new IncmonError(
        'conflict',
        'somebody else has changed this part of the postmortem; reload it and save again',
      )
    const writes = Object.values(edits).some((value) => value !== undefined)
    if (writes && before.state === 'final' && state === 'final') {
      throw new IncmonError('conflict', 'the postmortem is final; set state to draft to edit it')
    }
    updatePostmortem(deps.db, before.rowId, { state, edits: applyEdits(before.edits, edits) })
  })
  deps.announce({ kind: 'incident', id: incidentId, organizationId })
}

/**
 * Returns whether the stored values still equal the values that the user saw, or already equal the values that the user
 * wants.
 */
function isAsSeen(now: Edits, seen: Edits, wanted: Edits): boolean {
  const isStored = (texts: Edits) => JSON.stringify(applyEdits(now, texts)) === JSON.stringify(applyEdits(now, {}))
  return isStored(seen) || isStored(wanted)
}
