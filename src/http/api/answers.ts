/** Documents the responses of endpoints, and creates responses with pages of records. */
import { type Listed, type Page, pageLinks, totalPages } from '../../domain/pagination.ts'
import { originOf } from '../middleware/header.ts'
import { MEANINGS } from '../middleware/problem.ts'
import { pageOf } from '../middleware/query.ts'
import { json, type Reply } from '../middleware/reply.ts'
import type { Answers, Call, Schema } from '../route.ts'
import { page } from '../shapes.ts'

/** Documents a successful response. */
export function success(body: Schema, description: string, status: 200 | 201 = 200): Answers {
  return { [status]: { description, body } }
}

/** Documents a response with one page of records, and the 503 response to a query that takes too long. */
export function successPage(record: Schema, description: string): Answers {
  return { ...success(page(record), description), ...refusals({ 503: MEANINGS[503] }) }
}

/** Documents error responses that are not implied by the token, the parameters or the body, each with its causes. */
export function refusals(causes: Readonly<Partial<Record<404 | 409 | 422 | 503, string>>>): Answers {
  return Object.fromEntries(
    Object.entries(causes).map(([status, description]) => [status, { description, body: 'problem' }]),
  )
}

/**
 * Returns a response with the page of records that the query asks for.
 * @param list reads a page of the records
 */
export async function answerPage<Item>(
  call: Call<Parameters<typeof pageOf>[0]>,
  list: (page: Page) => Promise<Listed<Item>>,
  show: (item: Item) => unknown = (item) => item,
): Promise<Reply> {
  const page = pageOf(call.query)
  const { items, total } = await list(page)
  return answer(call, page, items.map(show), total)
}

/** Returns a list response with all records, which are at most `limit`. */
export function answerAll(call: Call, items: readonly unknown[], limit: number): Reply {
  return answer(call, { page: 1, limit }, items, items.length)
}

/** Returns a list response with a Link header. */
function answer({ c, server }: Call, page: Page, data: readonly unknown[], total: number): Reply {
  const [, query = ''] = c.req.url.split('?', 2)
  const link = pageLinks(originOf(c, server) + c.req.path, query, page, total)
  const pagination = { page: page.page, limit: page.limit, total, totalPages: totalPages(total, page) }
  return json({ data, pagination }, 200, { link })
}
