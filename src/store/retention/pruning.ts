/**
 * The state of pruning: its progress in each organization, events to recheck, and deletions that await confirmation.
 */
import { type Compilable, type RawBuilder, sql } from 'kysely'
import type { Cursor, Share } from '../../domain/retention.ts'
import type { TimeSpan } from '../read.ts'
import type { Db } from '../sqlite/open.ts'
import { listed } from '../sqlite/query.ts'

/** A deletion of more than half of the records, which a user must confirm. Times are Unix times in milliseconds. */
export type PendingPrune = {
  readonly since: number
  /** When the pending deletion was last logged. */
  readonly toldAt: number
  readonly events: Share
  readonly alerts: Share
}

/** A scan with its own cursor. `again` rechecks retained events after the alert retention period. */
type Walk = 'events' | 'again' | 'alerts'
/** The column that determines a record's age. */
const AGES = { events: 'received_at', alerts: 'settled_at' } as const
export type AgingTable = keyof typeof AGES

/** The next `limit` rows of an organization after the cursor (`at`, `id`) and at or before `until`, oldest first. */
export type NextRows = Cursor & { readonly organizationId: number; readonly until: number; readonly limit: number }

/** Deletes rows by row id. Returns the number of deleted rows. */
export function deleteRows(
  db: Db,
  table: 'events' | 'alerts' | 'pipelines' | 'timeline',
  ids: readonly number[],
): number {
  return db.run(db.sql.deleteFrom(table).where('id', 'in', listed(JSON.stringify(ids))))
}

export function findCursor(db: Db, organizationId: number, walk: Walk): Cursor {
  const cursors = db.sql.selectFrom('pruning').select([`${walk}_at as at`, `${walk}_id as id`])
  return db.first(cursors.where('organization_id', '=', organizationId)) ?? { at: 0, id: 0 }
}

export function moveCursor(db: Db, organizationId: number, walk: Walk, to: Cursor): void {
  store(db, organizationId, { [`${walk}_at`]: to.at, [`${walk}_id`]: to.id })
}

/** Returns the deletion that awaits confirmation, or null. */
export function findPendingPrune(db: Db, organizationId: number): PendingPrune | null {
  const row = db.first(db.sql.selectFrom('pruning').select('waiting').where('organization_id', '=', organizationId))
  return row?.waiting ? (JSON.parse(row.waiting) as PendingPrune) : null
}

export function storePendingPrune(db: Db, organizationId: number, waiting: PendingPrune | null): void {
  store(db, organizationId, { waiting: waiting && JSON.stringify(waiting) })
}

type State = { readonly [Column in `${Walk}_${'at' | 'id'}`]?: number } & { readonly waiting?: string | null }

function store(db: Db, organizationId: number, state: State): void {
  db.run(
    db.sql
      .insertInto('pruning')
      .values({ organization_id: organizationId, ...state })
      .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(state)),
  )
}

export type CountedRows = { readonly count: number; readonly end: Cursor | null }

/**
 * Counts at most `limit` rows after the cursor `after` and no later than `until`. `end`: the position of the last
 * counted row, or null if there are no more rows.
 * @param order `start` counts all rows; alerts are then sorted by start, because an active alert has no age yet
 */
export function countRows(
  db: Db,
  organizationId: number,
  span: {
    readonly table: AgingTable
    readonly order: 'age' | 'start'
    readonly after: Cursor
    readonly until: number
    readonly limit: number
  },
): CountedRows {
  const { table, order, after, until, limit } = span
  const time = sql.ref(order === 'start' && table === 'alerts' ? 'starts_at' : AGES[table])
  const rows = sql`FROM ${sql.table(table)} WHERE organization_id = ${organizationId}
    AND ${time} <= ${until} AND (${time}, id) > (${after.at}, ${after.id})`
  const last = sql<Cursor>`SELECT ${time} AS at, id ${rows} ORDER BY ${time}, id LIMIT 1 OFFSET ${limit - 1}`
  const end = db.first(runnable(db, last))
  if (end) return { count: limit, end }
  const count = sql<{ count: number }>`SELECT count(*) AS count ${rows}`
  return { count: db.first(runnable(db, count))?.count ?? 0, end: null }
}

function runnable<Row>(db: Db, text: RawBuilder<Row>): Compilable<Row> {
  return { compile: () => text.compile(db.sql) }
}

/** Schedules a recheck of the events in a period after a record that referenced these events was deleted. */
export function addSpan(db: Db, organizationId: number, span: TimeSpan): void {
  db.run(
    db.sql.insertInto('pruning_spans').values({ organization_id: organizationId, from_at: span.from, to_at: span.to }),
  )
}

export type PrunedSpan = { readonly id: number; readonly after: Cursor; readonly to: number }

/** Returns the oldest scheduled period, and how far it has been rechecked. */
export function findSpan(db: Db, organizationId: number): PrunedSpan | null {
  const row = db.first(
    db.sql
      .selectFrom('pruning_spans')
      .select(['id', 'from_at', 'from_id', 'to_at as to'])
      .where('organization_id', '=', organizationId)
      .orderBy('id')
      .limit(1),
  )
  return row ? { id: row.id, to: row.to, after: { at: row.from_at, id: row.from_id } } : null
}

export function shortenSpan(db: Db, { id }: PrunedSpan, after: Cursor): void {
  db.run(db.sql.updateTable('pruning_spans').set({ from_at: after.at, from_id: after.id }).where('id', '=', id))
}

export function dropSpan(db: Db, { id }: PrunedSpan): void {
  db.run(db.sql.deleteFrom('pruning_spans').where('id', '=', id))
}
