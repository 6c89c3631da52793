/** Answers with a document that is the same for everybody, from memory. */
import type { Context } from 'hono'
import type { WebAsset } from '../../server/web.ts'
import { headerOf } from './header.ts'
import type { Reply } from './reply.ts'

/** Answers 304 if the client already has this version (RFC 9110, section 13.1.2). */
export function answerAsset(c: Context, { type, tag, body, gzip }: WebAsset, more: Reply['headers']): Reply {
  const headers = { etag: `"${tag}"`, vary: 'accept-encoding', 'content-type': type, ...more }
  const known = (headerOf(c, 'if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  if (known.includes('*') || known.includes(headers.etag)) return { status: 304, headers, body: null }
  return /\bgzip\b/.test(headerOf(c, 'accept-encoding') ?? '')
    ? { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: gzip() }
    : { status: 200, headers, body }
}
