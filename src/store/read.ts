/** How other layers read the store: they name a query function and its arguments, and wait for what it finds. */
import type { Db } from './sqlite/open.ts'

export type Query = (db: Db, ...args: never[]) => unknown
/** The arguments of a query after the database. */
export type ArgumentsOf<Of extends Query> = Of extends (db: Db, ...args: infer Arguments) => unknown ? Arguments : never

/**
 * Runs one query on everything that was committed before the call. One call sees one state of the records, two calls may
 * see two: records that must agree are found by one query.
 */
export type Read = <Of extends Query>(query: Of, ...args: ArgumentsOf<Of>) => Promise<ReturnType<Of>>

/** Runs queries in this thread, each in one uninterrupted turn. */
export function readHere(db: Db): Read {
  return async (query, ...args) => query(db, ...(args as never[])) as ReturnType<typeof query>
}
