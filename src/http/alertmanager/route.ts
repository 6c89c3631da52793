/** Defines the endpoints of Alertmanager's API: authentication, CORS, and the two forms of Alertmanager's errors. */
import type { Context } from 'hono'
import { IncmonError } from '../../domain/error.ts'
import type { Scope } from '../../domain/request/token.ts'
import type { Identity } from '../../store/tokens.ts'
import { requireScope } from '../middleware/auth.ts'
import { problemOf } from '../middleware/problem.ts'
import type { Reply } from '../middleware/reply.ts'
import type { HandlerParts } from '../route.ts'

/** The path under which the API is served. Grafana requires that the API has only this one path. */
export const BASE = '/alertmanager'
const API = `${BASE}/api/v2`

/** A served path. `ALL` matches every method that no earlier route of the path matches. */
export type AlertmanagerRoute = {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'OPTIONS' | 'ALL'
  readonly path: string
  readonly handle: (c: Context, parts: HandlerParts) => Reply | Promise<Reply>
}

export type ApiCall = HandlerParts & { readonly c: Context; readonly identity: Identity }
type Handle = (call: ApiCall) => Reply | Promise<Reply>

/** An expected error in one of Alertmanager's forms. */
export class Refusal extends Error {
  readonly reply: Reply
  constructor(reply: Reply) {
    super(reply.detail ?? '')
    this.reply = reply
  }
}

/** Returns an error of a handler: the body is a JSON string. */
export function refusal(status: 400 | 404, message: string): Refusal {
  const headers = { 'content-type': 'application/json' }
  return new Refusal({ status, headers, body: JSON.stringify(message), detail: message })
}

/** Returns an error of the framework that Alertmanager uses: the body has a code and a message. */
export function coded(status: number, code: number, message: string, headers: Reply['headers'] = {}): Refusal {
  const body = JSON.stringify({ code, message })
  return new Refusal({ status, headers: { 'content-type': 'application/json', ...headers }, body, detail: message })
}

/** Defines the methods of one path, each with the scope of the token that it requires. */
export function api(
  path: string,
  methods: Readonly<Partial<Record<'GET' | 'POST' | 'DELETE', readonly [Scope, Handle]>>>,
): AlertmanagerRoute[] {
  const served = Object.entries(methods).map(([method, [scope, handle]]): AlertmanagerRoute => {
    return { method: method as 'GET', path: API + path, handle: (c, parts) => answer(c, parts, scope, handle) }
  })
  const allow = Object.keys(methods).join(',')
  return [
    ...served,
    { method: 'OPTIONS', path: API + path, handle: () => preflight(allow) },
    {
      method: 'ALL',
      path: API + path,
      handle: (c) => {
        const message = `method ${c.req.method} is not allowed, but [${allow}] are`
        return withCors(coded(405, 405, message, { allow }).reply)
      },
    },
  ]
}

/** Answers every other path under `/alertmanager`. */
export const missingPath: AlertmanagerRoute = {
  method: 'ALL',
  path: `${BASE}/*`,
  handle: (c) => withCors(coded(404, 404, `path ${c.req.path.slice(BASE.length)} was not found`).reply),
}

/** Answers the first version of the API as Alertmanager does. */
export const removedVersion: AlertmanagerRoute = {
  method: 'ALL',
  path: `${BASE}/api/v1/*`,
  handle: () => {
    const error = `the API v1 was removed; use ${API}`
    const headers = { 'content-type': 'application/json' }
    return withCors({ status: 410, headers, body: JSON.stringify({ status: 'deprecated', error }), detail: error })
  },
}

async function answer(c: Context, parts: HandlerParts, scope: Scope, handle: Handle): Promise<Reply> {
  try {
    const identity = await requireScope(c, parts, 'basic', scope)
    return withCors(await handle({ ...parts, c, identity }))
  } catch (error) {
    if (error instanceof Refusal) return withCors(error.reply)
    const { status, headers, detail } = problemOf(error)
    const asked = status === 401 ? { 'www-authenticate': 'Bearer, Basic realm="incmon"' } : {}
    const reply = coded(status, status, detail, { ...headers, ...asked, 'content-type': 'application/json' }).reply
    const cause = error instanceof IncmonError ? error.cause : error
    parts.server.damage.note(cause)
    return withCors(cause === undefined ? reply : { ...reply, error: cause })
  }
}

/** Alertmanager's CORS headers. Every origin is allowed, because browsers never add the token by themselves. */
function withCors(reply: Reply): Reply {
  return { ...reply, headers: { 'access-control-allow-origin': '*', vary: 'Origin', ...reply.headers } }
}

function preflight(allow: string): Reply {
  const headers = {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': allow,
    'access-control-allow-headers': 'Accept, Authorization, Content-Type, Origin',
    vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  }
  return { status: 200, headers, body: null }
}
