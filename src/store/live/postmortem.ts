/** Generates the postmortem of a resolved incident from the history. */

import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { TimelineEntry } from '../../domain/incident/timeline-entries.ts'
import { hasPostmortems } from '../../domain/organization.ts'
import { generate } from '../../domain/postmortem/postmortem.ts'
import {
  deleteDuePostmortem,
  findDuePostmortem,
  findLastRevision,
  insertPostmortem,
  listDuePostmortemsOf,
  type NewPostmortem,
} from '../incident/postmortems.ts'
import { findIncidentFacts } from '../incident/timeline-facts.ts'
import { findOrganization } from '../organizations.ts'
import type { Db } from '../sqlite/open.ts'

type Generated = Omit<NewPostmortem, 'id'>

/**
 * Generates the next revision from the saved records.
 * @param entries timeline entries that are not saved yet
 * @returns null if the plan has no postmortems
 */
export function generatePostmortem(
  db: Db,
  { incident, at }: { readonly incident: LiveIncident; readonly at: number },
  entries: readonly TimelineEntry[] = [],
): Generated | null {
  const plan = findOrganization(db, incident.organizationId)?.plan ?? 'Free'
  if (!hasPostmortems(plan)) return null
  const revision = findLastRevision(db, incident.rowId).revision + 1
  const facts = findIncidentFacts(db, incident, at, entries)
  const document = JSON.stringify(generate({ ...facts, revision, generatedAt: at }))
  return { incidentId: incident.rowId, revision, document, generatedAt: at }
}

/** Generates a due postmortem. Returns null if it has already been written, or if the plan has no postmortems. */
export function generateDuePostmortem(db: Db, rowId: number): Generated | null {
  const due = findDuePostmortem(db, rowId)
  return due && generatePostmortem(db, due)
}

/** Saves a generated postmortem, which is then no longer due. Does nothing if it has already been written. */
export function saveDuePostmortem(db: Db, rowId: number, generated: Generated | null, newId: () => string): void {
  db.transaction(() => {
    if (!deleteDuePostmortem(db, rowId) || !generated) return
    insertPostmortem(db, { ...generated, id: newId() })
  })
}

/** Writes all postmortems of an incident that are due, because another incident is about to get its alerts. */
export function writeDuePostmortemsOf(db: Db, incidentId: number, newId: () => string): void {
  for (const rowId of listDuePostmortemsOf(db, incidentId)) {
    saveDuePostmortem(db, rowId, generateDuePostmortem(db, rowId), newId)
  }
}
