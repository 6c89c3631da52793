/** The moves of an incident, whoever makes them: its row, its timeline, and at its end the postmortem. */
import { type IncidentRow, updateIncident } from '../store/incident-rows.ts'
import { insertTimelineEntry } from '../store/timeline.ts'
import type { Deps } from './deps.ts'
import { writePostmortem } from './postmortems.ts'

export type Move = {
  readonly before: IncidentRow
  readonly after: IncidentRow
  /** For the timeline, behind the new status. */
  readonly why: string | null
  /** The token's name, or the login name of who ran a command; null for the machine. */
  readonly actor: string | null
  readonly now: number
}

/**
 * Moves an incident inside the caller's transaction; false where its status is no longer the one that was decided on.
 * Becoming resolved writes its postmortem in the same commit.
 */
export function moveIncident(deps: Deps, { before, after, why, actor, now }: Move): boolean {
  if (!updateIncident(deps.db, before, after)) return false
  if (after.status !== before.status) {
    const kind = before.status === 'resolved' ? 'reopened' : 'status'
    const text = why === null ? after.status : `${after.status}: ${why}`
    insertTimelineEntry(deps.db, before.id, { at: now, kind, text, actor, ref: null })
    if (after.status === 'resolved') writePostmortem(deps, after, now)
  }
  deps.announce({ kind: 'incident', id: before.uuid, organizationId: before.organizationId })
  return true
}
