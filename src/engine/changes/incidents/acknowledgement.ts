/** What a user's change of the status does to the acknowledgement of an incident. */
import type { IncidentStatus } from '../../../domain/incident/incident.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import { settledAtOf } from '../../../domain/incident/problem.ts'

/** Returns the changed fields: nothing, a new acknowledgement, or the withdrawal of the last one. */
export function acknowledged(before: LiveIncident, status: IncidentStatus, actor: string, now: number) {
  if (acknowledges(before, status)) return acknowledgement(before, actor, now)
  return status === 'open' && before.status !== 'resolved' ? withdrawal(before) : {}
}

/** Returns whether a user's change of the status acknowledges the incident. A resolution does not. */
function acknowledges(before: LiveIncident, status: IncidentStatus): boolean {
  const { acknowledgedAt, problem } = before
  if (status === before.status || status === 'open' || status === 'resolved') return false
  const recoveredAt = problem.isOver ? settledAtOf(problem) : null
  // After a recovery, somebody who takes the incident again acknowledges it anew.
  return acknowledgedAt === null || (recoveredAt !== null && acknowledgedAt <= recoveredAt && status !== 'monitoring')
}

/** Who reopens an incident works on it, but nobody acknowledged it before it was resolved. */
function acknowledgement({ status, problem }: LiveIncident, actor: string, now: number) {
  const firstAcknowledgedAt = problem.firstAcknowledgedAt ?? (status === 'resolved' ? null : now)
  return { acknowledgedAt: now, acknowledgedBy: actor, problem: { ...problem, firstAcknowledgedAt } }
}

/**
 * Returns the changed fields of an incident whose problem is on again: it is open, unless somebody acknowledged it after
 * the recovery. An acknowledgement given before lapses.
 */
export function onAgain({ status, acknowledgedAt, problem }: LiveIncident, now: number, wasWrong = false) {
  const recoveredAt = settledAtOf(problem) ?? now
  const isKept = acknowledgedAt !== null && acknowledgedAt > recoveredAt && !wasWrong
  const lapsed = { acknowledgedAt: null, acknowledgedBy: null }
  return { ...(isKept ? {} : lapsed), status: isKept && status !== 'resolved' ? status : ('open' as const) }
}

/** Somebody takes back an acknowledgement: nobody is on the incident any more. */
function withdrawal({ status, acknowledgedAt, problem }: LiveIncident) {
  if (status === 'open') return {}
  const isFirst = problem.firstAcknowledgedAt === acknowledgedAt
  return {
    ...{ acknowledgedAt: null, acknowledgedBy: null },
    problem: isFirst ? { ...problem, firstAcknowledgedAt: null } : problem,
  }
}
