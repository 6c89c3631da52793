/** Counts and deletes records by age, and remembers the deletions that await confirmation. */
import { type Compilable, type RawBuilder, sql } from 'kysely'
import type { Cursor, Share } from '../../domain/retention.ts'
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

/** The column by which the records are read, oldest first. A record has expired if its `LAST` is old, too. */
const AGES = { events: 'at', alerts: 'settled_at' } as const
const LAST = { events: 'received_at', alerts: 'settled_at' } as const
export type AgingTable = keyof typeof AGES

/** The next `limit` rows of an organization after the cursor (`at`, `id`) and at or before `until`, oldest first. */
export type NextRows = Cursor & { readonly organizationId: number; readonly until: number; readonly limit: number }

/** Deletes rows by row id. Returns the number of deleted rows. */
export function deleteRows(db: Db, table: 'alerts' | 'pipelines', ids: readonly number[]): number {
  return db.run(db.sql.deleteFrom(table).where('id', 'in', listed(JSON.stringify(ids))))
}

/** Returns the deletion that awaits confirmation, or null. */
export function findPendingPrune(db: Db, organizationId: number): PendingPrune | null {
  const row = db.first(db.sql.selectFrom('pruning').select('waiting').where('organization_id', '=', organizationId))
  return row?.waiting ? (JSON.parse(row.waiting) as PendingPrune) : null
}

export function storePendingPrune(db: Db, organizationId: number, pending: PendingPrune | null): void {
  const waiting = pending && JSON.stringify(pending)
  db.run(
    db.sql
      .insertInto('pruning')
      .values({ organization_id: organizationId, waiting })
      .onConflict((conflict) => conflict.column('organization_id').doUpdateSet({ waiting })),
  )
}

export type CountedRows = { readonly count: number; readonly end: Cursor | null }

/**
 * Reads at most `limit` rows after the cursor `after` and no later than `until`. Counts those that are that old in every
 * respect. `end`: the position of the last row, or null if there are no more rows.
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
  const last = sql.ref(order === 'start' ? 'id' : LAST[table])
  const rows = sql`FROM ${sql.table(table)} WHERE organization_id = ${organizationId}
    AND ${time} <= ${until} AND (${time}, id) > (${after.at}, ${after.id}) ORDER BY ${time}, id`
  const end = db.first(runnable(db, sql<Cursor>`SELECT ${time} AS at, id ${rows} LIMIT 1 OFFSET ${limit - 1}`)) ?? null
  // Only an event can be older than its receipt.
  if (end && (order === 'start' || AGES[table] === LAST[table])) return { count: limit, end }
  const counted = sql<{ count: number }>`SELECT count(*) FILTER (WHERE last <= ${until}) AS count
    FROM (SELECT ${last} AS last ${rows} LIMIT ${limit})`
  return { count: db.first(runnable(db, counted))?.count ?? 0, end }
}

function runnable<Row>(db: Db, text: RawBuilder<Row>): Compilable<Row> {
  return { compile: () => text.compile(db.sql) }
}
