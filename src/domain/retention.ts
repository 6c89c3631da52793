/**
 * Retention: which records are expired, which are kept because of references, and when a person must confirm pruning.
 */
import type { Source } from './event/event.ts'
import type { IncidentStatus } from './incident/incident.ts'
import type { Settings } from './organization.ts'

const DAY = 86_400_000

/** Records up to these times are expired, in ms UTC. Rejections and groups expire like events. */
export type Cutoffs = { readonly now: number; readonly events: number; readonly alerts: number }

/** Returns the cutoffs of an organization at `now`. */
export function cutoffsAt(settings: Settings, now: number): Cutoffs {
  return {
    now,
    events: now - settings['retention-events-days'] * DAY,
    alerts: now - settings['retention-alerts-days'] * DAY,
  }
}

/** Returns whether an event is expired, both by the sender's time and by the time of receipt. */
export function isEventDue(
  event: { readonly at: number; readonly receivedAt: number },
  { events }: Pick<Cutoffs, 'events'>,
): boolean {
  return event.at <= events && event.receivedAt <= events
}

/** The number of expired records, and of all records. */
export type Share = { readonly due: number; readonly total: number }

/**
 * Returns whether more than half would be deleted. The clock or a setting is then probably wrong, and a person must
 * confirm.
 */
export function isTooMuch({ due, total }: Share): boolean {
  return 2 * due > total
}

/** The position of pruning: the time, and the row ID within that time. */
export type Cursor = { readonly at: number; readonly id: number }

/**
 * Returns the position at which pruning continues. If the clock was ahead or the limit was shorter, records are checked
 * again.
 */
export function resumeAt(cursor: Cursor, cutoff: number): Cursor {
  return cursor.at > cutoff ? { at: cutoff, id: 0 } : cursor
}

/** The fields of an incident that retention needs. Times in ms UTC. */
export type AgedIncident = {
  readonly status: IncidentStatus
  readonly createdAt: number
  readonly startedAt: number
  readonly resolvedAt: number | null
  readonly touchedAt: number | null
  readonly hasPostmortem: boolean
}

/** Returns whether an incident is expired: resolved, without a postmortem, and with all its times before the limit. */
export function isIncidentDue(incident: AgedIncident, { alerts }: Cutoffs): boolean {
  const { status, createdAt, startedAt, resolvedAt, touchedAt, hasPostmortem } = incident
  const last = Math.max(createdAt, startedAt, resolvedAt ?? createdAt, touchedAt ?? createdAt)
  return status === 'resolved' && !hasPostmortem && last <= alerts
}

/** The records that a kept incident needs for its responses. Times in ms UTC. The number of each kind is limited. */
export type IncidentReferences = {
  readonly from: number
  readonly to: number
  /** Scalings and pipelines from this time on are needed to recognize new ones. */
  readonly changesFrom: number
  /** Alerts of the whole organization from this time on are needed for suspects. */
  readonly troublesFrom: number
  readonly scalingsFrom: number
  readonly alertsFrom: number
  /**
   * The events and scalings that the timeline needs, by row ID of the service: events until `eventsTo`, and scalings
   * from `scalingsFrom` on.
   */
  readonly services: ReadonlyMap<number, { readonly eventsTo: number; readonly scalingsFrom: number }>
}

/** Kinds of events that appear in a timeline if they belong to a service of the incident. */
const TOLD: readonly string[] = ['firing', 'change', 'info']

/** Returns whether a kept incident needs the event. */
export function referencesEvent(
  event: {
    readonly at: number
    readonly source: Source
    readonly kind: string
    readonly serviceId: number | null
  },
  reach: IncidentReferences,
): boolean {
  const { at, source, kind } = event
  if (at < reach.changesFrom || at > reach.to) return false
  if (kind === 'change' && at >= reach.scalingsFrom) return true
  if (source === 'cluster' && kind === 'firing' && at >= reach.troublesFrom) return true
  const own = event.serviceId === null ? undefined : reach.services.get(event.serviceId)
  if (!own) return false
  return (
    (kind === 'change' && at >= own.scalingsFrom) || (TOLD.includes(kind) && at >= reach.from && at <= own.eventsTo)
  )
}

/**
 * Returns whether a kept incident needs the alert for its suspects, because it lasted into the period of the incident.
 */
export function referencesAlert(
  alert: { readonly startsAt: number; readonly lastSeenAt: number },
  reach: IncidentReferences,
): boolean {
  return alert.startsAt <= reach.to && alert.startsAt >= reach.alertsFrom && alert.lastSeenAt >= reach.from
}

/** Returns whether a kept incident needs the pipeline. */
export function referencesPipeline(
  { startsAt }: { readonly startsAt: number },
  { changesFrom, to }: IncidentReferences,
): boolean {
  return startsAt >= changesFrom && startsAt <= to
}
