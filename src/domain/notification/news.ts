/** News: what a change of an incident means for people. */
import type { IncidentStatus } from '../incident/incident.ts'
import { rank, type Severity } from '../severity.ts'

/** In the order in which a reader needs them: the first of several changes decides the words. */
export const NEWS_KINDS = [
  'opened',
  'sender-silent',
  'reopened',
  'resolved',
  'severity',
  'monitoring',
  'acknowledged',
] as const
export type NewsKind = (typeof NEWS_KINDS)[number]

/**
 * What the outbox also holds, and what no rule names: a reminder follows the incident that it is about.
 * `still-firing`: a person resolved the incident, but its alerts go on.
 */
export type MessageKind = NewsKind | 'reminder' | 'escalation' | 'still-firing' | 'test'

/** The parts of an incident that people are told about. */
export type IncidentState = {
  readonly severity: Severity
  readonly status: IncidentStatus
  readonly cause: 'service' | 'silence'
  readonly acknowledgedAt: number | null
}

/** Returns the most important news between two states of an incident; null if nobody needs to know. */
export function newsOf(before: IncidentState | null, after: IncidentState): NewsKind | null {
  if (before === null) return after.cause === 'silence' ? 'sender-silent' : 'opened'
  if (before.status === 'resolved' && after.status !== 'resolved') return 'reopened'
  if (before.status !== 'resolved' && after.status === 'resolved') return 'resolved'
  if (rank(after.severity) > rank(before.severity)) return 'severity'
  if (before.status !== 'monitoring' && after.status === 'monitoring') return 'monitoring'
  if (before.status === 'monitoring' && after.status !== 'monitoring') return 'reopened'
  return before.acknowledgedAt === null && after.acknowledgedAt !== null ? 'acknowledged' : null
}
