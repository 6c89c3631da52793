/** Postmortems: written by the machine as an incident is resolved, completed by people. */
import { IncmonError } from '../domain/error.ts'
import { applyEdits, type Edits, generate, type PostmortemState } from '../domain/postmortem/postmortem.ts'
import { findIncidentFacts } from '../store/incident-facts.ts'
import type { IncidentRow } from '../store/incident-rows.ts'
import { findOrganization } from '../store/organizations.ts'
import { findLastRevision, findPostmortem, insertPostmortem, updatePostmortem } from '../store/postmortems.ts'
import type { Deps } from './deps.ts'

/** Of which organizations incidents get a postmortem. */
const PLANS: readonly string[] = ['Team', 'Pro']
/** How a person resolves one. */
const BY_HAND = 'by hand with "incmon incident resolve ID", or PATCH /api/incidents/ID and {"status":"resolved"}'

/**
 * Writes the postmortem of an incident that was just resolved, inside the transaction that resolved it: so that there is
 * exactly one for each resolution. What people wrote into an earlier revision goes on into this one.
 */
export function writePostmortem(deps: Deps, incident: IncidentRow, now: number): void {
  const { db } = deps
  const plan = findOrganization(db, incident.organizationId)?.plan ?? 'Free'
  if (!PLANS.includes(plan)) return
  const last = findLastRevision(db, incident.id)
  const revision = (last?.revision ?? 0) + 1
  const document = generate({ ...findIncidentFacts(db, incident, now), revision, generatedAt: now })
  const edits = last?.edits ?? {}
  insertPostmortem(db, { uuid: deps.newId(), incidentId: incident.id, revision, document, edits, generatedAt: now })
}

/** Why a resolved or unresolved incident of an organization on this plan has no postmortem, and what to do. */
export function whyNoPostmortem(plan: string, resolvedAt: number | null): string {
  if (!PLANS.includes(plan)) return `no postmortem: the plan ${plan} has none; change the plan to ${PLANS.join(' or ')}`
  if (resolvedAt === null) return `no postmortem yet: it is made when the incident is resolved, ${BY_HAND}`
  return 'no postmortem: none was made when this incident was resolved; reopen it and resolve it again to have one made'
}

/** Lays a person's words over the newest revision. A final one takes none, until it is made a draft again. */
export function editPostmortem(
  deps: Deps,
  organizationId: number,
  incidentUuid: string,
  change: Edits & { readonly state?: PostmortemState | undefined },
): void {
  deps.db.transaction(() => {
    const before = findPostmortem(deps.db, organizationId, incidentUuid)
    if (!before) throw new IncmonError('not-found', 'no postmortem')
    const { state = before.state, ...edits } = change
    const writes = Object.values(edits).some((value) => value !== undefined)
    if (writes && before.state === 'final' && state === 'final') {
      throw new IncmonError('conflict', 'the postmortem is final; set state to draft to edit it')
    }
    updatePostmortem(deps.db, before.id, { state, edits: applyEdits(before.edits, edits) })
  })
  deps.announce({ kind: 'incident', id: incidentUuid, organizationId })
}
