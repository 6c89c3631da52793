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
    const { all, first, run, insert } = db
    return { ...db, all: record(all), first: record(first), run: record(run), insert: record(insert) } as unknown as Db
  }
}
