/** What a user's change of the status, or the return of a problem, does to the acknowledgement of an incident. */
import type { IncidentStatus } from './incident.ts'
import type { LiveIncident } from './live-incident.ts'
import { settledAtOf } from './problem.ts'

type Acknowledged = Pick<LiveIncident, 'status' | 'acknowledgedAt' | 'problem'>

/** Returns whether somebody has acknowledged the incident since its problem was last over, at `now` if it is not. */
function isTaken({ acknowledgedAt, problem }: Acknowledged, now: number): boolean {
  return acknowledgedAt !== null && acknowledgedAt > (settledAtOf(problem) ?? now)
}

/** Returns the changed fields: nothing, a new acknowledgement, or the withdrawal of the last one. */
export function acknowledged(before: Acknowledged, status: IncidentStatus, actor: string, now: number) {
  if (acknowledges(before, status)) return acknowledgement(before, actor, now)
  return status === 'open' ? withdrawal(before) : {}
}

/** Returns whether a user's change of the status acknowledges the incident. A resolution does not. */
function acknowledges(before: Acknowledged, status: IncidentStatus): boolean {
  if (status === before.status || status === 'open' || status === 'resolved') return false
  if (before.acknowledgedAt === null) return true
  // After a recovery, somebody who takes the incident again acknowledges it anew.
  return before.problem.isOver && status !== 'monitoring' && !isTaken(before, Number.NEGATIVE_INFINITY)
}

/** Who reopens an incident works on it, but nobody acknowledged it before it was resolved. */
function acknowledgement({ status, problem }: Acknowledged, actor: string, now: number) {
  const firstAcknowledgedAt = problem.firstAcknowledgedAt ?? (status === 'resolved' ? null : now)
  return { acknowledgedAt: now, acknowledgedBy: actor, problem: { ...problem, firstAcknowledgedAt } }
}

/**
 * Returns the changed fields of an incident whose problem is on again: it is open, unless somebody acknowledged it after
 * the recovery. An acknowledgement given before lapses.
 */
export function onAgain(before: Acknowledged, now: number, wasWrong = false) {
  const { status } = before
  const isKept = isTaken(before, now) && !wasWrong
  const lapsed = { acknowledgedAt: null, acknowledgedBy: null }
  return { ...(isKept ? {} : lapsed), status: isKept && status !== 'resolved' ? status : ('open' as const) }
}

/**
 * Somebody takes back an acknowledgement, or opens what was resolved: nobody is on the incident any more. What was
 * acknowledged before the resolution had been.
 */
function withdrawal({ status, acknowledgedAt, problem }: Acknowledged) {
  if (status === 'open') return {}
  const isTakenBack = status !== 'resolved' && problem.firstAcknowledgedAt === acknowledgedAt
  return {
    ...{ acknowledgedAt: null, acknowledgedBy: null },
    problem: isTakenBack ? { ...problem, firstAcknowledgedAt: null } : problem,
  }
}

/**
 * Returns the changed fields of an incident that takes over the problem of another one: if nobody has acknowledged it,
 * whoever works on the other one works on it.
 */
export function takenOver(from: Acknowledged & Pick<LiveIncident, 'acknowledgedBy'>, into: Acknowledged) {
  const { status, acknowledgedAt, acknowledgedBy, problem } = from
  const isWorkedOn = (status === 'investigating' || status === 'identified') && acknowledgedAt !== null
  if (!isWorkedOn || into.status !== 'open') return {}
  const firstAcknowledgedAt = into.problem.firstAcknowledgedAt ?? problem.firstAcknowledgedAt
  return { status, acknowledgedAt, acknowledgedBy, problem: { ...into.problem, firstAcknowledgedAt } }
}
