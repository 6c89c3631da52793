/** Query parameters: their schemas, and errors that name the parameter. */
import type { Context } from 'hono'
import * as v from 'valibot'
import { BUDGETS } from '../../domain/budgets.ts'
import { type FieldError, IncmonError } from '../../domain/error.ts'
import { SOURCES } from '../../domain/event/event.ts'
import { parseBound } from '../../domain/instant.ts'
import { DEFAULT_LIMIT, MAX_LIMIT, MAX_PAGE, type Page } from '../../domain/pagination.ts'
import { SEVERITIES } from '../../domain/severity.ts'
import { optional } from '../shapes.ts'

/** `page` and `limit`, accepted by every list. */
export const pageParameters = {
  page: v.optional(integerParameter(MAX_PAGE, 1, 'The page number; a page past the end is empty')),
  limit: v.optional(integerParameter(MAX_LIMIT, DEFAULT_LIMIT, 'Records per page')),
}

/** Returns the requested page. The default is the first page, with 50 records. */
export function pageOf(query: { readonly page?: number | undefined; readonly limit?: number | undefined }): Page {
  return { page: query.page ?? 1, limit: query.limit ?? DEFAULT_LIMIT, most: BUDGETS['list-text'].value }
}

/** `from` and `to` are Unix times in milliseconds. A date without a time means the whole day. */
export const timeParameters = { from: v.optional(timeParameter('from')), to: v.optional(timeParameter('to')) }

/** A UUID of this kind of record. The record does not have to exist. */
export const idParameter = (noun: 'service' | 'incident') =>
  optional(v.pipe(v.string(), v.uuid('expected a UUID')), `Only records of this ${noun}`)
export const severityParameter = optional(wordParameter(SEVERITIES), 'Only records with this severity')
export const sourceParameter = optional(wordParameter(SOURCES), 'Only records from this source')

/** Accepts `1`, `true`, `0` and `false`. */
export const flagParameter = v.optional(
  v.pipe(
    wordParameter(['0', '1', 'true', 'false']),
    v.transform((word) => word === '1' || word === 'true'),
  ),
)

/** Accepts one of the given words. */
export function wordParameter<const Words extends readonly string[]>(words: Words) {
  return v.picklist(words, `expected one of ${words.join(', ')}`)
}

/**
 * Parses and validates the query string. Unknown parameters are ignored. If a parameter is repeated, the first value is
 * used.
 * @throws IncmonError `invalid` that names each invalid parameter; also if `from` is later than `to`
 */
export function readQuery<Output>(c: Context, schema: v.GenericSchema<unknown, Output>): Output {
  const result = v.safeParse(schema, c.req.query())
  if (!result.success) throw faults(result.issues, 'query')
  refuseReversed(result.output)
  return result.output
}

/** Returns one field error per issue. The messages never contain the value that was sent. */
export function faults(issues: readonly v.BaseIssue<unknown>[], where: 'query' | 'body'): IncmonError {
  const fields = issues.map((issue) => ({ path: pathOf(issue), message: told(issue) }))
  const first = fields[0] ?? { path: '', message: 'not valid' }
  return new IncmonError('invalid', `${where}: ${first.path === '' ? '' : `${first.path}: `}${first.message}`, fields)
}

/** A whole number from 1 to `max`. */
function integerParameter(max: number, standard: number, description: string) {
  return v.pipe(
    v.string(),
    v.metadata({ type: 'integer', minimum: 1, maximum: max, default: standard, description }),
    v.transform((text) => (/^\d{1,10}$/.test(text) ? Number(text) : Number.NaN)),
    v.check((number) => number >= 1 && number <= max, `expected an integer from 1 to ${max}`),
  )
}

function timeParameter(side: 'from' | 'to') {
  const message = 'expected ISO 8601, such as 2026-03-14 or 2026-03-14T02:11:09Z'
  return v.pipe(
    v.string(),
    v.metadata({
      examples: ['2026-11-20T09:33:00Z'],
      description: `${side === 'from' ? 'At or after' : 'Before'} this time: ISO 8601, or a date alone for the whole day`,
    }),
    v.transform((text) => parseBound(text, side) ?? Number.NaN),
    v.check((ms) => !Number.isNaN(ms), message),
  )
}

function refuseReversed(query: unknown): void {
  const { from, to } = query as { from?: number; to?: number }
  if (from === undefined || to === undefined || from <= to) return
  const fields: FieldError[] = [{ path: 'from', message: 'must not be later than "to"; swap the two values' }]
  throw new IncmonError('invalid', 'query: "from" is later than "to"; swap the two values', fields)
}

/** Returns the path of a field, for example `aliases[0].kind`. */
function pathOf(issue: v.BaseIssue<unknown>): string {
  const keys = issue.path?.map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)) ?? []
  return keys.join('').replace(/^\./, '')
}

/** Replaces valibot's messages, which would contain the value that was sent. */
function told(issue: v.BaseIssue<unknown>): string {
  if (issue.received === 'undefined') return 'missing; this field is required'
  if (issue.kind === 'schema' && issue.message.startsWith('Invalid')) return `expected ${issue.expected ?? 'nothing'}`
  return issue.message
}
