/** Compiles frequently used queries once, and runs them with named arguments. */
import {
  type Compilable,
  DummyDriver,
  type Expression,
  type Insertable,
  Kysely,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
  type Updateable,
} from 'kysely'
import { once } from '../../domain/memoize.ts'
import type { RowChange } from '../../engine/state/journal.ts'
import type { Db } from './open.ts'
import type { Schema } from './schema/schema.ts'

/** Used only to build queries; `open.ts` runs the queries. */
export const builder = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})

export type Query<Args, Row> = {
  readonly text: string
  readonly parameters: (args: Args) => unknown[]
  /** Never set. Exists only for type inference. */
  readonly row?: Row
}

type Value = string | number | null | Buffer

/**
 * Defines a query with parameters: `query<{ id: number }>()((sql, hole) => sql.selectFrom('events').where('id', '=',
 * hole('id')))`. A parameter can occur more than once. Constants become part of the SQL text. A query is compiled when it
 * is first used, because a program uses few of all queries.
 */
export function query<Args extends Record<string, Value>>() {
  return <Row>(
    build: (sql: Kysely<Schema>, hole: <Name extends keyof Args>(name: Name) => Args[Name]) => Compilable<Row>,
  ): Query<Args, Row> => {
    const compiled = once(() => {
      const { sql: text, parameters } = build(builder, (name) => new Hole(String(name)) as never).compile()
      const holes = parameters.filter((parameter) => parameter instanceof Hole)
      return { text: withConstants(text, parameters), holes }
    })
    return {
      get text() {
        return compiled().text
      },
      parameters: (args) => compiled().holes.map(({ name }) => args[name]),
    }
  }
}

/**
 * Writes constants into the SQL text, and adds a unary plus before each parameter. Without the plus, SQLite would
 * replan the query on every run if a parameter occurs in ORDER BY, LIMIT or a partial index.
 */
function withConstants(text: string, parameters: readonly unknown[]): string {
  const parts = text.split('?')
  if (parts.length !== parameters.length + 1) throw new TypeError(`a question mark that is not a parameter: ${text}`)
  return parts.reduce((before, part, index) => `${before}${literal(parameters[index - 1])}${part}`)
}

function literal(parameter: unknown): string {
  if (parameter instanceof Hole) return '+?'
  if (parameter === null || typeof parameter === 'number') return String(parameter)
  return `'${String(parameter).replaceAll("'", "''")}'`
}

/** Converts a JSON array to rows, so that a list of any length needs only one parameter. */
export function listed<Value = number>(json: string | RawBuilder<unknown>) {
  return sql<Value>`(SELECT value FROM json_each(${json}))`
}

/** Converts a JSON array of UUIDs as text to rows. */
export function listedUuids(json: string | RawBuilder<unknown>) {
  return sql<Buffer>`(SELECT unhex(replace(value, '-', '')) FROM ${listed(json)})`
}

/** A longer JSON object is shortened, in bytes. */
const LONG = 4_000
const SHORT = 250
const MOST = 16

/** Leaves a few short texts of a long JSON object of texts, for pages. A storm can have gigabytes of labels. */
export function shortTexts(json: Expression<string>): RawBuilder<string> {
  const texts = sql`SELECT key, value FROM json_each(${json}) WHERE octet_length(key) + octet_length(value) <= ${sql.lit(SHORT)}`
  const left = sql`(SELECT json_group_object(key, value) FROM (${texts} LIMIT ${sql.lit(MOST)}))`
  return sql<string>`iif(octet_length(${json}) <= ${sql.lit(LONG)}, ${json}, ${left})`
}

