/** Headers of a request: read where Node has them already, since the web's own Headers are dear to build. */
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'

/** Node's own request; null where none stands behind the web's. */
export function incomingOf(c: Context): HttpBindings['incoming'] | null {
  return (c.env as Partial<HttpBindings> | undefined)?.incoming ?? null
}

/**
 * A header by its name in lower case. One that came several times arrives joined by commas, so that two tokens are none:
 * Node does so with every header because `connections.ts` asks it to.
 */
export function headerOf(c: Context, name: string): string | undefined {
  const incoming = incomingOf(c)
  return incoming ? (incoming.headers[name] as string | undefined) : c.req.header(name)
}
