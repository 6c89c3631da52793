/** Generates the postmortem of a resolved incident from the history. */

import { hasPostmortems } from '../../domain/organization.ts'
import { generate } from '../../domain/postmortem/postmortem.ts'
import type { Effect, TimelineEntry } from '../../domain/state/effect.ts'
import { findLastRevision, type NewPostmortem } from '../incident/postmortems.ts'
import { findIncidentFacts } from '../incident/timeline-facts.ts'
import { findOrganization } from '../organizations.ts'
import type { Db } from '../sqlite/open.ts'

/**
 * Generates the next revision from the saved records.
 * @param entries the timeline entries that are saved together with the postmortem
 * @returns null if the plan has no postmortems
 */
export function generatePostmortem(
  db: Db,
  { incident, id, at }: Extract<Effect, { readonly kind: 'postmortem-due' }>,
  entries: readonly TimelineEntry[],
): NewPostmortem | null {
  const plan = findOrganization(db, incident.organizationId)?.plan ?? 'Free'
  if (!hasPostmortems(plan)) return null
  const revision = findLastRevision(db, incident.rowId).revision + 1
  const facts = findIncidentFacts(db, incident, at, entries)
  const document = JSON.stringify(generate({ ...facts, revision, generatedAt: at }))
  return { id, incidentId: incident.rowId, revision, document, generatedAt: at }
}
