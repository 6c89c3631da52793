/** Counts how many records have expired, and how many records pruning would delete. Changes nothing. */
import { type Cursor, cutoffsAt, isTooMuch, resumeAt, type Share } from '../../domain/retention.ts'
import type { OrganizationRecord } from '../../store/organizations.ts'
import { listAlertsByAge } from '../../store/retention/expired-alerts.ts'
import { findBytes, listEventsByReceipt } from '../../store/retention/expired-events.ts'
import { type AgingTable, type CountedRows, countRows, findCursor } from '../../store/retention/pruning.ts'
import { createReferenceFinder } from '../../store/retention/references.ts'
import type { Deps } from '../deps.ts'
import { keysOf, type Pass, uncitedAlerts, uncitedEvents } from './steps.ts'

/**
 * The number of records that would be deleted, and the total. `oldest`: Unix time in milliseconds, or null if there are
 * none. `bytes`: an estimate.
 */
export type Survey = {
  readonly events: Share
  readonly alerts: Share
  readonly oldest: number | null
  readonly bytes: number
}

/** Progress, in rows. */
export type Progress = { readonly done: number; readonly of: number }

/** Counting this many index entries takes a millisecond or two. */
const COUNTED_A_STEP = 20_000
const FIRST: Cursor = { at: -1, id: 0 }

/** A step with this many rows takes a few milliseconds. */
const ROWS = { events: 200, alerts: 50, records: 100 }

/** Starts a pruning run for an organization with its current limits. */
export function startPass({ db, now }: Deps, { rowId, settings }: OrganizationRecord, rows: Pass['rows'] = ROWS): Pass {
  const cutoffs = cutoffsAt(settings, now())
  return { db, rows, organizationId: rowId, cutoffs, reachesNear: createReferenceFinder(db, rowId, cutoffs) }
}

/** Counts the expired rows after the cursor, whether or not they are referenced. */
export function countDue({ db, organizationId, cutoffs }: Pass, table: AgingTable): Generator<Progress, number> {
  const until = cutoffs[table]
  return counting(resumeAt(findCursor(db, organizationId, table), until), Number.POSITIVE_INFINITY, (after) =>
    countRows(db, organizationId, { table, order: 'age', after, until, limit: COUNTED_A_STEP }),
  )
}

/** Returns whether more than half of the rows have expired. Stops counting at twice the number of expired rows. */
export function* isMoreThanHalf(pass: Pass, table: AgingTable, due: number): Generator<Progress, boolean> {
  return isTooMuch({ due, total: yield* countAll(pass, table, 2 * due) })
}

function countAll({ db, organizationId }: Pass, table: AgingTable, enough: number): Generator<Progress, number> {
  const all = { table, order: 'start', until: Number.MAX_SAFE_INTEGER, limit: COUNTED_A_STEP } as const
  return counting(FIRST, enough, (after) => countRows(db, organizationId, { ...all, after }))
}

function* counting(first: Cursor, enough: number, on: (after: Cursor) => CountedRows): Generator<Progress, number> {
  let after: Cursor | null = first
  let total = 0
  while (after && total < enough) {
    const { count, end } = on(after)
    total += count
    after = end
    yield { done: 0, of: total }
  }
  return total
}

/** Checks all expired rows as pruning would, but deletes nothing. Expired incidents are treated as deleted. */
export function* survey(deps: Deps, organization: OrganizationRecord): Generator<Progress, Survey> {
  const pass = startPass(deps, organization)
  const total = {
    events: yield* countAll(pass, 'events', Number.POSITIVE_INFINITY),
    alerts: yield* countAll(pass, 'alerts', Number.POSITIVE_INFINITY),
  }
  const of = (yield* countDue(pass, 'events')) + (yield* countDue(pass, 'alerts'))
  const events = yield* looking(eventsOf(pass), { done: 0, of })
  const alerts = yield* looking(alertsOf(pass), { done: events.seen, of })
  const oldest = Math.min(events.oldest, alerts.oldest)
  return {
    events: { due: events.due, total: total.events },
    alerts: { due: alerts.due, total: total.alerts },
    oldest: Number.isFinite(oldest) ? oldest : null,
    bytes: events.bytes + alerts.bytes,
  }
}

/** The result of one step: the number of rows checked, and the number, age and size of the rows to delete. */
type Look = { readonly seen: number; readonly due: number; readonly oldest: number; readonly bytes: number }

function* looking(looks: Iterable<Look>, { done, of }: Progress): Generator<Progress, Look> {
  let sum: Look = { seen: 0, due: 0, oldest: Number.POSITIVE_INFINITY, bytes: 0 }
  for (const { seen, due, oldest, bytes } of looks) {
    sum = { seen: sum.seen + seen, due: sum.due + due, oldest: Math.min(sum.oldest, oldest), bytes: sum.bytes + bytes }
    yield { done: done + sum.seen, of }
  }
  return sum
}

function* eventsOf(pass: Pass): Generator<Look> {
  const { db, organizationId, cutoffs, rows } = pass
  let after: Cursor | null = resumeAt(findCursor(db, organizationId, 'events'), cutoffs.events)
  while (after) {
    const found = listEventsByReceipt(db, { organizationId, ...after, until: cutoffs.events, limit: rows.events })
    const free = uncitedEvents(pass, found)
    const oldest = Math.min(...free.map(({ at }) => at))
    yield { seen: found.length, due: free.length, oldest, bytes: findBytes(db, keysOf(free)) }
    const last = found.at(-1)
    after = last && found.length === rows.events ? { at: last.receivedAt, id: last.id } : null
  }
}

/** The size of a row with its labels and index entries, in bytes. */
const ALERT = 1_000

function* alertsOf(pass: Pass): Generator<Look> {
  const { db, organizationId, cutoffs, rows } = pass
  let after: Cursor | null = resumeAt(findCursor(db, organizationId, 'alerts'), cutoffs.alerts)
  while (after) {
    const next = { organizationId, ...after, until: cutoffs.alerts, limit: rows.alerts }
    const found = listAlertsByAge(db, next, cutoffs)
    const free = uncitedAlerts(pass, found)
    const oldest = Math.min(...free.map(({ startsAt }) => startsAt))
    yield { seen: found.length, due: free.length, oldest, bytes: free.length * ALERT }
    const last = found.at(-1)
    after = last && found.length === rows.alerts ? { at: last.settledAt, id: last.id } : null
  }
}
