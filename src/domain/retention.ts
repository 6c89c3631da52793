/** Retention: what is old enough to be deleted, what is kept because something cites it, and what waits for a person. */
import type { Source } from './event/event.ts'
import type { IncidentStatus } from './incident/incident.ts'
import type { Settings } from './organization.ts'

const DAY = 86_400_000

/** What is not younger than these times is old, in milliseconds UTC. Rejections and groups age as events do. */
export type Cutoffs = { readonly now: number; readonly events: number; readonly alerts: number }

/** The limits of an organization at `now`. */
export function cutoffsAt(settings: Settings, now: number): Cutoffs {
  return {
    now,
    events: now - settings['retention-events-days'] * DAY,
    alerts: now - settings['retention-alerts-days'] * DAY,
  }
}

/** Whether an event is old, by when the sender says that it happened and by when it arrived. */
export function isEventDue(
  event: { readonly at: number; readonly receivedAt: number },
  { events }: Pick<Cutoffs, 'events'>,
): boolean {
  return event.at <= events && event.receivedAt <= events
}

/** Due out of all, by their number. */
export type Share = { readonly due: number; readonly total: number }

/** More than half at once is hardly the passing of time, but a clock that jumped or a limit set by mistake: a person says. */
export function isTooMuch({ due, total }: Share): boolean {
  return 2 * due > total
}

/** How far pruning has looked: the time and, within it, the row id of the last that it looked at. */
export type Cursor = { readonly at: number; readonly id: number }

/** Where to look on: what was passed while the clock was ahead or the limit shorter is looked at again when it is due. */
export function resumeAt(cursor: Cursor, cutoff: number): Cursor {
  return cursor.at > cutoff ? { at: cutoff, id: 0 } : cursor
}

/** An incident as far as retention cares; times in milliseconds UTC. */
export type AgedIncident = {
  readonly status: IncidentStatus
  readonly createdAt: number
  readonly startedAt: number
  readonly resolvedAt: number | null
  readonly touchedAt: number | null
  readonly hasPostmortem: boolean
}

/** Whether an incident goes: resolved, without a postmortem, and nothing of it younger than the limit. */
export function isIncidentDue(incident: AgedIncident, { alerts }: Cutoffs): boolean {
  const { status, createdAt, startedAt, resolvedAt, touchedAt, hasPostmortem } = incident
  const last = Math.max(createdAt, startedAt, resolvedAt ?? createdAt, touchedAt ?? createdAt)
  return status === 'resolved' && !hasPostmortem && last <= alerts
}

/** What the answers of a kept incident are read from; times in milliseconds UTC. Of each kind so many are read at most. */
export type Reach = {
  readonly from: number
  readonly to: number
  /** Scalings and pipelines from before it show what is new. */
  readonly changesFrom: number
  /** Of the whole organization, for its suspects: the newest of its span. */
  readonly troublesFrom: number
  readonly scalingsFrom: number
  readonly alertsFrom: number
  /** Of its own service and those of its alerts, by their keys, for its timeline: the earliest events, the newest scalings. */
  readonly services: ReadonlyMap<number, { readonly eventsTo: number; readonly scalingsFrom: number }>
}

/** Kinds of events that are told in a timeline, where they are of a service of the incident. */
const TOLD: readonly string[] = ['firing', 'change', 'info']

/** Whether the answers of a kept incident are read from the event. */
export function reachesEvent(
  event: {
    readonly at: number
    readonly source: Source
    readonly kind: string
    readonly serviceId: number | null
  },
  reach: Reach,
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

/** Whether the suspects of a kept incident are read from the alert: it lasted into the incident's span. */
export function reachesAlert(alert: { readonly startsAt: number; readonly lastSeenAt: number }, reach: Reach): boolean {
  return alert.startsAt <= reach.to && alert.startsAt >= reach.alertsFrom && alert.lastSeenAt >= reach.from
}

/** Whether the answers of a kept incident are read from the pipeline. */
export function reachesPipeline({ startsAt }: { readonly startsAt: number }, { changesFrom, to }: Reach): boolean {
  return startsAt >= changesFrom && startsAt <= to
}
