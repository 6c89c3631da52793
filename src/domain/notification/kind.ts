/** The kinds of notifications, and the incident changes that cause them. */
import { rank } from '../severity.ts'
import type { LiveIncident } from '../state/live.ts'

/** Most important first. If an incident changed in several ways, the first kind in this list determines the message. */
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
 * The outbox also has kinds that cannot be used in rules. `still-firing`: a user resolved the incident, but some of its
 * alerts are still firing.
 */
export type MessageKind = NotificationKind | 'reminder' | 'escalation' | 'still-firing' | 'test'

/** The incident fields whose changes cause notifications. */
export type IncidentState = Pick<LiveIncident, 'severity' | 'status' | 'cause' | 'acknowledgedAt'>

/** Returns the most important change between two states of an incident, or null if no notification is needed. */
export function notificationKindOf(before: IncidentState | null, after: IncidentState): NotificationKind | null {
  if (before === null) return after.cause === 'silence' ? 'sender-silent' : 'opened'
  if (before.status === 'resolved' && after.status !== 'resolved') return 'reopened'
  if (before.status !== 'resolved' && after.status === 'resolved') return 'resolved'
  if (rank(after.severity) > rank(before.severity)) return 'severity'
  if (before.status !== 'monitoring' && after.status === 'monitoring') return 'monitoring'
  if (before.status === 'monitoring' && after.status !== 'monitoring') return 'reopened'
  return before.acknowledgedAt === null && after.acknowledgedAt !== null ? 'acknowledged' : null
}
