/** When the problem of an incident ended, and how long it was on, as pages show it. */
import { criticalMsOf, problemAt } from '../../domain/incident/problem.ts'
import { formatDuration } from '../../domain/shown-time.ts'
import { capitalized } from '../../domain/text.ts'
import type { IncidentRecord } from '../../store/incident/incidents.ts'
import type { IncidentHead } from './view.ts'

type State = Pick<IncidentHead, 'severity' | 'endedAt' | 'criticalMs'>

/** Returns `critical for 12 min`; without the time below a second. */
export function lastedText({ severity, criticalMs }: Omit<State, 'endedAt'>): string {
  return criticalMs < 1000 ? severity : `${severity} for ${formatDuration(criticalMs)}`
}

/** Returns `Critical for 12 min`, or `Was critical for 12 min` once the problem is over. */
export function stateText(state: State): string {
  return state.endedAt === null ? capitalized(lastedText(state)) : `Was ${lastedText(state)}`
}

/** Returns when the problem ended, or null while it is on. A resolution does not end what still fires. */
export function endOf({ problem, resolvedAt, recoveredAt, firingAlerts }: IncidentRecord, now: number): number | null {
  if (problem.isSuppressed && firingAlerts > 0) return null
  if (resolvedAt === null) return problemAt(problem, now) === 'on' ? null : problem.endedAt
  const isEarly = recoveredAt !== null && recoveredAt > resolvedAt
  return isEarly ? recoveredAt : (problem.endedAt ?? resolvedAt)
}

/** Returns how long the problem was on. The time after a resolution while it fired counts, too. */
export function criticalMsUntil(incident: IncidentRecord, now: number): number {
  const { problem, resolvedAt } = incident
  const later = resolvedAt === null ? 0 : Math.max(0, (endOf(incident, now) ?? now) - resolvedAt)
  return criticalMsOf(problem, resolvedAt ?? now) + later
}
