/** A store with an ear. */
import type { Db } from '../../src/store/sqlite/open.ts'

/** Adds the text of every query that is run to those heard. */
export function listening(heard: Set<string>) {
  return (db: Db): Db => {
    const hear =
      (run: (query: never, args: never) => unknown) =>
      (query: { text: string } | { compile: () => { sql: string } }, args: unknown) => {
        heard.add('text' in query ? query.text : query.compile().sql)
        return run(query as never, args as never)
      }
    const { all, first, run, insert } = db
    return { ...db, all: hear(all), first: hear(first), run: hear(run), insert: hear(insert) } as unknown as Db
  }
}
