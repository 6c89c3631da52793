/** Inserting rows: one prepared statement for each table, run for each row. */
import type { Insertable } from 'kysely'
import type { Db } from './open.ts'
import { builder, type Query } from './query.ts'
import type { Schema } from './schema/schema.ts'

type TableName = keyof Schema & string
type NewRow<Table extends TableName> = Insertable<Schema[Table]>

const queries = new Map<string, Query<object, never>>()

/**
 * Inserts the rows, which all have the same columns, in their order. Statements of several rows are no faster: SQLite
 * keeps a journal of its own for each of them, so that it could undo one that fails halfway.
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
    // Rows of one call may name their columns in different orders.
    parameters: (row) => columns.map((column) => (row as Record<string, unknown>)[column]),
  }
  queries.set(key, made)
  return made
}
