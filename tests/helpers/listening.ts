/** A store that records its queries. */
import type { Db } from '../../src/store/sqlite/open.ts'

/** Returns a wrapper that adds the text of every executed query to the set. */
export function listening(queries: Set<string>) {
  return (db: Db): Db => {
    const record =
      (run: (query: never, args: never) => unknown) =>
      (query: { text: string } | { compile: () => { sql: string } }, args: unknown) => {
        queries.add('text' in query ? query.text : query.compile().sql)
        return run(query as never, args as never)
      }
    const { all, each, first, run, insert } = db
    const read = { all: record(all), each: record(each), first: record(first) }
    return { ...db, ...read, run: record(run), insert: record(insert) } as unknown as Db
  }
}
