/** Defines web pages. A page authenticates the visitor before it reads anything else. */
import type { Context } from 'hono'
import { type Own, ownOf } from '../actions/deps.ts'
import type { Visitor } from '../actions/sessions.ts'
import { BUDGETS } from '../domain/budgets.ts'
import { IncmonError } from '../domain/error.ts'
import type { Scope } from '../domain/request/token.ts'
import type { Reader } from '../domain/shown-time.ts'
import { REST_LIMIT } from '../http/middleware/body.ts'
import { headerOf } from '../http/middleware/header.ts'
import type { Reply } from '../http/middleware/reply.ts'
import { type HandlerParts, parseTarget } from '../http/route.ts'
import { gzipInTwo } from '../server/web.ts'
import { findOrganization } from '../store/organizations.ts'
import { answerError, askToSignIn, prefersJson } from './errors/routes.tsx'
import { type Form, NO_FORM, readForm, refuseOtherSites } from './visit/form.ts'
import { isRefresh, refresh } from './visit/refresh.ts'
import { startOf } from './visit/reply.ts'
import { viewerOf, visitorOf } from './visit/visitor.ts'

/** The route of a page. `path` uses Hono's syntax. */
export type PageRoute = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly handle: (c: Context, parts: HandlerParts) => Promise<Reply>
}

/** A request for a page. `Who` can be null on public pages. */
export type Visit<Who extends Visitor | null = Visitor> = HandlerParts & {
  readonly c: Context
  readonly visitor: Who
  /** What belongs to the visitor's organization; null without a visitor. */
  readonly own: Who extends Visitor ? Own : null
  /** The current Unix time in milliseconds. */
  readonly now: number
  /** The current time, and this visitor's time zone. */
  readonly viewer: Reader
  /** The `:id` parameter in the path, or ''. */
  readonly id: string
  /** Returns the first value of a query parameter, or ''. */
  readonly query: (name: string) => string
  readonly form: Form
  /** Whether the beginning of the page was sent, so that the page is not compressed again. */
  readonly hasStarted?: boolean
}

/** A request for a page by a visitor who may not be signed in. */
export type AnyVisit = Visit<Visitor | null>

/** A method and a path, for example `GET /incidents/:id`. */
type Target = `${PageRoute['method']} ${string}`
type Handle<Who extends Visitor | null> = (visit: Visit<Who>) => Reply | Promise<Reply>

type Options = {
  /** Whether the page is the same for all visitors with the same scopes, except for CSRF tokens. */
  readonly shared?: boolean
  /**
   * Whether the beginning of the page is sent before the page is read, so that the browser loads the style sheet
   * meanwhile. If the page might not exist, a function that rejects then.
   */
  readonly early?: true | ((visit: Visit) => Promise<unknown>)
}

/** Defines a page for visitors with a scope. Visitors without a session are asked to sign in. */
export function page(target: Target, scope: Scope, handle: Handle<Visitor>, options: Options = {}): PageRoute {
  const { shared = false, early } = options
  return openPage(target, async (visit) => {
    const { visitor, c, form } = visit
    if (!visitor) return askToSignIn(visit, 'signed-out')
    if (!visitor.scopes.includes(scope)) throw new IncmonError('forbidden', refusalOf(scope))
    // The form's CSRF token belongs to another session.
    if (c.req.method === 'POST' && form.csrf !== visitor.csrf) return askToSignIn(visit, 'other-session')
    const signedIn = { ...visit, visitor, own: ownOf(visit, visitor.organizationId, visitor.actor) }
    if (shared && isRefresh(signedIn)) return refresh(signedIn, async (one) => handle(one))
    const start = early && !isRefresh(signedIn) && !prefersJson(headerOf(c, 'accept')) ? startOf(signedIn) : null
    if (!early || !start) return handle(signedIn)
    await (early === true ? signedIn.own.read(findOrganization) : early(signedIn))
    return startEarly(signedIn, start, handle)
  })
}

/** Sends the beginning of a page, then the rest. A rest that is no page cuts the connection. */
function startEarly(signedIn: Visit, start: NonNullable<ReturnType<typeof startOf>>, handle: Handle<Visitor>): Reply {
  const visit = { ...signedIn, hasStarted: true }
  const rest = (async () => handle(visit))().catch((error: unknown) => answerError(visit, error))
  const text = rest.then(({ body }) => {
    if (typeof body === 'string' && body.startsWith(start.text)) return body.slice(start.text.length)
    throw new Error('the rest of the page cannot be shown')
  })
  return { status: 200, headers: start.headers, body: gzipInTwo(start.text, text), rest }
}

/** Defines a public page. */
export function openPage(target: Target, answer: Handle<Visitor | null>): PageRoute {
  const { method, path } = parseTarget(target)
  return {
    method,
    path,
    handle: async (c, parts) => {
      const visitor = await visitorOf(c, parts)
      const now = parts.deps.now()
      const viewer = viewerOf(c, visitor, now)
      let form = NO_FORM
      const visit = { ...parts, c, now, viewer, own: null, id: c.req.param('id') ?? '', query: queryOf(c) }
      try {
        if (method === 'POST') refuseOtherSites(c, parts)
        if (method === 'POST') form = await readForm(c, parts, visitor ? REST_LIMIT : ANYBODY_LIMIT)
        return await answer({ ...visit, visitor, form })
      } catch (error) {
        return answerError({ ...visit, visitor, form }, error)
      }
    },
  }
}

/** The maximum size in bytes of a form from somebody who is not signed in. */
const ANYBODY_LIMIT = BUDGETS['anonymous-form'].value

function queryOf(c: Context): (name: string) => string {
  const all = c.req.query()
  return (name) => (all[name] ?? '').trim()
}

function refusalOf(scope: Scope): string {
  if (scope === 'admin') return 'Only administrators can see this page. Sign in with a token that has the admin scope.'
  return `Your token does not have the ${scope} scope. Sign in with a token that has it.`
}
