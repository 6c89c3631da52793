/** Defines web pages. A page authenticates the visitor before it reads anything else. */
import type { Context } from 'hono'
import { type Own, ownOf } from '../actions/deps.ts'
import type { Visitor } from '../actions/sessions.ts'
import { BUDGETS } from '../domain/budgets.ts'
import { IncmonError } from '../domain/error.ts'
import type { Scope } from '../domain/request/token.ts'
import type { Reader } from '../domain/shown-time.ts'
import { REST_LIMIT } from '../http/middleware/body.ts'
import type { Reply } from '../http/middleware/reply.ts'
import { type HandlerParts, parseTarget } from '../http/route.ts'
import { answerError, askToSignIn } from './errors/routes.tsx'
import { type Form, NO_FORM, readForm, refuseOtherSites } from './visit/form.ts'
import { isRefresh, refresh } from './visit/refresh.ts'
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
}

/** A request for a page by a visitor who may not be signed in. */
export type AnyVisit = Visit<Visitor | null>

/** A method and a path, for example `GET /incidents/:id`. */
type Target = `${PageRoute['method']} ${string}`
type Handle<Who extends Visitor | null> = (visit: Visit<Who>) => Reply | Promise<Reply>

/**
 * Defines a page for visitors with a scope. Visitors without a session are asked to sign in. A `shared` page is the same
 * for all visitors with the same scopes, except for CSRF tokens.
 */
export function page(target: Target, scope: Scope, handle: Handle<Visitor>, { shared = false } = {}): PageRoute {
  return openPage(target, async (visit) => {
    const { visitor, c, form } = visit
    if (!visitor) return askToSignIn(visit, 'signed-out')
    if (!visitor.scopes.includes(scope)) throw new IncmonError('forbidden', refusalOf(scope))
    // The form's CSRF token belongs to another session.
    if (c.req.method === 'POST' && form.csrf !== visitor.csrf) return askToSignIn(visit, 'other-session')
    const signedIn = { ...visit, visitor, own: ownOf(visit, visitor.organizationId, visitor.actor) }
    return shared && isRefresh(signedIn) ? refresh(signedIn, async (one) => handle(one)) : handle(signedIn)
  })
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
