/** Queries that run often: built by Kysely once, compiled once, run with named arguments. */
import {
  type Compilable,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import type { Schema } from './schema.ts'

/** Kysely as a builder alone: what it builds is run by `open.ts`. */
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
  /** A write after which all that is remembered is still true: the caller keeps it so. */
  readonly keepsMemory: boolean
  /** Only for the type. */
  readonly row?: Row
}

type Value = string | number | null | Buffer

/**
 * A query with holes: `query<{ id: number }>()((sql, hole) => sql.selectFrom('events').where('id', '=', hole('id')))`.
 * A hole may be used several times; constants are kept.
 */
export function query<Args extends Record<string, Value>>({ keepsMemory = false } = {}) {
  return <Row>(
    build: (sql: Kysely<Schema>, hole: <Name extends keyof Args>(name: Name) => Args[Name]) => Compilable<Row>,
  ): Query<Args, Row> => {
    const compiled = build(builder, (name) => new Hole(String(name)) as never).compile()
    const holes = compiled.parameters.filter((parameter) => parameter instanceof Hole)
    return {
      text: withConstants(compiled.sql, compiled.parameters),
      keepsMemory,
      parameters: (args) => holes.map(({ name }) => args[name]),
    }
  }
}

/**
 * The text with its constants written out, and a plus before each place: SQLite then looks at nothing that is bound. For
 * an ORDER BY, a LIMIT or a partial index it would plan anew at every run, which takes longer than most reads.
 */
function withConstants(text: string, parameters: readonly unknown[]): string {
  const parts = text.split('?')
  if (parts.length !== parameters.length + 1) throw new TypeError(`a question mark that is no parameter: ${text}`)
  return parts.reduce((before, part, index) => `${before}${literal(parameters[index - 1])}${part}`)
}

function literal(parameter: unknown): string {
  if (parameter instanceof Hole) return '+?'
  if (parameter === null || typeof parameter === 'number') return String(parameter)
  return `'${String(parameter).replaceAll("'", "''")}'`
}

/** The members of a JSON array: one parameter, however long the list. */
export function listed<Value = number>(json: string) {
  return sql<Value>`(SELECT value FROM json_each(${json}))`
}

class Hole {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}
