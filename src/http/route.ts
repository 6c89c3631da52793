/** Defines endpoints. A definition is used to serve, document and test the endpoint. */
import type { Context } from 'hono'
import type * as v from 'valibot'
import { type Deps, type Own, ownOf, type Store } from '../actions/deps.ts'
import { hashBody, runOnce } from '../actions/idempotency.ts'
import type { Scope } from '../domain/request/token.ts'
import type { Recent } from '../intake/recent.ts'
import type { ServerContext } from '../server/context.ts'
import type { Identity } from '../store/tokens.ts'
import { refuseProxied, requireScope, type TokenHeader } from './middleware/auth.ts'
import { readBody } from './middleware/body.ts'
import { idempotencyKeyOf } from './middleware/header.ts'
import { refuseMisspelled, refuseUnknownDryRun } from './middleware/misspelling.ts'
import { readQuery } from './middleware/query.ts'
import type { Reply } from './middleware/reply.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
/** A schema that validates requests and is shown in the documentation. */
export type Schema = v.GenericSchema<unknown, unknown>

/** An endpoint. `path` uses Hono's syntax, for example `/api/services/:id`. */
export type Route = {
  readonly method: Method
  readonly path: string
  readonly summary: string
  /** Additional documentation in full sentences. */
  readonly description?: string
  /** Missing if the endpoint does not require a token. */
  readonly auth?: { readonly carrier: TokenHeader; readonly scope: Scope }
  readonly query?: Schema | undefined
  readonly body?: Schema | undefined
  /** Whether the endpoint accepts an Idempotency-Key. */
  readonly takesKey?: boolean
  /** The successful response, and errors that are not implied by the other fields. */
  readonly answers: Answers
  readonly handle: (c: Context, parts: HandlerParts) => Reply | Promise<Reply>
}

/**
 * The responses by status. `body` is null if the response has no JSON body. `text` is the content type of any other
 * body.
 */
export type Answers = Readonly<Record<number, Answer>>
type Answer = {
  readonly description: string
  readonly body: Schema | 'problem' | null
  readonly text?: 'text/markdown' | 'text/html' | 'text/plain' | 'text/event-stream'
}

/**
 * How a request arrived. Over the network, a token identifies the caller. Operators send requests over the server's
 * Unix socket or, when no server is running, from within the program.
 */
export type Access = 'network' | 'socket' | 'program'

/** The values that a handler receives in addition to the request. */
export type HandlerParts = {
  readonly access: Access
  readonly deps: Pick<Deps, 'now' | 'engine'>
  readonly store: Store
  readonly recent: Recent
  readonly server: ServerContext
}

/** An authorized and validated request. `id` comes from the path, or is '' if the path has none. */
export type Call<Query = unknown, Body = unknown> = Pick<HandlerParts, 'deps' | 'store' | 'server'> & {
  readonly c: Context
  readonly identity: Identity
  readonly own: Own
  readonly id: string
  readonly query: Query
  readonly body: Body
}

/** A method and a path, for example `GET /api/services/:id`. */
type Target = `${Method} /${string}`

type RestSpec<Query, Body> = Pick<Route, 'summary' | 'description' | 'answers'> & {
  readonly scope: Scope
  readonly query?: v.GenericSchema<unknown, Query>
  readonly body?: v.GenericSchema<unknown, Body>
  /**
   * Whether a request with an Idempotency-Key takes effect only once. Must not be set if the response contains a
   * secret, because the response is stored.
   */
  readonly takesKey?: boolean
  readonly handle: (call: Call<Query, Body>) => Reply | Promise<Reply>
}

/** Defines a REST endpoint that checks the token, the query and the body before it calls `handle`. */
export function rest<Query, Body>(target: Target, spec: RestSpec<Query, Body>): Route {
  const { query, body, scope, handle, takesKey = false, answers, ...documentation } = spec
  const { method, path } = parseTarget(target)
  const auth = { carrier: 'bearer', scope } as const
  return {
    ...documentation,
    ...{ method, path, auth, query, body, takesKey },
    answers: takesKey ? withKeyRefusals(answers) : answers,
    handle: async (c, { access, deps, store, server }) => {
      const identity = await requireScope(c, { access, store }, auth.carrier, auth.scope)
      if (method !== 'GET') refuseUnknownDryRun(query, c.req.query())
      const key = takesKey ? idempotencyKeyOf(c) : null
      const call: Call<Query, Body> = {
        c,
        deps,
        store,
        server,
        identity,
        own: ownOf({ deps, store }, identity.organizationId, identity.tokenName),
        id: c.req.param('id') ?? '',
        // Without a schema, the type is unknown, so `handle` cannot access any value.
        query: query ? readRestQuery(c, query) : (undefined as Query),
        body: body ? await readBody(c, body, server.pendingBodies, identity.organizationId) : (undefined as Body),
      }
      return key === null || isDryRun(call.query) ? handle(call) : answerOnce(call, key, handle)
    },
  }
}

/** Splits a method and a path, for example `GET /api/services/:id`. */
export function parseTarget<Allowed extends Method>(
  target: `${Allowed} ${string}`,
): {
  readonly method: Allowed
  readonly path: string
} {
  const [method, path = ''] = target.split(' ')
  return { method: method as Allowed, path }
}

function readRestQuery<Query>(c: Context, schema: v.GenericSchema<unknown, Query>): Query {
  refuseMisspelled('query', schema, c.req.query())
  return readQuery(c, schema)
}

function isDryRun(query: unknown): boolean {
  return typeof query === 'object' && query !== null && 'dryRun' in query && query.dryRun === true
}

/**
 * Returns the stored response if this key was used for the same request within the last 24 hours. Otherwise, handles
 * the request.
 */
function answerOnce<Query, Body>(
  call: Call<Query, Body>,
  key: string,
  handle: RestSpec<Query, Body>['handle'],
): Promise<Reply> {
  const { c, store, identity, query, body } = call
  const keyed = {
    organizationId: identity.organizationId,
    route: `${c.req.method} ${c.req.path}`,
    key,
    bodyHash: hashBody(JSON.stringify([query, body])),
  }
  return store.run(runOnce<Reply>, keyed, () => handle(call))
}

function withKeyRefusals(answers: Answers): Answers {
  const refusal = (known: Answer | undefined, why: string): Answer => {
    return { description: known ? `${known.description}. ${why}` : why, body: 'problem' }
  }
  return {
    ...answers,
    409: refusal(answers[409], 'A request with this Idempotency-Key did not finish'),
    422: refusal(answers[422], 'This Idempotency-Key was used with a different body in the last 24 hours'),
  }
}

/** A validated operator request. `id` comes from the path, or is '' if the path has none. */
type OperatorCall<Body> = HandlerParts & { readonly c: Context; readonly id: string; readonly body: Body }

/** Defines an operator endpoint, which exists only on the Unix socket and within the program. */
export function operator<Body>(
  target: Target,
  spec: {
    readonly body?: v.GenericSchema<unknown, Body>
    readonly handle: (call: OperatorCall<Body>) => Reply | Promise<Reply>
  },
): Pick<Route, 'method' | 'path' | 'handle'> {
  const { body, handle } = spec
  return {
    ...parseTarget(target),
    handle: async (c, parts) => {
      refuseProxied(c)
      const read = body ? await readBody(c, body, parts.server.pendingBodies) : (undefined as Body)
      return handle({ ...parts, c, id: c.req.param('id') ?? '', body: read })
    },
  }
}
