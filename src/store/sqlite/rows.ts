/** Inserting many rows with few statements. */
import type { Insertable } from 'kysely'
import type { Db } from './open.ts'
import { builder, type Query } from './query.ts'
import type { Schema } from './schema.ts'

type TableName = keyof Schema & string
type Row<Table extends TableName> = Insertable<Schema[Table]>

/** Rows of one statement: each size is prepared once, so that any number of rows takes few statements. */
const SIZES = [64, 16, 4, 1]

const queries = new Map<string, Query<readonly object[], never>>()

/** Inserts the rows, which all have the same columns, in their order. */
export function insertRows<Table extends TableName>(db: Db, table: Table, rows: readonly Row<Table>[]): void {
  let from = 0
  for (const size of SIZES) {
    for (; rows.length - from >= size; from += size) {
      db.run(insertion(table, rows[from] as object, size), rows.slice(from, from + size))
    }
  }
}

function insertion(table: TableName, sample: object, size: number): Query<readonly object[], never> {
  const key = `${table} ${size} ${Object.keys(sample).length}`
  const known = queries.get(key)
  if (known) return known
  const columns = Object.keys(sample)
  const samples = Array.from({ length: size }, () => sample as never)
  const made: Query<readonly object[], never> = {
    text: builder.insertInto(table).values(samples).compile().sql,
    parameters: (rows) => rows.flatMap((row) => columns.map((column) => row[column as keyof typeof row] ?? null)),
  }
  queries.set(key, made)
  return made
}
