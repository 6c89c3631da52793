/**
 * Reads request bodies with a size limit, decodes them as strict UTF-8 and JSON, and validates them against a schema.
 */
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import * as v from 'valibot'
import { IncmonError } from '../../domain/error.ts'
import { parseBound } from '../../domain/instant.ts'
import { trimmed } from '../../domain/text.ts'
import { cleanText, parseBody } from '../../intake/json.ts'
import { freeBytes, type PendingBodies } from '../../server/connection/pending-bodies.ts'
import { onUnreadableBody } from '../../server/connection/unreadable.ts'
import { headerOf, incomingOf } from './header.ts'
import { refuseEmptyPatch, refuseMisspelled } from './misspelling.ts'
import { faults } from './query.ts'

const MEBIBYTE = 1_048_576
/** Size limits in bytes. */
export const REST_LIMIT = MEBIBYTE
export const WEBHOOK_LIMIT = 10 * MEBIBYTE

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i

const NOT_JSON =
  'the Content-Type is not JSON in UTF-8; send a Content-Type: application/json header (curl -d sends a form unless you add -H "Content-Type: application/json")'

/** The number of characters around a text that can stay in memory with it. */
const MAX_SPACES = 100

/** Returns the text that a user entered: clean, and without the spaces around it. */
export function typedText(text: string): string {
  return trimmed(cleanText(text), MAX_SPACES)
}

/** User-supplied text: trimmed, `min` to `max` characters. `min` is 0 if the text can be empty. */
export function textField(max: number, min: 0 | 1 = 1) {
  return v.pipe(
    v.string('expected a string'),
    v.metadata(min === 0 ? { maxLength: max } : { minLength: min, maxLength: max }),
    v.transform(typedText),
    v.minLength(min, 'empty; write at least one character'),
    v.maxLength(max, `too long; at most ${max} characters`),
  )
}

/** The UUID of a record. The record does not have to exist. */
export const uuidField = v.pipe(v.string(), v.uuid('expected a UUID'))

/** A whole number from `min` to `max`. `unit` is the plural of the unit, for the error message. */
export function wholeNumberField(unit: string, min: number, max: number) {
  const message = `expected a whole number of ${unit} from ${min} to ${max}`
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message))
}

/** An ISO 8601 time with any offset, converted to Unix time in milliseconds. */
export const instantField = v.pipe(
  v.string('expected an ISO 8601 string'),
  v.metadata({ examples: ['2026-03-14T02:11:09Z'] }),
  v.transform((text) => parseBound(text, 'from') ?? Number.NaN),
  v.check((ms) => !Number.isNaN(ms), 'expected ISO 8601, such as 2026-03-14T02:11:09Z'),
)

/**
 * Reads the JSON body of a REST request. Unknown fields are ignored unless they look like misspellings.
 * @throws IncmonError `unsupported` (not declared as JSON, or compressed), `too-large`, `invalid`
 */
export async function readBody<Output>(
  c: Context,
  schema: v.GenericSchema<unknown, Output>,
  pending: PendingBodies,
  organizationId?: number,
): Promise<Output> {
  const type = headerOf(c, 'content-type')
  if (type !== undefined && !JSON_TYPE.test(type.trim())) {
    throw new IncmonError('unsupported', NOT_JSON)
  }
  if (isCompressed(c))
    throw new IncmonError(
      'unsupported',
      'the body is compressed, which is not supported; send it without Content-Encoding',
    )
  const body = parseBody(await readBytes(c, REST_LIMIT, pending, organizationId))
  if (Array.isArray(body)) throw new IncmonError('invalid', 'body: expected an object, found a list')
  refuseMisspelled('body', schema, body)
  const result = v.safeParse(schema, body)
  if (!result.success) throw faults(result.issues, 'body')
  if (c.req.method === 'PATCH') refuseEmptyPatch(schema, body)
  return result.output
}

/** Returns whether the request declares a compressed body. */
export function isCompressed(c: Context): boolean {
  const encoding = headerOf(c, 'content-encoding')
  return encoding !== undefined && !/^\s*(identity)?\s*$/i.test(encoding)
}

/**
 * Reads the body, up to `limit` bytes. Rejects the body immediately if `Content-Length` exceeds the limit. Otherwise,
 * rejects the body as soon as the received bytes exceed the limit.
 * @throws IncmonError `too-large`; `too-slow`; `unavailable` if all pending bodies together use too much memory;
 * `invalid` if the chunks are malformed or the connection ended early
 */
export async function readBytes(
  c: Context,
  limit: number,
  pending: PendingBodies,
  organizationId?: number,
): Promise<Uint8Array> {
  const declared = headerOf(c, 'content-length')
  if (declared !== undefined && Number(declared) > limit) throw tooLarge(limit)
  if (!pending.fits(Number(declared ?? 0), organizationId)) throw tooMuchPending()
  const incoming = incomingOf(c)
  const accept = (bytes: number, all: number) => {
    if (all > limit) return tooLarge(limit)
    return pending.add(c, bytes, organizationId) ? null : tooMuchPending()
  }
  const bytes = incoming ? await readIncoming(incoming, accept) : new Uint8Array(await c.req.raw.arrayBuffer())
  if (bytes.length > limit) throw tooLarge(limit)
  return bytes
}

/**
 * Returns the reason why a chunk cannot be accepted, or null. `all` is the number of bytes read so far, including the
 * chunk.
 */
type Accept = (bytes: number, all: number) => IncmonError | null

/** Reads from Node's request directly, because a web Request would add promises and a copy of the body. */
function readIncoming(incoming: HttpBindings['incoming'], accept: Accept): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let length = 0
    const take = (chunk: Uint8Array) => {
      chunks.push(chunk)
      length += chunk.length
      const refusal = accept(chunk.length, length)
      if (refusal) fail(refusal)
    }
    const end = () => {
      if (chunks.length === 1 && chunks[0]) return resolve(chunks[0])
      resolve(Buffer.concat(chunks))
      free()
    }
    const free = () => {
      for (const chunk of chunks.splice(0)) freeBytes(chunk)
    }
    const fail = (fault: IncmonError) => {
      // The rest of the body stays in the socket. After the response has been sent, the server checks how much of the
      // body is left.
      incoming.off('data', take).off('end', end).pause()
      free()
      reject(fault)
    }
    incoming.on('data', take)
    incoming.on('end', end)
    onUnreadableBody(incoming, fail)
    // The connection might have closed while the token was being checked.
    if (incoming.closed) return fail(cutShort())
    incoming.on('close', () => {
      if (!incoming.readableEnded) fail(cutShort())
    })
  })
}

function cutShort(): IncmonError {
  return new IncmonError('invalid', 'body: the connection ended before the body was complete; send it again')
}

function tooMuchPending(): IncmonError {
  return new IncmonError(
    'unavailable',
    'too many large requests are pending: nothing was stored, so send the request again',
  )
}

function tooLarge(limit: number): IncmonError {
  return new IncmonError('too-large', `the body is larger than ${sizeText(limit)}; split it into smaller requests`)
}

function sizeText(bytes: number): string {
  return bytes >= MEBIBYTE ? `${bytes / MEBIBYTE} MiB` : `${bytes / 1024} KiB`
}
