/** What every request is watched for, its id, its figures and its line in the log, and what every answer bears. */
import type { Context } from 'hono'
import { IncmonError } from '../../domain/error.ts'
import type { Surroundings } from '../../server/surroundings.ts'
import { callerOf } from './caller.ts'
import { headerOf } from './header.ts'
import { problemOf } from './problem.ts'
import type { Reply } from './reply.ts'

/** Names that are worth keeping: no blanks, no quotes, nothing that a log would have to escape. */
const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/
const MOST_PATH = 200

/** No answer may be guessed to be something else, framed, or kept by a cache on the way. */
export const EVERY_ANSWER: Reply['headers'] = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}

export type Handle = (c: Context) => Reply | Promise<Reply>

/** Makes of what a route replies its answer. */
export type Watch = (route: string, handle: Handle) => (c: Context) => Promise<Response>

/**
 * Gives every answer its X-Request-Id, the one that came or a new one; counts it and, where it is a refusal, logs it.
 * With a stop ahead the connection is not kept: whoever calls again finds another server, or none.
 * `route` is as declared: what callers ask for is not bounded, and may be secret.
 */
export function watchRequests(surroundings: Surroundings): Watch {
  const { elapsed, metrics, log, newRequestId } = surroundings
  return (route, handle) => {
    const count = metrics.requestsOf(route)
    return async (c) => {
      const began = elapsed()
      const sent = headerOf(c, 'x-request-id')
      const id = sent !== undefined && REQUEST_ID.test(sent) ? sent : newRequestId()
      let reply: Reply
      let error: unknown
      try {
        reply = await handle(c)
      } catch (thrown) {
        reply = problemOf(thrown)
        // Of what we foresaw the sentence that the caller got says all, unless something stands behind it.
        error = thrown instanceof IncmonError ? thrown.cause : thrown
      }
      const milliseconds = elapsed() - began
      count(reply.status, milliseconds)
      if (reply.status >= 400) logRefusal(c, surroundings, { id, route, reply, error })
      if (log.isLevelEnabled('debug')) logRequest(c, surroundings, { id, status: reply.status, milliseconds })
      const held = surroundings.held()
      if (held) await held
      if (reply.status === 401) await slowDown(surroundings, callerOf(c, surroundings).address)
      return answer(reply, id, surroundings.isStopping())
    }
  }
}

/** Plain values all the way: the adapter writes them in one go, where the web's Headers would be built and read again. */
function answer({ status, headers, body }: Reply, id: string, isLast: boolean): Response {
  const closing = isLast ? { connection: 'close' } : null
  return new Response(body, { status, headers: { ...EVERY_ANSWER, 'x-request-id': id, ...closing, ...headers } })
}

function logRefusal(
  c: Context,
  surroundings: Surroundings,
  refused: { readonly id: string; readonly route: string; readonly reply: Reply; readonly error: unknown },
): void {
  const { id, route, reply, error } = refused
  surroundings.refusals.add({
    status: reply.status,
    route,
    method: c.req.method,
    path: c.req.path.slice(0, MOST_PATH),
    client: callerOf(c, surroundings).address,
    requestId: id,
    ...(error === undefined ? { detail: reply.detail ?? null } : { error }),
  })
}

function logRequest(
  c: Context,
  surroundings: Surroundings,
  answered: { readonly id: string; readonly status: number; readonly milliseconds: number },
): void {
  const { id, status, milliseconds } = answered
  const { method, path } = c.req
  const client = callerOf(c, surroundings).address
  const ms = Math.round(milliseconds * 10) / 10
  surroundings.log.debug({ method, path: path.slice(0, MOST_PATH), status, ms, client, requestId: id }, 'request')
}

/** The answer is ready, and is held back. */
async function slowDown({ wrongTokens, pause }: Surroundings, address: string): Promise<void> {
  const milliseconds = wrongTokens.add(address)
  if (milliseconds === 0) return
  await pause(milliseconds)
  wrongTokens.done()
}
