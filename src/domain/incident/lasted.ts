/** When the problem of an incident ended, and how long it was on. Pages and the API use only these functions. */
import { criticalMsOf, type Problem, problemAt } from './problem.ts'

/** Times are Unix times in milliseconds. `recoveredAt`: when the last alert ended; null if one is firing. */
type Lasting = {
  readonly problem: Problem
  readonly resolvedAt: number | null
  readonly recoveredAt: number | null
  /** How many of the incident's alerts are firing. */
  readonly firingAlerts: number
}

/** Returns when the problem ended, or null while it is on. A resolution does not end what still fires. */
export function endOf({ problem, resolvedAt, recoveredAt, firingAlerts }: Lasting, now: number): number | null {
  if (problem.isSuppressed && firingAlerts > 0) return null
  if (resolvedAt === null) return problemAt(problem, now) === 'on' ? null : problem.endedAt
  const isEarly = recoveredAt !== null && recoveredAt > resolvedAt
  return isEarly ? recoveredAt : (problem.endedAt ?? resolvedAt)
}

/** Returns how long the problem was on. The time after a resolution while it fired counts, too. */
export function criticalMsUntil(incident: Lasting, now: number): number {
  const { problem, resolvedAt } = incident
  const later = resolvedAt === null ? 0 : Math.max(0, (endOf(incident, now) ?? now) - resolvedAt)
  return criticalMsOf(problem, resolvedAt ?? now) + later
}
