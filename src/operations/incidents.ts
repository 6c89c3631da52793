/** Incidents by hand: opened, moved, edited, annotated. */
import { IncmonError } from '../domain/error.ts'
import type { IncidentStatus } from '../domain/incident/incident.ts'
import type { Severity } from '../domain/severity.ts'
import { listConditions } from '../store/conditions.ts'
import { findIncidentRow, type IncidentRow, insertIncident, updateIncident } from '../store/incident-rows.ts'
import { believePerson } from '../store/service-evaluations.ts'
import { findServiceRow } from '../store/service-rows.ts'
import { insertTimelineEntry } from '../store/timeline.ts'
import type { Deps } from './deps.ts'
import { evaluate } from './evaluate.ts'
import { moveIncident } from './incident-moves.ts'
import { inTransaction } from './transaction.ts'

/** The UUID of the new incident; firing alerts of its service join it. */
export function createIncident(
  deps: Deps,
  organizationId: number,
  wanted: { readonly title: string; readonly serviceId: string; readonly severity: Severity },
  actor: string,
): string {
  const now = deps.now()
  const uuid = deps.newId()
  inTransaction(deps, (inside) => {
    const service = findServiceRow(deps.db, organizationId, wanted.serviceId)
    if (!service) {
      throw new IncmonError('unprocessable', 'serviceId: no such service', [
        { path: 'serviceId', message: 'no such service' },
      ])
    }
    const firing = listConditions(deps.db, service.id, now).filter(
      ({ status, severity, inIncident }) => status === 'firing' && severity !== 'info' && !inIncident,
    )
    const incident = insertIncident(deps.db, {
      uuid,
      organizationId,
      serviceId: service.id,
      title: wanted.title,
      severity: wanted.severity,
      status: 'open',
      origin: 'manual',
      cause: 'service',
      createdAt: now,
      startedAt: Math.min(now, ...firing.map(({ startsAt }) => startsAt)),
      acknowledgedAt: null,
      resolvedAt: null,
      touchedAt: now,
    })
    const text = `opened: ${wanted.title}`
    insertTimelineEntry(deps.db, incident.id, { at: now, kind: 'opened', text, actor, ref: null })
    evaluate(inside, service.id, now)
    inside.announce({ kind: 'incident', id: uuid, organizationId })
  })
  return uuid
}

export type IncidentChange = {
  readonly status?: IncidentStatus | undefined
  readonly title?: string | undefined
  readonly severity?: Severity | undefined
  readonly startedAt?: number | undefined
}

/** Changes what is named, and tells whether anything changed: a status that it already has does not. Resolved may be reopened. */
export function changeIncident(
  deps: Deps,
  organizationId: number,
  uuid: string,
  change: IncidentChange,
  actor: string,
): boolean {
  const now = deps.now()
  return inTransaction(deps, (inside) => {
    const before = required(deps, organizationId, uuid)
    const after = changed(before, change, now)
    if (after === before) return false
    for (const text of edits(before, after)) {
      insertTimelineEntry(deps.db, before.id, { at: now, kind: 'edited', text, actor, ref: null })
    }
    if (!moveIncident(inside, { before, after, why: null, actor, now })) {
      throw new IncmonError('conflict', 'somebody else changed it: look again')
    }
    if (after.status === before.status) return true
    // Who says that it is over, or all but over, while the trouble goes on is believed until it has cleared once.
    if (after.status === 'resolved' || after.status === 'monitoring') believePerson(deps.db, before.serviceId)
    evaluate(inside, before.serviceId, now)
    return true
  })
}

function changed(before: IncidentRow, change: IncidentChange, now: number): IncidentRow {
  const status = change.status ?? before.status
  const wanted = {
    ...before,
    title: change.title ?? before.title,
    severity: change.severity ?? before.severity,
    startedAt: change.startedAt ?? before.startedAt,
    status,
  }
  const same = (['title', 'severity', 'startedAt', 'status'] as const).every((name) => wanted[name] === before[name])
  if (same) return before
  if (wanted.startedAt > now && wanted.startedAt !== before.startedAt) {
    throw new IncmonError('invalid', 'startedAt: lies in the future', [
      { path: 'startedAt', message: 'lies in the future' },
    ])
  }
  return {
    ...wanted,
    // It was opened by a clock that was ahead: whatever a person changes of it, it has begun by now.
    startedAt: Math.min(wanted.startedAt, now),
    acknowledgedAt: before.acknowledgedAt ?? (status === before.status || status === 'open' ? null : now),
    resolvedAt: status === 'resolved' ? (before.resolvedAt ?? now) : null,
    touchedAt: now,
  }
}

function edits(before: IncidentRow, after: IncidentRow): string[] {
  const texts: string[] = []
  if (before.title !== after.title) texts.push(`title: ${after.title}`)
  if (before.severity !== after.severity) texts.push(`severity: ${after.severity}, ${before.severity} before`)
  if (before.startedAt !== after.startedAt) texts.push('start time corrected')
  return texts
}

export function addNote(deps: Deps, organizationId: number, uuid: string, text: string, actor: string): void {
  const now = deps.now()
  deps.db.transaction(() => {
    const incident = required(deps, organizationId, uuid)
    insertTimelineEntry(deps.db, incident.id, { at: now, kind: 'note', text, actor, ref: null })
    updateIncident(deps.db, incident, { ...incident, touchedAt: now })
  })
  deps.announce({ kind: 'incident', id: uuid, organizationId })
}

function required(deps: Deps, organizationId: number, uuid: string): IncidentRow {
  const incident = findIncidentRow(deps.db, organizationId, uuid)
  if (!incident) throw new IncmonError('not-found', 'no such incident')
  return incident
}
