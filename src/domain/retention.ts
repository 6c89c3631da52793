/**
 * Retention: which records have expired, which are kept because they are referenced, and when pruning needs
 * confirmation.
 */

import type { Alert } from './alert/alert.ts'
import type { StoredEvent } from './event/event.ts'
import type { LiveIncident } from './incident/live-incident.ts'
import type { Settings } from './organization.ts'
import { START } from './suspect/searched.ts'
import { DAY } from './units.ts'

/**
 * Records from these times (ms UTC) or earlier have expired. Rejections and groups have the same cutoff as events, and
 * incidents without a postmortem have the same cutoff as alerts. `incidents`: for incidents with a postmortem.
 */
export type Cutoffs = {
  readonly now: number
  readonly events: number
  readonly alerts: number
  readonly incidents: number
}

/** Returns an organization's cutoffs at `now`. */
export function cutoffsAt(settings: Settings, now: number): Cutoffs {
  const alerts = now - settings['retention-alerts-days'] * DAY
  const days = settings['retention-incidents-days']
  return {
    now,
    events: now - settings['retention-events-days'] * DAY,
    alerts,
    // An incident with a postmortem is kept at least as long as its alerts.
    incidents: days === 0 ? Number.NEGATIVE_INFINITY : Math.min(alerts, now - days * DAY),
  }
}

/** Returns whether an event has expired: neither its own time nor its time of receipt is later than the cutoff. */
export function isEventDue(
  event: Pick<StoredEvent, 'at' | 'receivedAt'>,
  { events }: Pick<Cutoffs, 'events'>,
): boolean {
  return event.at <= events && event.receivedAt <= events
}

/** `due`: the number of expired records. `total`: the number of all records. */
export type Share = { readonly due: number; readonly total: number }

/**
 * Returns whether pruning would delete more than half of the records. In that case, the clock or a setting is probably
 * wrong, so a user has to confirm.
 */
export function isTooMuch({ due, total }: Share): boolean {
  return 2 * due > total
}

/** The time and row id of a record that was checked. */
export type Cursor = { readonly at: number; readonly id: number }

/**
 * The incident fields that matter for retention. Times in ms UTC. `hasLiveAlert`: whether one of the incident's alerts is
 * firing or can be reopened.
 */
export type AgedIncident = Pick<LiveIncident, 'status' | 'createdAt' | 'startedAt' | 'resolvedAt' | 'touchedAt'> & {
  readonly hasPostmortem: boolean
  readonly hasLiveAlert: boolean
}

/**
 * Returns whether an incident has expired: it is resolved, none of its alerts can change, and none of its times is later
 * than the cutoff.
 */
export function isIncidentDue(incident: AgedIncident, { alerts, incidents }: Cutoffs): boolean {
  const { status, createdAt, startedAt, resolvedAt, touchedAt, hasPostmortem, hasLiveAlert } = incident
  const last = Math.max(createdAt, startedAt, resolvedAt ?? createdAt, touchedAt ?? createdAt)
  return status === 'resolved' && !hasLiveAlert && last <= (hasPostmortem ? incidents : alerts)
}

/** The range of records that a retained incident refers to. Times in ms UTC. */
export type IncidentReferences = {
  readonly from: number
  readonly to: number
  /** Scalings and pipelines from this time on are needed to determine which changes were new. */
  readonly changesFrom: number
  /** Alerts of the entire organization from this time on are needed to rank suspects. */
  readonly troublesFrom: number
  readonly scalingsFrom: number
  readonly alertsFrom: number
  /**
   * The records that the timeline needs from each service, by row id: events no later than `eventsTo`, and
   * scalings from `scalingsFrom` on.
   */
  readonly services: ReadonlyMap<number, { readonly eventsTo: number; readonly scalingsFrom: number }>
}

/** The kinds of events shown in the timeline if they belong to an affected service. */
export const TIMELINE_KINDS = ['firing', 'resolved', 'change', 'info'] as const
const TOLD: ReadonlySet<string> = new Set(TIMELINE_KINDS)

/** Returns whether a retained incident needs the event. */
export function referencesEvent(
  event: Pick<StoredEvent, 'at' | 'source' | 'kind' | 'name' | 'serviceId'>,
  reach: IncidentReferences,
): boolean {
  const { at, source, kind, name } = event
  if (at < reach.changesFrom || at > reach.to) return false
  if (kind === 'change' && at >= reach.scalingsFrom) return true
  if (source === 'cluster' && kind === 'firing' && at >= reach.troublesFrom) return true
  if (source === 'cluster' && name === START && at >= reach.from) return true
  const own = event.serviceId === null ? undefined : reach.services.get(event.serviceId)
  if (!own) return false
  return (kind === 'change' && at >= own.scalingsFrom) || (TOLD.has(kind) && at >= reach.from && at <= own.eventsTo)
}

/**
 * Returns whether a retained incident needs the alert to rank suspects. Only alerts that overlap in time with the
 * incident are needed.
 */
export function referencesAlert(alert: Pick<Alert, 'startsAt' | 'lastSeenAt'>, reach: IncidentReferences): boolean {
  return alert.startsAt <= reach.to && alert.startsAt >= reach.alertsFrom && alert.lastSeenAt >= reach.from
}

/** Returns whether a retained incident needs the pipeline. */
export function referencesPipeline(pipeline: { readonly startsAt: number }, reach: IncidentReferences): boolean {
  return pipeline.startsAt >= reach.changesFrom && pipeline.startsAt <= reach.to
}
