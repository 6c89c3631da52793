/** Replies: responses as plain values. Only `watch.ts` turns replies into HTTP responses. */
import type { Context } from 'hono'
import type { WebAsset } from '../../server/web.ts'
import { headerOf } from './header.ts'

export type Reply = {
  readonly status: number
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Null if there is no body. */
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
  /** The error text for the log. */
  readonly detail?: string
  /** The complete reply, if its beginning is sent first. It never rejects. */
  readonly rest?: Promise<Reply>
  /** The internal error, if any. The error is logged but not shown to the caller. */
  readonly error?: unknown
}

/** The reply to an operation that returns nothing. */
export const DONE: Reply = { status: 204, headers: {}, body: null }

export function json(value: unknown, status: 200 | 201 = 200, headers: Reply['headers'] = {}): Reply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}

export function text(body: string, type: string, headers: Reply['headers'] = {}): Reply {
  return { status: 200, headers: { 'content-type': type, ...headers }, body }
}

// Answers with a document that is the same for everybody, from memory.

/** Answers 304 if the client already has this version (RFC 9110, section 13.1.2). */
export function answerAsset(c: Context, { type, tag, body, gzip }: WebAsset, more: Reply['headers']): Reply {
  const headers = { etag: `"${tag}"`, vary: 'accept-encoding', 'content-type': type, ...more }
  const known = (headerOf(c, 'if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  if (known.includes('*') || known.includes(headers.etag)) return { status: 304, headers, body: null }
  return /\bgzip\b/.test(headerOf(c, 'accept-encoding') ?? '')
    ? { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: gzip() }
    : { status: 200, headers, body }
}
