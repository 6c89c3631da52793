/** Lets other layers read the store: they pass a query function and its arguments, and await the result. */
import type { Db } from './sqlite/open.ts'

export type Query = (db: Db, ...args: never[]) => unknown
/** The arguments of a query after the database. */
export type ArgumentsOf<Of extends Query> = Of extends (db: Db, ...args: infer Arguments) => unknown ? Arguments : never

/**
 * Runs one query on all data that was committed before the call. One call sees one state of the database. Two calls may
 * see different states, so records that must agree need a single query.
 */
export type Read = <Of extends Query>(query: Of, ...args: ArgumentsOf<Of>) => Promise<ReturnType<Of>>

/** Runs queries in this thread, each in one uninterrupted turn. */
export function readHere(db: Db): Read {
  return async (query, ...args) => query(db, ...(args as never[])) as ReturnType<typeof query>
}