class Hole {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

type TableName = keyof Schema & string
type NewRow<Table extends TableName> = Insertable<Schema[Table]>

type Row = Readonly<Record<string, unknown>>

/**
 * Inserts one row per item, in order. All rows must list the same columns in the same order. Multi-row statements are
 * not faster, because SQLite keeps a statement journal for each such statement.
 */
export function insertRows<Table extends TableName, Item>(
  db: Db,
  table: Table,
  items: readonly Item[],
  rowOf: (item: Item) => NewRow<Table>,
): void {
  const rows: readonly Row[] = items.map(rowOf)
  // Columns that are null in every row are left out, because binding a null takes longer than binding a number.
  const columns = Object.keys(rows[0] ?? {}).filter((column) => rows.some((row) => row[column] !== null))
  if (columns.length === 0) return
  const statement = statementOf('insert', table, columns)
  for (const row of rows) {
    setValues(statement, row)
    db.run(statement, statement.values)
  }
}

/**
 * Updates the columns of one row that differ from `before`. SQLite rewrites an index entry whenever the statement sets
 * a column of the index, even to the same value.
 */
export function updateRow<Table extends TableName>(
  db: Db,
  table: Table,
  id: number,
  values: Updateable<Schema[Table]>,
  before: object,
): void {
  const [old, row] = [before, values] as [Row, Row]
  let statement = lastUpdates.get(table)
  if (!statement || !setChangedValues(statement, row, old)) {
    const columns = Object.keys(row).filter((column) => row[column] !== old[column])
    if (columns.length === 0) return
    statement = statementOf('update', table, columns)
    lastUpdates.set(table, statement)
    setChangedValues(statement, row, old)
  }
  statement.values[statement.columns.length] = id
  db.run(statement, statement.values)
}

/**
 * Inserts new records, and updates the changed columns of all others.
 * @param fixedOf returns the columns that never change, apart from the id
 * @param columnsOf returns the columns that can change
 */
export function saveChanges<Table extends TableName, Live extends { readonly rowId: number }>(
  db: Db,
  table: Table,
  changes: readonly RowChange<Live>[],
  fixedOf: (live: Live) => object,
  columnsOf: (live: Live) => Updateable<Schema[Table]>,
): void {
  const made = changes.flatMap(({ before, after }) => (before ? [] : after))
  insertRows(db, table, made, (live) => ({ id: live.rowId, ...fixedOf(live), ...columnsOf(live) }) as NewRow<Table>)
  for (const { before, after } of changes) {
    if (before) updateRow(db, table, after.rowId, columnsOf(after), columnsOf(before))
  }
}

/**
 * A statement that sets columns of one row. Each row overwrites the values of the previous row, because a new array per
 * row would be garbage immediately.
 */
type Statement = Query<unknown[], never> & { readonly columns: readonly string[]; readonly values: unknown[] }

/** The statements of `insertRows` and `updateRow` by kind, table and columns. */
const statements = new Map<string, Statement>()
/** The last update of each table. The next update usually changes the same columns. */
const lastUpdates = new Map<TableName, Statement>()

function statementOf(kind: 'insert' | 'update', table: TableName, columns: readonly string[]): Statement {
  const key = `${kind} ${table} ${columns}`
  const known = statements.get(key)
  if (known) return known
  const sample = Object.fromEntries(columns.map((column) => [column, 0])) as never
  const made =
    kind === 'insert'
      ? builder.insertInto(table).values(sample)
      : builder
          .updateTable(table)
          .set(sample)
          .where('id' as never, '=', 0 as never)
  const { sql: text, parameters } = made.compile()
  const statement: Statement = { text, columns, values: [...parameters], parameters: (values) => values }
  statements.set(key, statement)
  return statement
}

/** Sets the values of a statement. V8 reads the fields of a row fast only in a loop over the row itself. */
function setValues({ columns, values }: Statement, row: Row): void {
  let count = 0
  for (const column in row) {
    if (column !== columns[count]) continue
    values[count] = row[column]
    count += 1
  }
  if (count < columns.length) throw new TypeError(`a row must list its columns in the order ${columns}`)
}

/** Sets the values of an update. Returns false if the row has changed in other columns. */
function setChangedValues({ columns, values }: Statement, row: Row, before: Row): boolean {
  let count = 0
  for (const column in row) {
    if (row[column] === before[column]) continue
    if (column !== columns[count]) return false
    values[count] = row[column]
    count += 1
  }
  return count === columns.length
}
