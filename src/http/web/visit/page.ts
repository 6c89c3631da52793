/** Defines web pages. A page authenticates the visitor before it reads anything else. */
import type { Context } from 'hono'
import { IncmonError } from '../../../domain/error.ts'
import type { Reader } from '../../../domain/shown-time.ts'
import type { Scope } from '../../../domain/token.ts'
import type { Visitor } from '../../../operations/sessions.ts'
import type { Reply } from '../../middleware/reply.ts'
import type { HandlerParts } from '../../route.ts'
import { answerError, askToSignIn } from '../errors.tsx'
import { type Form, NO_FORM, readForm, refuseOtherSites } from './form.ts'
import { isRefresh, refresh } from './refresh.ts'
import { viewerOf, visitorOf } from './visitor.ts'

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
  /** The current Unix time in milliseconds. */
  readonly now: number
  /** When the handler was called, as measured by the server's `elapsed` clock. */
  readonly beganAt: number
  /** Called with the time that rendering took in the main thread, in milliseconds. */
  readonly onRendered?: (ms: number) => void
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

type Spec<Who extends Visitor | null> = {
  readonly method: PageRoute['method']
  readonly path: string
  readonly handle: (visit: Visit<Who>) => Reply | Promise<Reply>
}

/**
 * Defines a page for visitors with a scope. Visitors without a session are asked to sign in. A `shared` page is the same
 * for all visitors with the same scopes, except for CSRF tokens.
 */
export function page(spec: Spec<Visitor> & { readonly scope: Scope; readonly shared?: boolean }): PageRoute {
  return route(spec, async (visit) => {
    const { visitor } = visit
    if (!visitor) return askToSignIn(visit, 'signed-out')
    if (!visitor.scopes.includes(spec.scope)) throw new IncmonError('forbidden', refusalOf(spec.scope))
    // The form's CSRF token belongs to another session.
    if (spec.method === 'POST' && visit.form.csrf !== visitor.csrf) return askToSignIn(visit, 'other-session')
    const own = { ...visit, visitor }
    const handle = async (one: Visit) => spec.handle(one)
    return spec.shared && isRefresh(own) ? refresh(own, handle) : handle(own)
  })
}

/** Defines a public page. */
export function openPage(spec: Spec<Visitor | null>): PageRoute {
  return route(spec, async (visit) => spec.handle(visit))
}

function route(
  { method, path }: { method: PageRoute['method']; path: string },
  answer: (visit: AnyVisit) => Promise<Reply>,
): PageRoute {
  return {
    method,
    path,
    handle: async (c, parts) => {
      const beganAt = parts.server.elapsed()
      const visitor = await visitorOf(c, parts)
      const now = parts.deps.now()
      const viewer = viewerOf(c, visitor, now)
      let form = NO_FORM
      const visit = { ...parts, c, now, beganAt, viewer, id: c.req.param('id') ?? '', query: queryOf(c) }
      try {
        if (method === 'POST') refuseOtherSites(c, parts)
        if (method === 'POST') form = await readForm(c, parts)
        return await answer({ ...visit, visitor, form })
      } catch (error) {
        return answerError({ ...visit, visitor, form }, error)
      }
    },
  }
}

function queryOf(c: Context): (name: string) => string {
  const all = c.req.query()
  return (name) => (all[name] ?? '').trim()
}

function refusalOf(scope: Scope): string {
  if (scope === 'admin') return 'Only administrators can see this page. Sign in with a token that has the admin scope.'
  return `Your token does not have the ${scope} scope. Sign in with a token that has it.`
}
