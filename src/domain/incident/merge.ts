/** Merges incidents: one incident takes the records of another, which is then resolved. */
import { rank, type Severity } from '../severity.ts'
import type { IncidentStatus } from './incident.ts'

/** The fields of an incident that a merge reads. Times in milliseconds UTC. */
export type Mergeable = {
  readonly id: string
  readonly title: string
  readonly severity: Severity
  readonly status: IncidentStatus
  readonly startedAt: number
}

/** The new fields of the remaining incident, and the entries of both timelines. */
export type Merge = {
  readonly severity: Severity
  readonly startedAt: number
  /** The text in the timeline of the remaining incident. */
  readonly took: string
  /** The text in the timeline of the resolved incident. */
  readonly why: string
}

/** Kinds of timeline entries that describe the incident itself. A merge does not move them. */
export const OWN_ENTRIES = ['status', 'reopened'] as const

/** Returns why two incidents cannot be merged and what to do; null if they can. */
export function refuseMerge(from: Mergeable, into: Mergeable): string | null {
  if (from.id === into.id) return 'an incident cannot be merged into itself: name two incidents'
  if (into.status === 'resolved') return `the incident ${into.id} is resolved: reopen it first, or merge the other way`
  return null
}

/** Returns the remaining incident with the higher severity and the earlier start. */
export function mergeOf(from: Mergeable, into: Mergeable): Merge {
  return {
    severity: rank(from.severity) > rank(into.severity) ? from.severity : into.severity,
    startedAt: Math.min(from.startedAt, into.startedAt),
    took: `took over the alerts and the timeline of the incident ${from.title}`,
    why: `merged into ${into.title}`,
  }
}
