/** Counts how many records have expired, and how many records pruning would delete. Changes nothing. */
import { type Cursor, cutoffsAt, isTooMuch, type Share } from '../../domain/retention.ts'
import type { OrganizationRecord } from '../../store/organizations.ts'
import { findBytes } from '../../store/retention/expired-events.ts'
import { type AgingTable, type CountedRows, countRows } from '../../store/retention/pruning.ts'
import { createReferenceFinder } from '../../store/retention/references.ts'
import type { Deps } from '../deps.ts'
import { expiredAlerts, expiredEvents, FIRST, keysOf, type Look, type Pass } from './steps.ts'

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

/** Counting this many rows takes a few milliseconds. */
const COUNTED_A_STEP = 5_000

/** A step with this many rows takes a few milliseconds. */
const ROWS = { events: 200, alerts: 50, records: 100 }

/** Starts a pruning run for an organization with its current limits. */
export function startPass({ db, now }: Deps, { rowId, settings }: OrganizationRecord, rows: Pass['rows'] = ROWS): Pass {
  const cutoffs = cutoffsAt(settings, now())
  return { db, rows, organizationId: rowId, cutoffs, reachesNear: createReferenceFinder(db, rowId, cutoffs) }
}

/** Counts the expired rows, whether or not they are referenced. */
export function countDue({ db, organizationId, cutoffs }: Pass, table: AgingTable): Generator<Progress, number> {
  return counting(Number.POSITIVE_INFINITY, (after) =>
    countRows(db, organizationId, { table, order: 'age', after, until: cutoffs[table], limit: COUNTED_A_STEP }),
  )
}

/** Returns whether more than half of the rows have expired. Stops counting at twice the number of expired rows. */
export function* isMoreThanHalf(pass: Pass, table: AgingTable, due: number): Generator<Progress, boolean> {
  return isTooMuch({ due, total: yield* countAll(pass, table, 2 * due) })
}

function countAll({ db, organizationId }: Pass, table: AgingTable, enough: number): Generator<Progress, number> {
  const all = { table, order: 'start', until: Number.MAX_SAFE_INTEGER, limit: COUNTED_A_STEP } as const
  return counting(enough, (after) => countRows(db, organizationId, { ...all, after }))
}

function* counting(enough: number, on: (after: Cursor) => CountedRows): Generator<Progress, number> {
  let after: Cursor | null = FIRST
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
  const events = yield* summing(
    expiredEvents(pass),
    { done: 0, of },
    ({ at }) => at,
    (free) => findBytes(pass.db, keysOf(free)),
  )
  const alerts = yield* summing(
    expiredAlerts(pass),
    { done: events.seen, of },
    ({ startsAt }) => startsAt,
    (free) => free.length * ALERT,
  )
  const oldest = Math.min(events.oldest, alerts.oldest)
  return {
    events: { due: events.due, total: total.events },
    alerts: { due: alerts.due, total: total.alerts },
    oldest: Number.isFinite(oldest) ? oldest : null,
    bytes: events.bytes + alerts.bytes,
  }
}

/** The size of an alert's row with its labels and index entries, in bytes. */
const ALERT = 1_000

/** Adds up the number, the age and the size of the rows to delete. `seen`: the number of checked rows. */
function* summing<Row>(
  looks: Iterable<Look<Row>>,
  { done, of }: Progress,
  timeOf: (row: Row) => number,
  bytesOf: (free: readonly Row[]) => number,
) {
  let [seen, due, oldest, bytes] = [0, 0, Number.POSITIVE_INFINITY, 0]
  for (const look of looks) {
    seen += look.seen
    due += look.free.length
    oldest = Math.min(oldest, ...look.free.map(timeOf))
    bytes += bytesOf(look.free)
    yield { done: done + seen, of }
  }
  return { seen, due, oldest, bytes }
}
