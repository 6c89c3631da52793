/** Shapes that all answers share: times, names, the list envelope, and how they are documented. */
import type { Context } from 'hono'
import * as v from 'valibot'
import { formatInstant } from '../domain/instant.ts'
import { type Listed, type Page, pageLinks, totalPages } from '../domain/page.ts'
import type { Answers, Schema } from './route.ts'

/** Values in answers: a public name, a time in ISO 8601 UTC, a count, and texts by their names. */
export const uuidShape = v.pipe(v.string(), v.uuid())
export const instantShape = v.pipe(v.string(), v.isoTimestamp(), v.metadata({ examples: ['2026-03-14T02:11:09.000Z'] }))
export const countShape = v.pipe(v.number(), v.integer(), v.minValue(0))
export const textsShape = v.record(v.string(), v.string())

const REFUSALS = {
  409: "The change contradicts the record's state",
  422: 'It names a service that does not exist',
} as const

const paginationShape = v.object({ page: countShape, limit: countShape, total: countShape, totalPages: countShape })

/** The envelope of a list. */
export function listShape<Item extends Schema>(item: Item) {
  return v.object({ data: v.array(item), pagination: paginationShape })
}

/** A documented success. */
export function success(body: Schema, description: string, status: 200 | 201 = 200): Answers {
  return { [status]: { description, body } }
}

/** Documented refusals beyond those that follow from the route's own token, parameters and body. */
export function refusals(...statuses: (409 | 422)[]): Answers {
  return Object.fromEntries(statuses.map((status) => [status, { description: REFUSALS[status], body: 'problem' }]))
}

/** The list envelope with its Link header. */
export function answerList<Item>(
  c: Context,
  page: Page,
  listed: Listed<Item>,
  show: (item: Item) => unknown,
): Response {
  const { total, items } = listed
  const [, query = ''] = c.req.url.split('?', 2)
  c.header('Link', pageLinks(c.req.path, query, page, total))
  const pagination = { page: page.page, limit: page.limit, total, totalPages: totalPages(total, page) }
  return c.json({ data: items.map(show), pagination })
}

/** A time as answers show it; null stays null. */
export function shownInstant<Ms extends number | null>(ms: Ms): string | (null & Ms) {
  return ms === null ? (ms as null & Ms) : formatInstant(ms)
}
