/** The interface through which other layers read the store. A caller passes a query function and its arguments. */

import type { SelectQueryBuilder } from 'kysely'
import { IncmonError } from '../domain/error.ts'
import { type Listed, offsetOf, type Page } from '../domain/pagination.ts'
import type { Db } from './sqlite/open.ts'
import type { Schema } from './sqlite/schema/schema.ts'

export type Query = (db: Db, ...args: never[]) => unknown
/** The arguments of a query or operation, except the first: the database or the dependencies. */
export type ArgumentsOf<Of> = Of extends (first: never, ...args: infer Arguments) => unknown ? Arguments : never

/**
 * Runs a query on everything committed before the call. Each call sees a consistent snapshot. Two calls may see
 * different snapshots, so records that must be consistent have to be read by a single query.
 */
export type Read = <Of extends Query>(query: Of, ...args: ArgumentsOf<Of>) => Promise<ReturnType<Of>>

/** Runs each query to completion in the current thread. */
export function readHere(db: Db): Read {
  return async (query, ...args) => query(db, ...(args as never[])) as ReturnType<typeof query>
}

/** Unix times in milliseconds. */
export type TimeSpan = { readonly from: number; readonly to: number }

/** Matches from ≤ time < to. Undefined fields are ignored. */
export type TimeFilter = { readonly [Field in keyof TimeSpan]?: number | undefined }

/**
 * Reads one page of `rows`, and counts `all`. `all` must be the same query as `rows`, but without columns and order.
 */
export function readPage<Counted extends keyof Schema, Read extends keyof Schema, Row, Item>(
  db: Db,
  all: SelectQueryBuilder<Schema, Counted, object>,
  rows: SelectQueryBuilder<Schema, Read, Row>,
  page: Page,
  toItem: (row: Row) => Item,
): Listed<Item> {
  return {
    items: rowsWithin(page, db.each(rows.limit(page.limit).offset(offsetOf(page)))).map((row) => toItem(row)),
    total: countOf(db, all),
  }
}

/** Returns how many rows a query without columns selects. */
export function countOf<From extends keyof Schema>(db: Db, rows: SelectQueryBuilder<Schema, From, object>): number {
  return db.first(rows.select((eb) => eb.fn.countAll<number>().as('count')))?.count ?? 0
}

/**
 * Reads the rows of a page.
 * @throws IncmonError `invalid` if the rows have more than `most` characters of text, which would delay all requests
 */
export function rowsWithin<Row>({ most = Number.POSITIVE_INFINITY, isCut }: Partial<Page>, rows: Iterable<Row>): Row[] {
  const read: Row[] = []
  let length = 0
  for (const row of rows) {
    for (const value of Object.values(row as object)) if (typeof value === 'string') length += value.length
    if (length > most && read.length > 0) {
      if (isCut) break
      const why = `the records have more than ${most} characters of text`
      throw new IncmonError('invalid', `query: limit: ${why}; use a smaller limit, such as ${read.length}`)
    }
    read.push(row)
  }
  return read
}
