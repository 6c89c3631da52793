/** The pruning steps for events, alerts and pipelines. Each step is a short transaction that checks a few rows. */

import {
  type Cursor,
  type Cutoffs,
  isEventDue,
  referencesAlert,
  referencesEvent,
  referencesPipeline,
} from '../../domain/retention.ts'
import { deleteEvents } from '../../store/payloads.ts'
import {
  deleteAlerts,
  type ExpiredAlert,
  type ExpiredEvent,
  listAlertsByAge,
  listEventsByAge,
  listEventsOfAlerts,
} from '../../store/retention/expired-events.ts'
import { listPipelinesByAge } from '../../store/retention/expired-records.ts'
import { deleteRows } from '../../store/retention/pruning.ts'
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

/** What one step has checked: the number of rows, and those that have expired and are not referenced. */
export type Look<Row> = { readonly seen: number; readonly free: readonly Row[] }

export const FIRST: Cursor = { at: -1, id: 0 }

/** Checks all expired events, a few at a time. */
export function expiredEvents(pass: Pass): Generator<Look<ExpiredEvent>> {
  const { db, organizationId, cutoffs, rows } = pass
  return inSteps(rows.events, (after) => {
    const found = listEventsByAge(db, { organizationId, ...after, until: cutoffs.events, limit: rows.events })
    const last = found.at(-1)
    return { seen: found.length, free: uncitedEvents(pass, found), end: last && { at: last.at, id: last.id } }
  })
}

/** Checks all expired alerts, a few at a time. */
export function expiredAlerts(pass: Pass): Generator<Look<ExpiredAlert>> {
  const { db, organizationId, cutoffs, rows } = pass
  return inSteps(rows.alerts, (after) => {
    const next = { organizationId, ...after, until: cutoffs.alerts, limit: rows.alerts }
    const found = listAlertsByAge(db, next, cutoffs)
    const last = found.at(-1)
    return { seen: found.length, free: uncitedAlerts(pass, found), end: last && { at: last.settledAt, id: last.id } }
  })
}

/** Checks all expired pipelines, a few at a time. Pipelines referenced by a correlation are kept. */
function expiredPipelines({ db, organizationId, cutoffs, reachesNear, rows }: Pass) {
  return inSteps(rows.records, (after) => {
    const found = listPipelinesByAge(db, { organizationId, ...after, until: cutoffs.alerts, limit: rows.records })
    const [first, last] = [found[0], found.at(-1)]
    const reaches = first && last ? reachesNear({ from: first.startsAt, to: last.startsAt }) : []
    const free = found.filter(
      (pipeline) =>
        pipeline.isLinked === 0 &&
        Math.max(pipeline.endsAt, pipeline.receivedAt) <= cutoffs.alerts &&
        !reaches.some((reach) => referencesPipeline(pipeline, reach)),
    )
    return { seen: found.length, free, end: last && { at: last.startsAt, id: last.id } }
  })
}

function* inSteps<Row>(
  limit: number,
  look: (after: Cursor) => Look<Row> & { readonly end: Cursor | undefined },
): Generator<Look<Row>> {
  let after: Cursor | undefined = FIRST
  while (after) {
    const { end, ...found }: ReturnType<typeof look> = look(after)
    after = found.seen === limit ? end : undefined
    yield found
  }
}

export const eventStep = deleting(expiredEvents, ({ db }, tally, ids) => {
  tally.events += deleteEvents(db, ids)
})

export const alertStep = deleting(expiredAlerts, ({ db }, tally, ids) => {
  tally.alerts += deleteAlerts(db, ids)
})

export const pipelineStep = deleting(expiredPipelines, ({ db }, tally, ids) => {
  tally.pipelines += deleteRows(db, 'pipelines', ids)
})

function deleting(
  walk: (pass: Pass) => Generator<Look<{ readonly id: number }>>,
  drop: (pass: Pass, tally: Tally, ids: readonly number[]) => void,
): () => Step {
  return () => {
    let steps: ReturnType<typeof walk> | null = null
    return (pass, tally) => {
      steps ??= walk(pass)
      const { done, value } = steps.next()
      if (!done && value.free.length > 0) drop(pass, tally, keysOf(value.free))
      return !done
    }
  }
}

/** Returns the events that have expired and are not referenced. */
function uncitedEvents(pass: Pass, events: readonly ExpiredEvent[]): ExpiredEvent[] {
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

/** Returns the alerts that are not referenced. All of the given alerts must be settled and expired. */
function uncitedAlerts(pass: Pass, alerts: readonly ExpiredAlert[]): ExpiredAlert[] {
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
  const events = listEventsOfAlerts(db, keysOf(unreached))
  const unheld = new Set(unheldEvents(pass, events))
  const holding = new Set(events.filter((event) => !unheld.has(event)).map(({ alertId }) => alertId))
  return unreached.filter(({ id }) => !holding.has(id))
}

export function keysOf(rows: readonly { readonly id: number }[]): number[] {
  return rows.map(({ id }) => id)
}
