/** Builds and compiles frequent queries once, and runs them with named arguments. */
import {
  type Compilable,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import type { Schema } from './schema/schema.ts'

/** Kysely only builds queries here. `open.ts` runs them. */
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
  /** Only for the type. */
  readonly row?: Row
}

type Value = string | number | null | Buffer

/**
 * Defines a query with parameters: `query<{ id: number }>()((sql, hole) => sql.selectFrom('events').where('id', '=',
 * hole('id')))`. A parameter may occur several times. Constants stay in the text.
 */
export function query<Args extends Record<string, Value>>() {
  return <Row>(
    build: (sql: Kysely<Schema>, hole: <Name extends keyof Args>(name: Name) => Args[Name]) => Compilable<Row>,
  ): Query<Args, Row> => {
    const compiled = build(builder, (name) => new Hole(String(name)) as never).compile()
    const holes = compiled.parameters.filter((parameter) => parameter instanceof Hole)
    return {
      text: withConstants(compiled.sql, compiled.parameters),
      parameters: (args) => holes.map(({ name }) => args[name]),
    }
  }
}

/**
 * Writes constants into the text, and a plus before each parameter. Without the plus, SQLite would replan the query at
 * each run if a parameter is in ORDER BY, LIMIT or a partial index.
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

/** Turns a JSON array into rows, so that a list of any length needs one parameter. */
export function listed<Value = number>(json: string) {
  return sql<Value>`(SELECT value FROM json_each(${json}))`
}

class Hole {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}
