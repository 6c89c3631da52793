/** Reads request headers from Node's request, because building a web Headers object is expensive. */
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { IncmonError } from '../../domain/error.ts'
import { type Client, clientOf } from '../../domain/request/forwarded.ts'
import type { ServerContext } from '../../server/context.ts'

/** Returns Node's request, or null if the request did not come through Node. */
export function incomingOf(c: Context): HttpBindings['incoming'] | null {
  return (c.env as Partial<HttpBindings> | undefined)?.incoming ?? null
}

/**
 * Returns a header by its lower-case name. Repeated headers are joined with a comma, so a request with two tokens is
 * rejected. Node joins all repeated headers because of an option set in `connections.ts`.
 */
export function headerOf(c: Context, name: string): string | undefined {
  const incoming = incomingOf(c)
  return incoming ? (incoming.headers[name] as string | undefined) : c.req.header(name)
}

/** The maximum length of an Idempotency-Key. */
export const MAX_KEY = 200

/**
 * Returns the Idempotency-Key, or null if it is missing or empty.
 * @throws IncmonError `invalid` if it is too long. If it were ignored, a repeated request would take effect twice.
 */
export function idempotencyKeyOf(c: Context): string | null {
  const key = headerOf(c, 'idempotency-key')
  if (!key) return null
  if (key.length <= MAX_KEY) return key
  const what = `the Idempotency-Key header has ${key.length} characters; send at most ${MAX_KEY}`
  throw new IncmonError('invalid', `${what}; nothing was changed`)
}

export function callerOf(c: Context, { isTrusted }: Pick<ServerContext, 'isTrusted'>): Client {
  const header = (name: string) => headerOf(c, name) ?? ''
  return clientOf(incomingOf(c)?.socket.remoteAddress ?? '', header, isTrusted)
}

/** Returns the public URL of this server, for example https://incmon.example.com, or '' if the URL is uncertain. */
export function originOf(c: Context, server: Pick<ServerContext, 'isTrusted'>): string {
  return callerOf(c, server).origin
}
