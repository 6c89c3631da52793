/** Routes: the definition of an endpoint, from which it is served, documented and tested. */
import type { Context } from 'hono'
import type * as v from 'valibot'
import type { Scope } from '../domain/token.ts'
import type { Recent } from '../intake/recent.ts'
import type { Deps } from '../operations/deps.ts'
import type { Ingest } from '../operations/ingest.ts'
import type { Surroundings } from '../server/surroundings.ts'
import type { Identity } from '../store/tokens.ts'
import type { Reader } from '../workers/reader.ts'
import { type Carrier, requireScope } from './middleware/auth.ts'
import { readBody } from './middleware/body.ts'
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
  /** More about the endpoint, in whole sentences. */
  readonly description?: string
  /** Null if the endpoint needs no token. */
  readonly auth: { readonly carrier: Carrier; readonly scope: Scope } | null
  readonly query: Schema | null
  readonly body: Schema | null
  readonly answers: Answers
  readonly handle: (c: Context, parts: Parts) => Reply | Promise<Reply>
}

/** The responses by status. `body` is null if there is no JSON body. `text` is the content type of another body. */
export type Answers = Readonly<Record<number, Answer>>
export type Answer = {
  readonly description: string
  readonly body: Schema | 'problem' | null
  readonly text?: 'text/markdown' | 'text/html' | 'text/plain'
}

/** What a handler receives besides the request. */
export type Parts = {
  readonly deps: Deps
  readonly ingest: Ingest
  readonly reader: Reader
  readonly recent: Recent
  readonly surroundings: Surroundings
}

/** One authorized and validated request. `id` comes from the path and is '' if the path has no id. */
export type Call<Query, Body> = {
  readonly c: Context
  readonly deps: Deps
  /** Runs slow reads in a worker thread. All other reads use `deps.db`. */
  readonly reader: Reader
  readonly surroundings: Surroundings
  readonly identity: Identity
  readonly id: string
  readonly query: Query
  readonly body: Body
}

type RestSpec<Query, Body> = {
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly scope: Scope
  readonly query?: v.GenericSchema<unknown, Query>
  readonly body?: v.GenericSchema<unknown, Body>
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
    answers,
    handle: async (c, { deps, reader, surroundings }) => {
      const identity = requireScope(c, deps, auth.carrier, auth.scope)
      return handle({
        c,
        deps,
        reader,
        surroundings,
        identity,
        id: c.req.param('id') ?? '',
        // Without a schema the type is unknown, so `handle` cannot read any value.
        query: query ? readQuery(c, query) : (undefined as Query),
        body: body ? await readBody(c, body) : (undefined as Body),
      })
    },
  }
}
