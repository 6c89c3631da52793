/** Merging incidents: one incident takes over what belongs to another one, which is then resolved. */
import { rank, type Severity } from '../severity.ts'
import type { IncidentStatus } from './incident.ts'

/** What a merge reads of an incident. Times in milliseconds UTC. */
export type Mergeable = {
  readonly id: string
  readonly title: string
  readonly severity: Severity
  readonly status: IncidentStatus
  readonly startedAt: number
}

/** What becomes of the incident that remains, and what both timelines say. */
export type Merge = {
  readonly severity: Severity
  readonly startedAt: number
  /** In the timeline of the incident that remains. */
  readonly took: string
  /** In the timeline of the incident that is resolved. */
  readonly why: string
}

/** Entries about the incident itself stay with it: they would be wrong about the other one. */
export const OWN_ENTRIES = ['status', 'reopened'] as const

/** Returns the sentence that refuses a merge, with what to do; null if the two can be merged. */
export function refuseMerge(from: Mergeable, into: Mergeable): string | null {
  if (from.id === into.id) return 'an incident cannot be merged into itself: name two incidents'
  if (into.status === 'resolved') return `the incident ${into.id} is resolved: reopen it first, or merge the other way`
  return null
}

/** Returns what a merge makes of the incident that remains: as severe as the worse one, begun with the earlier one. */
export function mergeOf(from: Mergeable, into: Mergeable): Merge {
  return {
    severity: rank(from.severity) > rank(into.severity) ? from.severity : into.severity,
    startedAt: Math.min(from.startedAt, into.startedAt),
    took: `took over the alerts and the timeline of the incident ${from.title}`,
    why: `merged into ${into.title}`,
  }
}
