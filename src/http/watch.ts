/** What every request is watched for: its id, its figures, its line in the log, and who sent it. */
import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { IncmonError } from '../domain/error.ts'
import { type Client, clientOf } from '../domain/forwarded.ts'
import type { Surroundings } from '../server/surroundings.ts'

/** Names that are worth keeping: no blanks, no quotes, nothing that a log would have to escape. */
const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/
const MOST_PATH = 200

/** What is known of a request from its head on. */
type Seen = { route: string; detail: string | null; readonly client: () => Client }

/**
 * Gives every answer its X-Request-Id, the one that came or a new one; counts it and, where it is a refusal, logs it.
 * With a stop ahead the connection is not kept: whoever calls again finds another server, or none.
 */
export function watchRequests(surroundings: Surroundings): MiddlewareHandler {
  const { elapsed, metrics, isStopping, newRequestId } = surroundings
  return async (c, next) => {
    const began = elapsed()
    const sent = c.req.header('x-request-id')
    const id = sent !== undefined && REQUEST_ID.test(sent) ? sent : newRequestId()
    const seen: Seen = { route: 'none', detail: null, client: () => callerOf(c, surroundings) }
    c.set('seen', seen)
    c.header('X-Request-Id', id)
    if (isStopping()) c.header('Connection', 'close')
    await next()
    const milliseconds = elapsed() - began
    const { status } = c.res
    metrics.request(seen.route, status, milliseconds)
    if (status >= 400) logRefusal(c, surroundings, { id, seen, status })
    if (surroundings.log.isLevelEnabled('debug')) logRequest(c, surroundings, { id, seen, status, milliseconds })
    const held = surroundings.held()
    if (held) await held
    if (status === 401) await slowDown(surroundings, seen.client().address)
  }
}

/** Says which route a request has reached, as it is declared: what callers ask for is not bounded, and may be secret. */
export function nameRoute(c: Context, route: string): void {
  const seen = c.get('seen') as Seen
  seen.route = route
}

/** Says what a refused caller was told: the log tells it too. */
export function noteDetail(c: Context, detail: string): void {
  const seen = c.get('seen') as Seen
  seen.detail = detail
}

/** Where the caller reaches this server, such as https://incmon.example.com; '' where only a relative address is sure. */
export function originOf(c: Context): string {
  return (c.get('seen') as Seen).client().origin
}

function callerOf(c: Context, { isTrusted }: Surroundings): Client {
  const { incoming } = (c.env ?? {}) as Partial<HttpBindings>
  const header = (name: string) => c.req.header(name) ?? ''
  const said = {
    forwarded: header('forwarded'),
    xForwardedFor: header('x-forwarded-for'),
    xForwardedProto: header('x-forwarded-proto'),
    xForwardedHost: header('x-forwarded-host'),
  }
  return clientOf(incoming?.socket.remoteAddress ?? '', said, isTrusted)
}

type Answered = { readonly id: string; readonly seen: Seen; readonly status: number }

function logRefusal(c: Context, { refusals }: Surroundings, { id, seen, status }: Answered): void {
  const { route, detail } = seen
  // Of what we foresaw the sentence that the caller got says all, unless something stands behind it.
  const error = c.error instanceof IncmonError ? c.error.cause : c.error
  refusals.add({
    status,
    route,
    method: c.req.method,
    path: c.req.path.slice(0, MOST_PATH),
    client: seen.client().address,
    requestId: id,
    ...(error === undefined ? { detail } : { error }),
  })
}

function logRequest(
  c: Context,
  { log }: Surroundings,
  { id, seen, status, milliseconds }: Answered & { readonly milliseconds: number },
): void {
  const { method, path } = c.req
  const client = seen.client().address
  const ms = Math.round(milliseconds * 10) / 10
  log.debug({ method, path: path.slice(0, MOST_PATH), status, ms, client, requestId: id }, 'request')
}

/** The answer is ready, and is held back. */
async function slowDown({ wrongTokens, pause }: Surroundings, address: string): Promise<void> {
  const milliseconds = wrongTokens.add(address)
  if (milliseconds === 0) return
  await pause(milliseconds)
  wrongTokens.done()
}
