/** Problem documents (RFC 9457), the format of every error response. */
import { type FieldError, IncmonError } from '../../domain/error.ts'
import { isDamage, isFull, isStoreFailure } from '../../store/sqlite/fault.ts'
import type { Reply } from './reply.ts'

type Status = 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 422 | 431 | 500 | 503

const STATUS: Readonly<Record<IncmonError['code'], Status>> = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'too-slow': 408,
  'too-large': 413,
  'head-too-large': 431,
  unsupported: 415,
  unprocessable: 422,
  unavailable: 503,
}

/** The RFC 9110 name of each error status. */
export const TITLES: Readonly<Record<Status, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** The meaning of each status. The API reference shows these descriptions. */
export const MEANINGS: Readonly<Record<Status, string>> = {
  400: 'The request is not JSON or does not match the schema, or a parameter is out of range; errors lists each invalid field',
  401: 'The token is missing, unknown, expired or revoked. A webhook also returns 401 if the token does not have the ingest scope',
  403: 'The token does not have the scope that this operation requires',
  404: 'The path does not exist, or the record does not exist in the organization of the token',
  405: 'The path does not support this method; the Allow header lists the supported methods',
  408: 'The whole request did not arrive within 20 seconds, or its headers did not arrive within 10 seconds',
  409: 'The change conflicts with the current state of the record',
  413: 'The body is larger than 1 MiB (10 MiB for webhooks)',
  415: 'The Content-Type is not JSON in UTF-8, or the body is compressed',
  422: 'The request names a service that does not exist',
  431: 'The headers of the request are larger than 16 KiB',
  500: 'A bug in incmon; see its log for the cause',
  503: 'The database is currently not writable, or too many slow reads are pending. Retry after the number of seconds in the Retry-After header. Nothing was changed, except that part of a very large webhook request may be stored; retrying is safe',
}

/** Additional headers for certain statuses. */
const BESIDE: Readonly<Partial<Record<Status, Reply['headers']>>> = {
  401: { 'www-authenticate': 'Bearer' },
  503: { 'retry-after': '5' },
}

const UNAVAILABLE =
  'the database is currently not writable and nothing was changed; send the request again in a few seconds'
const FULL =
  'the database disk is full, or its quota is used up, and nothing was changed; free some disk space ("incmon doctor" shows how much is free), then send the request again'
const DAMAGED = 'the database is damaged; see GET /readyz for what to do'
const OUR_FAULT =
  'internal error (a bug in incmon); see the server log for the cause, check GET /readyz, then send the request again'

/** The maximum length of `detail`. Senders log error bodies, so each body should stay below about 1 kB. */
const MAX_DETAIL = 300
const MAX_FIELDS = 5
const MAX_PATH = 40
/** The maximum length of all messages of the invalid fields together. */
const MAX_MESSAGES = 400

/** An error response as JSON. `detail` is also in the body. */
type Problem = Reply & { readonly body: string; readonly detail: string }
/** Returns the error for a missing record. The text is the same if the record belongs to another organization. */
export function notFound(noun: string, list: string): IncmonError {
  return new IncmonError('not-found', `this organization has no such ${noun}; ${list} lists all ${noun}s`)
}

/**
 * Returns the record that a query finds. @throws IncmonError `not-found` that names the path for listing all records
 */
export async function required<Found>(query: Promise<Found>, noun: string, list: string): Promise<NonNullable<Found>> {
  const found = await query
  if (found === null || found === undefined) throw notFound(noun, list)
  return found
}

/** Returns the response for a thrown error. Any error other than `IncmonError` is a bug, and its text is not shown. */
export function problemOf(error: unknown): Problem {
  if (error instanceof IncmonError) return problem(STATUS[error.code], error.message, error.fields)
  if (isDamage(error)) return problem(503, DAMAGED)
  if (isFull(error)) return problem(503, FULL)
  return isStoreFailure(error) ? problem(503, UNAVAILABLE) : problem(500, OUR_FAULT)
}

/**
 * Returns an application/problem+json response of at most about 1 kB.
 * @param more members to add to the standard members from RFC 9457
 */
export function problem(
  status: Status,
  detail: string,
  fields: readonly FieldError[] = [],
  more: Readonly<Record<string, unknown>> = {},
): Problem {
  const shown = fields.slice(0, MAX_FIELDS)
  const maxMessage = MAX_MESSAGES / shown.length
  const errors = shown.map(({ path, message }) => ({ path: cut(path, MAX_PATH), message: cut(message, maxMessage) }))
  const body = { type: 'about:blank', title: TITLES[status], status, detail: cut(detail, MAX_DETAIL), ...more }
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...BESIDE[status] },
    body: JSON.stringify(errors.length > 0 ? { ...body, errors } : body),
    detail: body.detail,
  }
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`
}
