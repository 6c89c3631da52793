/** Generates the postmortem of an incident from the history, in the commit that resolves the incident. */

import { hasPostmortems } from '../../domain/organization.ts'
import { generate } from '../../domain/postmortem/postmortem.ts'
import type { Effect } from '../../domain/state/effect.ts'
import { findLastRevision, insertPostmortem } from '../incident/postmortems.ts'
import { findIncidentFacts } from '../incident/timeline-facts.ts'
import { findOrganization } from '../organizations.ts'
import type { Db } from '../sqlite/open.ts'

/**
 * Writes a new revision each time the incident is resolved. Keeps the texts that users wrote in the previous revision.
 */
export function writePostmortem(
  db: Db,
  { incident, id, at }: Extract<Effect, { readonly kind: 'postmortem-due' }>,
): void {
  const plan = findOrganization(db, incident.organizationId)?.plan ?? 'Free'
  if (!hasPostmortems(plan)) return
  const last = findLastRevision(db, incident.rowId)
  const revision = (last?.revision ?? 0) + 1
  const document = generate({ ...findIncidentFacts(db, incident, at), revision, generatedAt: at })
  const edits = last?.edits ?? {}
  insertPostmortem(db, { id: id, incidentId: incident.rowId, revision, document, edits, generatedAt: at })
}
