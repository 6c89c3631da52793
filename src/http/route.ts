/** Routes: the definition of an endpoint. It is used to serve, document and test the endpoint. */
import type { Context } from 'hono'
import type * as v from 'valibot'
import type { Context as Decision } from '../domain/state/context.ts'
import type { Scope } from '../domain/token.ts'
import type { Recent } from '../intake/recent.ts'
import type { Deps, Store } from '../operations/deps.ts'
import { hashBody, runOnce } from '../operations/idempotency.ts'
import type { Import } from '../operations/imports.ts'
import type { ServerContext } from '../server/context.ts'
import type { Identity } from '../store/tokens.ts'
import { requireScope, type TokenHeader } from './middleware/auth.ts'
import { readBody } from './middleware/body.ts'
import { idempotencyKeyOf } from './middleware/header.ts'
import { refuseMisspelledQuery, refuseUnknownDryRun } from './middleware/misspelling.ts'
import { refuseProxied } from './middleware/operator.ts'
import { readQuery } from './middleware/query.ts'
import type { Reply } from './middleware/reply.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
/** A schema that validates requests and appears in the documentation. */
export type Schema = v.GenericSchema<unknown, unknown>

/** An endpoint. `path` has Hono's format, for example `/api/services/:id`. */
export type Route = {
  readonly method: Method
  readonly path: string
  readonly summary: string
  /** More about the endpoint, in full sentences. */
  readonly description?: string
  /** Null if the endpoint needs no token. */
  readonly auth: { readonly carrier: TokenHeader; readonly scope: Scope } | null
  readonly query: Schema | null
  readonly body: Schema | null
  /** Whether it supports an Idempotency-Key. */
  readonly takesKey?: boolean
  readonly answers: Answers
  readonly handle: (c: Context, parts: HandlerParts) => Reply | Promise<Reply>
}

/** The responses by status. `body` is null if there is no JSON body. `text` is the content type of another body. */
export type Answers = Readonly<Record<number, Answer>>
export type Answer = {
  readonly description: string
  readonly body: Schema | 'problem' | null
  readonly text?: 'text/markdown' | 'text/html' | 'text/plain'
}

/**
 * How a request arrived: over the network, where a token identifies the caller; over the Unix socket of a server; or
 * from the program itself while no server runs on the database. The caller is an operator in the last two cases.
 */
export type Access = 'network' | 'socket' | 'program'

/** The input of a handler besides the request. */
export type HandlerParts = {
  readonly access: Access
  readonly deps: Pick<Deps, 'now' | 'engine'>
  readonly store: Store
  /** Returns the only import of this process. Creates it on first use. */
  readonly importing: () => Import
  readonly recent: Recent
  readonly server: ServerContext
}

/** One authorized and validated request. `id` comes from the path and is '' if the path has no id. */
export type Call<Query, Body> = {
  readonly c: Context
  readonly deps: HandlerParts['deps']
  readonly store: Store
  readonly server: ServerContext
  readonly identity: Identity
  readonly id: string
  readonly query: Query
  readonly body: Body
}

/**
 * Runs a decision in the name of the caller, and resolves with its outcome once the changes are on disk. Rejects with
 * the error that `decide` throws.
 */
export function change<Outcome>(
  { deps, identity }: Pick<Call<unknown, unknown>, 'deps' | 'identity'>,
  decide: (ctx: Decision, now: number, actor: string) => Outcome,
): Promise<Outcome> {
  return deps.engine.run(identity.organizationId, (ctx, now) => decide(ctx, now, identity.tokenName))
}

type RestSpec<Query, Body> = {
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly scope: Scope
  readonly query?: v.GenericSchema<unknown, Query>
  readonly body?: v.GenericSchema<unknown, Body>
  /**
   * Whether a request with an Idempotency-Key takes effect only once. Never set for a response with a secret, because
   * the response is stored.
   */
  readonly takesKey?: boolean
  /** The success response, and errors that do not follow from the other fields. */
  readonly answers: Answers
  readonly handle: (call: Call<Query, Body>) => Reply | Promise<Reply>
}

/** Defines a REST endpoint. It checks the token, the query and the body, then calls `handle`. */
export function rest<Query, Body>(spec: RestSpec<Query, Body>): Route {
  const { query, body, handle, method, path, summary, description, answers } = spec
  const auth = { carrier: 'bearer', scope: spec.scope } as const
  return {
    method,
    path,
    summary,
    ...(description === undefined ? {} : { description }),
    auth,
    query: query ?? null,
    body: body ?? null,
    takesKey: spec.takesKey ?? false,
    answers: spec.takesKey ? withKeyRefusals(answers) : answers,
    handle: async (c, { access, deps, store, server }) => {
      const identity = await requireScope(c, { access, store }, auth.carrier, auth.scope)
      if (method !== 'GET') refuseUnknownDryRun(query, c.req.query())
      const call: Call<Query, Body> = {
        c,
        deps,
        store,
        server,
        identity,
        id: c.req.param('id') ?? '',
        // Without a schema the type is unknown, so `handle` cannot read any value.
        query: query ? readRestQuery(c, query) : (undefined as Query),
        body: body ? await readBody(c, body, server.pendingBodies) : (undefined as Body),
      }
      const key = spec.takesKey ? idempotencyKeyOf(c) : null
      return key === null || isDryRun(call.query) ? handle(call) : answerOnce(call, key, handle)
    },
  }
}

function readRestQuery<Query>(c: Context, schema: v.GenericSchema<unknown, Query>): Query {
  refuseMisspelledQuery(schema, c.req.query())
  return readQuery(c, schema)
}

function isDryRun(query: unknown): boolean {
  return typeof query === 'object' && query !== null && 'dryRun' in query && query.dryRun === true
}

/**
 * Returns the stored response if the same request with this key was answered in the last 24 hours. Otherwise handles
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
  const refusal = (status: 409 | 422): Answer => {
    const known = answers[status]
    const why =
      status === 409
        ? 'A request with the same Idempotency-Key did not finish'
        : 'The Idempotency-Key came with another body in the last 24 hours'
    return { description: known ? `${known.description}. ${why}` : why, body: 'problem' }
  }
  return { ...answers, 409: refusal(409), 422: refusal(422) }
}

/** One validated request of an operator. `id` comes from the path and is '' if the path has no id. */
export type OperatorCall<Body> = HandlerParts & { readonly c: Context; readonly id: string; readonly body: Body }

/** Defines an endpoint for operators. It exists over the Unix socket and inside the program, never over the network. */
export function operator<Body>(spec: {
  readonly method: Method
  readonly path: string
  readonly body?: v.GenericSchema<unknown, Body>
  /** The maximum size of the body in bytes. Default: the limit of REST requests. */
  readonly limit?: number
  readonly handle: (call: OperatorCall<Body>) => Reply | Promise<Reply>
}): Pick<Route, 'method' | 'path' | 'handle'> {
  const { method, path, body, limit, handle } = spec
  return {
    method,
    path,
    handle: async (c, parts) => {
      refuseProxied(c)
      const read = body ? await readBody(c, body, parts.server.pendingBodies, limit) : (undefined as Body)
      return handle({ ...parts, c, id: c.req.param('id') ?? '', body: read })
    },
  }
}
