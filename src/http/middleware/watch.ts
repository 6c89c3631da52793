/** Adds an ID, metrics, a log line and common headers to every request. */
import type { Context } from 'hono'
import { IncmonError } from '../../domain/error.ts'
import type { ServerContext } from '../../server/context.ts'
import { callerOf, headerOf } from './header.ts'
import { problemOf } from './problem.ts'
import type { Reply } from './reply.ts'

/** A valid request ID, without characters that would need escaping in a log. */
const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/
const MAX_PATH = 200

/** Headers of every response: no content sniffing, no framing, no caching. */
export const COMMON_HEADERS: Reply['headers'] = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}

/** Converts a route's reply to an HTTP response. */
export type Watch = (route: string, handle: (c: Context) => Reply | Promise<Reply>) => (c: Context) => Promise<Response>

/**
 * Sets X-Request-Id on every response to the request's ID or, without one, to a new ID. Counts requests and logs
 * errors. Closes connections while the server is stopping, so that clients reconnect elsewhere. `route` is the declared
 * path, because actual paths are unlimited in number and might contain secrets.
 */
export function watchRequests(server: ServerContext): Watch {
  const { elapsed, metrics, log, newRequestId } = server
  return (route, handle) => {
    const count = metrics.requestsOf(route)
    return async (c) => {
      const began = elapsed()
      const sent = headerOf(c, 'x-request-id')
      const id = sent !== undefined && REQUEST_ID.test(sent) ? sent : newRequestId()
      let reply: Reply
      let thrown: unknown
      try {
        reply = await handle(c)
        thrown = reply.error
      } catch (error) {
        reply = problemOf(error)
        // An expected error is explained in the response. Only the error's cause is logged.
        thrown = error instanceof IncmonError ? error.cause : error
        server.damage.note(thrown)
      } finally {
        server.pendingBodies.release(c)
      }
      const finish = (answered: Reply, error: unknown) => {
        const milliseconds = elapsed() - began
        count(answered.status, milliseconds)
        if (answered.status >= 400) logRefusal(c, server, { id, route, reply: answered, error })
        if (log.isLevelEnabled('debug')) logRequest(c, server, { id, status: answered.status, milliseconds })
      }
      if (reply.rest) void reply.rest.then((all) => finish(all, all.error))
      else finish(reply, thrown)
      const held = server.held()
      if (held) await held
      if (reply.status === 401) await slowDown(server, callerOf(c, server).address, route)
      return answer(c.req.method === 'HEAD' ? withoutStream(reply) : reply, id, server.isStopping())
    }
  }
}

/**
 * Uses plain values, which the adapter writes in one step. A web Headers object would have to be built and read again.
 */
function answer({ status, headers, body }: Reply, id: string, isLast: boolean): Response {
  const closing = isLast ? { connection: 'close' } : null
  return new Response(body, { status, headers: { ...COMMON_HEADERS, 'x-request-id': id, ...closing, ...headers } })
}

/** Cancels a stream that nobody reads, because the response to HEAD has no body. */
function withoutStream(reply: Reply): Reply {
  if (!(reply.body instanceof ReadableStream)) return reply
  void reply.body.cancel()
  return { ...reply, body: null }
}

function logRefusal(
  c: Context,
  server: ServerContext,
  refused: { readonly id: string; readonly route: string; readonly reply: Reply; readonly error: unknown },
): void {
  const { id, route, reply, error } = refused
  server.refusals.add({
    status: reply.status,
    route,
    method: c.req.method,
    path: c.req.path.slice(0, MAX_PATH),
    client: callerOf(c, server).address,
    requestId: id,
    ...(error === undefined ? { detail: reply.detail ?? null } : { error }),
  })
}

function logRequest(
  c: Context,
  server: ServerContext,
  answered: { readonly id: string; readonly status: number; readonly milliseconds: number },
): void {
  const { id, status, milliseconds } = answered
  const { method, path } = c.req
  const client = callerOf(c, server).address
  const ms = Math.round(milliseconds * 10) / 10
  server.log.debug({ method, path: path.slice(0, MAX_PATH), status, ms, client, requestId: id }, 'request')
}

/** Delays the response to an address that has sent too many invalid tokens. */
async function slowDown({ wrongTokens, pause }: ServerContext, address: string, route: string): Promise<void> {
  const milliseconds = wrongTokens.add(address, route.startsWith('POST /api/webhooks/'))
  if (milliseconds === 0) return
  await pause(milliseconds)
  wrongTokens.done()
}
