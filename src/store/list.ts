/** Reads lists in pages: the rows of one page, and the total. */
import type { SelectQueryBuilder } from 'kysely'
import { type Listed, offsetOf, type Page } from '../domain/pagination.ts'
import type { Db } from './sqlite/open.ts'
import type { Schema } from './sqlite/schema/schema.ts'

/** A query that selects one page of filtered records. */
export type ListQuery<Filter, Item> = (db: Db, organizationId: number, filter: Filter, page: Page) => Listed<Item>

/** Reads one page of `rows`, and counts `all`, which has the same conditions but no columns and no order. */
export function readPage<Counted extends keyof Schema, Read extends keyof Schema, Row, Item>(
  db: Db,
  all: SelectQueryBuilder<Schema, Counted, object>,
  rows: SelectQueryBuilder<Schema, Read, Row>,
  page: Page,
  toItem: (row: Row) => Item,
): Listed<Item> {
  const counted = all.select((eb) => eb.fn.countAll<number>().as('total'))
  return {
    items: db.all(rows.limit(page.limit).offset(offsetOf(page))).map((row) => toItem(row)),
    total: db.first(counted)?.total ?? 0,
  }
}
