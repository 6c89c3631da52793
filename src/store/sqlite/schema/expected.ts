/** The tables, indexes and triggers of each schema version, created by running the migrations. */
import { DatabaseSync } from 'node:sqlite'
import { migrationText } from '../../../assets.ts'
import { MIGRATIONS, MIGRATIONS_TABLE } from './migrate.ts'

/** A row of `sqlite_schema`. `sql` is null for indexes that SQLite creates itself. */
export type SchemaObject = { readonly type: string; readonly name: string; readonly sql: string | null }

/** Reads the schema, without the query planner's statistics. */
export const SCHEMA_QUERY = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_stat_' ESCAPE '\\'"

/** Litestream adds these tables to a database that it copies. Nothing reads them. */
const OF_LITESTREAM = /^_litestream_/

/** Returns whether Litestream copies the database, or copied it before. */
export function isCopied(found: readonly SchemaObject[]): boolean {
  return found.some(({ name }) => OF_LITESTREAM.test(name))
}

/**
 * Compares a file's schema with the expected schema for its version.
 * @returns one line per difference, for example `trigger steal is not part of schema version 5`
 */
export function findSchemaFaults(found: readonly SchemaObject[], version: number): string[] {
  const [wanted, present] = [byName(expectedSchema(version)), byName(found)]
  const extra = [...present.values()].filter(({ name }) => !wanted.has(name) && !OF_LITESTREAM.test(name))
  return [
    ...extra.map(({ type, name }) => `${type} ${name} is not part of schema version ${version}`),
    ...[...wanted.values()].flatMap((object) => differenceOf(object, present.get(object.name), version)),
  ]
}

function differenceOf(wanted: SchemaObject, found: SchemaObject | undefined, version: number): string[] {
  const { type, name, sql } = wanted
  if (!found) return [`${type} ${name} is missing`]
  if (found.type !== type) return [`${name} is a ${found.type} instead of a ${type}`]
  return found.sql === sql ? [] : [`${type} ${name} differs from schema version ${version}`]
}

function byName(objects: readonly SchemaObject[]): Map<string, SchemaObject> {
  return new Map(objects.map((object) => [object.name, object]))
}

function expectedSchema(version: number): SchemaObject[] {
  const sqlite = new DatabaseSync(':memory:')
  try {
    if (version > 0) sqlite.exec(MIGRATIONS_TABLE)
    for (const name of MIGRATIONS.slice(0, version)) sqlite.exec(migrationText(name))
    return sqlite.prepare(SCHEMA_QUERY).all() as SchemaObject[]
  } finally {
    sqlite.close()
  }
}
