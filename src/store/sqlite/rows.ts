/** Inserts rows with one prepared statement for each table. */
import type { Insertable } from 'kysely'
import type { Db } from './open.ts'
import { builder, type Query } from './query.ts'
import type { Schema } from './schema/schema.ts'

type TableName = keyof Schema & string
type NewRow<Table extends TableName> = Insertable<Schema[Table]>

const queries = new Map<string, Query<object, never>>()

/**
 * Inserts rows with the same columns, in order. Statements with several rows are not faster, because SQLite keeps a
 * journal for each, so that it can undo one that fails halfway.
 */
export function insertRows<Table extends TableName>(db: Db, table: Table, rows: readonly NewRow<Table>[]): void {
  const [first] = rows
  if (!first) return
  const query = insertion(table, Object.keys(first))
  for (const row of rows) db.run(query, row)
}

function insertion(table: TableName, columns: readonly string[]): Query<object, never> {
  const key = `${table} ${columns}`
  const known = queries.get(key)
  if (known) return known
  const sample = Object.fromEntries(columns.map((column) => [column, 0]))
  const made: Query<object, never> = {
    text: builder
      .insertInto(table)
      .values(sample as never)
      .compile().sql,
    // Rows of one call may list their columns in different orders.
    parameters: (row) => columns.map((column) => (row as Record<string, unknown>)[column]),
  }
  queries.set(key, made)
  return made
}
