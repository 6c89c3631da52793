/** The kinds of notifications, and which change of an incident has which kind. */
import type { IncidentStatus } from '../incident/incident.ts'
import { rank, type Severity } from '../severity.ts'

/** Sorted by importance. If an incident has several changes, the first kind in this list decides the text. */
export const NOTIFICATION_KINDS = [
  'opened',
  'sender-silent',
  'reopened',
  'resolved',
  'severity',
  'monitoring',
  'acknowledged',
] as const
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number]

/**
 * The outbox also has kinds that no rule names. `still-firing`: a person resolved the incident, but its alerts still
 * fire.
 */
export type MessageKind = NotificationKind | 'reminder' | 'escalation' | 'still-firing' | 'test'

/** The fields of an incident whose changes cause notifications. */
export type IncidentState = {
  readonly severity: Severity
  readonly status: IncidentStatus
  readonly cause: 'service' | 'silence'
  readonly acknowledgedAt: number | null
}

/** Returns the kind for the most important change between two states of an incident; null if nobody needs to know. */
export function notificationKindOf(before: IncidentState | null, after: IncidentState): NotificationKind | null {
  if (before === null) return after.cause === 'silence' ? 'sender-silent' : 'opened'
  if (before.status === 'resolved' && after.status !== 'resolved') return 'reopened'
  if (before.status !== 'resolved' && after.status === 'resolved') return 'resolved'
  if (rank(after.severity) > rank(before.severity)) return 'severity'
  if (before.status !== 'monitoring' && after.status === 'monitoring') return 'monitoring'
  if (before.status === 'monitoring' && after.status !== 'monitoring') return 'reopened'
  return before.acknowledgedAt === null && after.acknowledgedAt !== null ? 'acknowledged' : null
}
