/** The kinds of messages, and the changes of an incident that cause them. */

import { type Rated, severityNow, worstSeverity } from '../incident/lasted.ts'
import type { LiveIncident } from '../incident/live-incident.ts'
import { rank, type Severity } from '../severity.ts'

/** The kinds that rules can name, most important first. */
export const NOTIFICATION_KINDS = [
  'opened',
  'group',
  'worse',
  'again',
  'flapping',
  'sender-silent',
  'recovered',
  'resolved',
  'reopened',
  'severity',
  'acknowledged',
  'reminder',
  'escalation',
  'still-firing',
] as const
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number]

export type MessageKind = NotificationKind | 'test'

/** The messages that say that something new burns. They do not wait for a receiver that failed to get other messages. */
export const PAGES: ReadonlySet<MessageKind> = new Set([
  ...(['opened', 'group', 'worse', 'again', 'reopened', 'sender-silent', 'escalation'] as const),
])

/** The messages that say that a problem is over. */
export const OVER: ReadonlySet<MessageKind> = new Set(['recovered', 'resolved'] as const)

/** What only those hear who were told of the incident. */
export const CALM: ReadonlySet<MessageKind> = new Set([...OVER, 'acknowledged'] as const)

/** Returns the severity of an incident with which the rules of channels compare a message about it: of an end, the worst. */
export function ruledSeverityOf(kind: MessageKind, incident: Rated): Severity {
  return OVER.has(kind) ? worstSeverity(incident) : severityNow(incident)
}

/** What a channel hears that nobody is working on an incident. */
export const REMINDERS: ReadonlySet<MessageKind> = new Set(['reminder', 'escalation'] as const)

/** Returns the present name of a kind. `recovered` was called `monitoring`. */
export function currentKind(kind: NotificationKind | 'monitoring'): NotificationKind {
  return kind === 'monitoring' ? 'recovered' : kind
}

/** The incident fields whose changes by a person cause messages. */
export type IncidentState = Rated & Pick<LiveIncident, 'status' | 'cause' | 'acknowledgedAt'>

/** Returns the most important change between two states of an incident, or null if no message is needed. */
export function notificationKindOf(before: IncidentState | null, after: IncidentState): NotificationKind | null {
  if (before === null) return after.cause === 'silence' ? 'sender-silent' : 'opened'
  if (before.status === 'resolved' && after.status !== 'resolved') return 'reopened'
  if (before.status !== 'resolved' && after.status === 'resolved') return 'resolved'
  if (rank(severityNow(after)) > rank(severityNow(before))) return 'severity'
  if (takesBack(before, after)) return 'reopened'
  return after.acknowledgedAt !== null && after.acknowledgedAt !== before.acknowledgedAt ? 'acknowledged' : null
}

/** Returns whether a user takes an acknowledgement back: nobody works on the incident any more. */
export function takesBack(before: IncidentState, after: IncidentState): boolean {
  return before.status !== 'resolved' && before.acknowledgedAt !== null && after.acknowledgedAt === null
}
