/** The merge of two incidents by a person. */
import { IncmonError } from '../domain/error.ts'
import { mergeOf, OWN_ENTRIES, refuseMerge } from '../domain/incident/merge.ts'
import { moveIncidentRecords } from '../store/incident-merge.ts'
import { findIncidentRow } from '../store/incident-rows.ts'
import { believePerson } from '../store/service-evaluations.ts'
import { insertTimelineEntry } from '../store/timeline.ts'
import type { Deps } from './deps.ts'
import { evaluate } from './evaluate.ts'
import { moveIncident } from './incident-moves.ts'
import { inTransaction } from './transaction.ts'

const NO_INCIDENT = 'no such incident'

/**
 * Moves the alerts, links and timeline of an incident to another one of the organization, and resolves it.
 * @throws IncmonError `not-found`; `unprocessable` if there is no incident `into`; `conflict` if the two cannot be merged
 */
export function mergeIncidents(
  deps: Deps,
  organizationId: number,
  uuids: { readonly from: string; readonly into: string },
  actor: string,
): void {
  const now = deps.now()
  inTransaction(deps, (inside) => {
    const from = findIncidentRow(deps.db, organizationId, uuids.from)
    if (!from) throw new IncmonError('not-found', NO_INCIDENT)
    const into = findIncidentRow(deps.db, organizationId, uuids.into)
    if (!into) {
      throw new IncmonError('unprocessable', `into: ${NO_INCIDENT}`, [{ path: 'into', message: NO_INCIDENT }])
    }
    const refusal = refuseMerge(from, into)
    if (refusal !== null) throw new IncmonError('conflict', refusal)
    const { severity, startedAt, took, why } = mergeOf(from, into)
    // Before anything is moved: its postmortem tells what it was about.
    if (from.status !== 'resolved') {
      const after = {
        ...from,
        status: 'resolved',
        acknowledgedAt: from.acknowledgedAt ?? now,
        resolvedAt: now,
      } as const
      moveIncident(inside, { before: from, after: { ...after, touchedAt: now }, why, actor, now })
    }
    moveIncidentRecords(deps.db, from.id, into.id, OWN_ENTRIES)
    const merged = { at: now, kind: 'merged', actor } as const
    insertTimelineEntry(deps.db, from.id, { ...merged, text: why, ref: `incident/${into.uuid}` })
    insertTimelineEntry(deps.db, into.id, { ...merged, text: took, ref: `incident/${from.uuid}` })
    moveIncident(inside, { before: into, after: { ...into, severity, startedAt, touchedAt: now }, why, actor, now })
    if (from.serviceId !== into.serviceId && from.status !== 'resolved') {
      // Its trouble goes on in the other incident: no new one opens for it until it has cleared once.
      believePerson(deps.db, from.serviceId)
      evaluate(inside, from.serviceId, now)
    }
    evaluate(inside, into.serviceId, now)
  })
}
