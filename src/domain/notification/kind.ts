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

/** Names longer than this are cut: a lock screen shows about 100 characters. */
const MAX_NAME = 60

/**
 * Returns whether a service represents a sender. The name of such a service is, for example, `source/metrics/incmon`.
 */
export function isSender(service: string): boolean {
  return service.startsWith('source/')
}

/** Returns the name that people use for a service. For a sender, this is the name of its program. */
export function shownName(service: string): string {
  if (!isSender(service)) return shortened(service)
  const [, source = '', ...receiver] = service.split('/')
  const names: Record<string, string> = {
    metrics: 'Alertmanager',
    dashboard: 'Grafana',
    cluster: 'Kubernetes',
    ci: 'GitLab',
  }
  const name = names[source] ?? service
  return shortened(receiver.length === 0 ? name : `${name} (${receiver.join('/')})`)
}

/** Returns one line without control characters, of at most `longest` characters. */
export function shortened(text: string, longest = MAX_NAME): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return line.length <= longest ? line : `${line.slice(0, longest - 1).toWellFormed()}…`
}
