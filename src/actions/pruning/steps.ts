/** The pruning steps for events and alerts. Each step is a short transaction that checks a few rows. */

import { type Cutoffs, isEventDue, referencesAlert, referencesEvent, resumeAt } from '../../domain/retention.ts'
import {
  deleteAlerts,
  type ExpiredAlert,
  listAlertsByAge,
  listLinkedEvents,
} from '../../store/retention/expired-alerts.ts'
import {
  type ExpiredEvent,
  listEventsByReceipt,
  listEventsByTime,
  listEventsOf,
} from '../../store/retention/expired-events.ts'
import { deleteRows, dropSpan, findCursor, findSpan, moveCursor, shortenSpan } from '../../store/retention/pruning.ts'
import { type createReferenceFinder, listCitedRefs, listEventsOfRecords } from '../../store/retention/references.ts'
import type { Db } from '../../store/sqlite/open.ts'

/** A pruning run for one organization, with the limits as of its start. */
export type Pass = {
  readonly db: Db
  /** The number of rows per step. A step has fewer alerts, because each alert is checked together with its events. */
  readonly rows: { readonly events: number; readonly alerts: number; readonly records: number }
  readonly organizationId: number
  readonly cutoffs: Cutoffs
  readonly reachesNear: ReturnType<typeof createReferenceFinder>
}

/** The number of deleted records. */
export type Tally = {
  events: number
  alerts: number
  incidents: number
  pipelines: number
  images: number
  rejections: number
}

/** Runs one step. Returns whether there is more to do. */
export type Step = (pass: Pass, tally: Tally) => boolean

/** Rechecks the events around a deleted incident. The regular scan checks the events after the cursor. */
export const spanStep: Step = (pass, tally) => {
  const { db, organizationId, rows } = pass
  const span = findSpan(db, organizationId)
  if (!span) return false
  const found = listEventsByTime(db, { organizationId, ...span.after, until: span.to, limit: rows.events })
  tally.events += deleteUncited(pass, found)
  const last = found.at(-1)
  if (last && found.length === rows.events) shortenSpan(db, span, last)
  else dropSpan(db, span)
  return true
}

/**
 * Checks expired events. With `again`, rechecks retained events once the alert retention period has passed. By that
 * time, the pipeline that referenced an event may reference a newer event instead.
 */
export function eventStep(walk: 'events' | 'again'): Step {
  return (pass, tally) => {
    const { db, organizationId, cutoffs, rows } = pass
    const until = walk === 'events' ? cutoffs.events : cutoffs.alerts
    const after = resumeAt(findCursor(db, organizationId, walk), until)
    const found = listEventsByReceipt(db, { organizationId, ...after, until, limit: rows.events })
    tally.events += deleteUncited(pass, found)
    const last = found.at(-1)
    moveCursor(db, organizationId, walk, last ? { at: last.receivedAt, id: last.id } : after)
    return found.length === rows.events
  }
}

/** Deletes the events that are not referenced. Returns the number of deleted events. */
export function deleteUncited(pass: Pass, events: readonly ExpiredEvent[]): number {
  const uncited = keysOf(uncitedEvents(pass, events))
  return uncited.length === 0 ? 0 : deleteRows(pass.db, 'events', uncited)
}

/** Returns the events that have expired and are not referenced. */
export function uncitedEvents(pass: Pass, events: readonly ExpiredEvent[]): ExpiredEvent[] {
  const free = unheldEvents(
    pass,
    events.filter((event) => isEventDue(event, pass.cutoffs)),
  )
  const ofRecords = new Set(free.length === 0 ? [] : listEventsOfRecords(pass.db, keysOf(free)))
  return free.filter(({ id }) => !ofRecords.has(id))
}

/** Returns the events that no incident or postmortem references. */
function unheldEvents({ db, cutoffs, reachesNear }: Pass, events: readonly ExpiredEvent[]): ExpiredEvent[] {
  if (events.length === 0) return []
  const refs = events.map(({ ref }) => ref)
  const cited = new Set(listCitedRefs(db, refs, cutoffs))
  const times = events.map(({ at }) => at)
  const reaches = reachesNear({ from: Math.min(...times), to: Math.max(...times) })
  return events.filter((event) => !cited.has(event.ref) && !reaches.some((reach) => referencesEvent(event, reach)))
}

export const alertStep: Step = (pass, tally) => {
  const { db, organizationId, cutoffs, rows } = pass
  const after = resumeAt(findCursor(db, organizationId, 'alerts'), cutoffs.alerts)
  const found = listAlertsByAge(db, { organizationId, ...after, until: cutoffs.alerts, limit: rows.alerts }, cutoffs)
  const uncited = keysOf(uncitedAlerts(pass, found))
  if (uncited.length > 0) {
    const linked = listLinkedEvents(db, uncited)
    const eventIds = [...keysOf(listEventsOf(db, 'alert_id', uncited)), ...linked]
    tally.alerts += deleteAlerts(db, uncited)
    tally.events += deleteUncited(pass, listEventsOf(db, 'id', eventIds))
  }
  const last = found.at(-1)
  moveCursor(db, organizationId, 'alerts', last ? { at: last.settledAt, id: last.id } : after)
  return found.length === rows.alerts
}

/** Returns the alerts that are not referenced. All of the given alerts must be settled and expired. */
export function uncitedAlerts(pass: Pass, alerts: readonly ExpiredAlert[]): ExpiredAlert[] {
  const { db, cutoffs, reachesNear } = pass
  const free = alerts.filter(({ isOfIncident }) => !isOfIncident)
  if (free.length === 0) return []
  const refs = free.map(({ ref }) => ref)
  const cited = new Set(listCitedRefs(db, refs, cutoffs))
  const from = Math.min(...free.map(({ startsAt }) => startsAt))
  const to = Math.max(...free.map(({ lastSeenAt }) => lastSeenAt))
  const reaches = reachesNear({ from, to })
  const unreached = free.filter(
    (alert) => !cited.has(alert.ref) && !reaches.some((reach) => referencesAlert(alert, reach)),
  )
  // An event in an incident's timeline also protects its alert.
  const events = listEventsOf(db, 'alert_id', keysOf(unreached))
  const unheld = new Set(unheldEvents(pass, events))
  const holding = new Set(events.filter((event) => !unheld.has(event)).map(({ alertId }) => alertId))
  return unreached.filter(({ id }) => !holding.has(id))
}

export function keysOf(rows: readonly { readonly id: number }[]): number[] {
  return rows.map(({ id }) => id)
}
