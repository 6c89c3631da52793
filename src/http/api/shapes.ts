/** Schemas shared by many responses, such as times, IDs and lists. */
import * as v from 'valibot'
import { SOURCES } from '../../domain/event/event.ts'
import { formatInstant } from '../../domain/instant.ts'
import { type Listed, type Page, pageLinks, totalPages } from '../../domain/pagination.ts'
import { SEVERITIES } from '../../domain/severity.ts'
import type { ListQuery } from '../../store/read.ts'
import { originOf } from '../middleware/header.ts'
import { MEANINGS } from '../middleware/problem.ts'
import { pageOf } from '../middleware/query.ts'
import { json, type Reply } from '../middleware/reply.ts'
import type { Answers, Call, Schema } from '../route.ts'

/** The UUID used in examples. */
export const EXAMPLE_ID = '01997b3e-5c1a-7d20-9f4e-3a8c6b2d1e05'

/** Schemas of common values: a UUID, a time in ISO 8601 UTC, a count, a map of strings. */
export const uuidShape = v.pipe(v.string(), v.uuid(), v.metadata({ examples: [EXAMPLE_ID] }))
export const instantShape = v.pipe(v.string(), v.isoTimestamp(), v.metadata({ examples: ['2026-11-20T09:33:00.000Z'] }))
export const countShape = v.pipe(v.number(), v.integer(), v.minValue(0))
export const textsShape = v.record(v.string(), v.string())

/** Fields that many records have in common. */
export const idShape = described(uuidShape, 'The UUID of the record')
export const severityShape = described(v.picklist(SEVERITIES), 'The severity')
export const sourceShape = described(v.picklist(SOURCES), 'The webhook that received the data')
export const reasonsShape = described(
  v.array(
    v.object({
      code: described(v.string(), 'A machine-readable code', 'during'),
      text: described(v.string(), 'A human-readable explanation', 'first seen while the change was in progress'),
    }),
  ),
  'The reasons for the score',
)
export const bySeverityShape = v.object({
  critical: described(countShape, 'Number with this severity', 2),
  error: described(countShape, 'Number with this severity', 1),
  warning: described(countShape, 'Number with this severity', 0),
  info: described(countShape, 'Number with this severity', 0),
})

const paginationShape = v.object({
  page: described(countShape, 'The number of this page', 1),
  limit: described(countShape, 'Records per page', 50),
  total: described(countShape, 'The number of records on all pages', 1),
  totalPages: described(countShape, 'Number of pages', 1),
})

/** Adds a description and examples to a schema. */
export function described<Described extends Schema>(
  schema: Described,
  description: string,
  ...examples: unknown[]
): Described {
  const metadata = v.metadata(examples.length > 0 ? { description, examples } : { description })
  // Metadata must precede any transformation. Otherwise, the metadata would describe the output instead of the input.
  const [first, ...rest] = ('pipe' in schema ? schema.pipe : [schema]) as [
    Schema,
    ...v.PipeItem<unknown, unknown, never>[],
  ]
  return v.pipe(first, metadata as v.PipeItem<unknown, unknown, never>, ...rest) as unknown as Described
}

/** The schema of a list response. */
export function listShape<Item extends Schema>(item: Item) {
  return v.object({
    data: described(v.array(item), 'The records of this page'),
    pagination: described(paginationShape, 'The position of this page'),
  })
}

/** Documents a successful response. */
export function success(body: Schema, description: string, status: 200 | 201 = 200): Answers {
  return { [status]: { description, body } }
}

/** Documents error responses that are not implied by the token, the parameters or the body. */
export function refusals(...statuses: (409 | 422 | 503)[]): Answers {
  return Object.fromEntries(statuses.map((status) => [status, { description: MEANINGS[status], body: 'problem' }]))
}

/** Returns a response with one page of the records selected by the query. */
export async function answerPage<Filter extends Parameters<typeof pageOf>[0], Item>(
  call: Call<Filter, unknown>,
  list: ListQuery<Filter, Item>,
  show: (item: Item) => unknown,
): Promise<Reply> {
  const page = pageOf(call.query)
  const listed = await call.store.read(list, call.identity.organizationId, call.query, page)
  return answerList(call, page, listed, show)
}

/** Returns a list response with a Link header. */
export function answerList<Item>(
  { c, server }: Call<unknown, unknown>,
  page: Page,
  listed: Listed<Item>,
  show: (item: Item) => unknown,
): Reply {
  const { total, items } = listed
  const [, query = ''] = c.req.url.split('?', 2)
  const link = pageLinks(originOf(c, server) + c.req.path, query, page, total)
  const pagination = { page: page.page, limit: page.limit, total, totalPages: totalPages(total, page) }
  return json({ data: items.map(show), pagination }, 200, { link })
}

/** The fields of a record before conversion. Times are Unix times in milliseconds. */
type Fields<Shown> = { readonly [Name in keyof Shown]: Field<Shown[Name]> }
type Field<Shown> = Shown extends (infer Item)[] ? readonly Item[] : string extends Shown ? Shown | number : Shown

/**
 * Returns a function that converts records to their API format. The result has exactly the fields of the shape, with
 * times in ISO 8601 UTC.
 */
export function shower<Entries extends v.ObjectEntries>(shape: v.ObjectSchema<Entries, undefined>) {
  type Shown = v.InferInput<typeof shape>
  const fields = Object.entries(shape.entries).map(([name, field]) => ({ name, isTime: isInstant(field) }))
  return (record: Fields<Shown>): Shown => {
    const shown: Record<string, unknown> = {}
    for (const { name, isTime } of fields) {
      const value: unknown = record[name as keyof Shown]
      shown[name] = isTime && typeof value === 'number' ? formatInstant(value) : value
    }
    return shown as Shown
  }
}

function isInstant(schema: object): boolean {
  if ('wrapped' in schema) return isInstant(schema.wrapped as object)
  return 'pipe' in schema && (schema.pipe as { type: string }[]).some(({ type }) => type === 'iso_timestamp')
}

/** Returns a time in ISO 8601 UTC, or null for null. */
export function instantText<Ms extends number | null>(ms: Ms): string | (null & Ms) {
  return ms === null ? (ms as null & Ms) : formatInstant(ms)
}
