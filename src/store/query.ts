/** Queries that run often: built by Kysely once, compiled once, run with named arguments. */
import { type Compilable, DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
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
  /** Only for the type. */
  readonly row?: Row
}

type Value = string | number | null | Buffer

/**
 * A query with holes: `query<{ id: number }>()((sql, hole) => sql.selectFrom('events').where('id', '=', hole('id')))`.
 * A hole may be used several times; constants are kept.
 */
export function query<Args extends Record<string, Value>>() {
  return <Row>(
    build: (sql: Kysely<Schema>, hole: <Name extends keyof Args>(name: Name) => Args[Name]) => Compilable<Row>,
  ): Query<Args, Row> => {
    const compiled = build(builder, (name) => new Hole(String(name)) as never).compile()
    const slots = compiled.parameters
    return {
      text: compiled.sql,
      parameters: (args) => slots.map((slot) => (slot instanceof Hole ? args[slot.name] : slot)),
    }
  }
}

class Hole {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}
