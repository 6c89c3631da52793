/** Error pages, and the redirect to the sign-in page. */
import { parseAccept } from 'hono/utils/accept'
import { IncmonError } from '../../domain/error.ts'
import { headerOf } from '../../http/middleware/header.ts'
import { problemOf } from '../../http/middleware/problem.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import type { AnyVisit } from '../page.ts'
import { SendAgainPage, SignInPage } from '../sign-in/page.tsx'
import { sentence } from '../visit/apply.ts'
import { addressOf, redirect, show } from '../visit/reply.ts'
import { ErrorPage } from './page.tsx'

const TITLES: Readonly<Record<number, string>> = {
  400: 'This request is not valid.',
  403: 'You do not have permission for this.',
  404: 'There is no page at this URL.',
  405: 'This URL does not support this method.',
  409: 'This has changed in the meantime.',
  413: 'This request is too large.',
  503: 'incmon cannot do this right now.',
}

const OUR_FAULT = 'This is a bug in incmon. Try again. If it happens again, the log of the server contains the cause'

/** Returns the error as a page, or as JSON if the client prefers it. Internal errors are logged. */
export async function answerError(visit: AnyVisit, error: unknown): Promise<Reply> {
  const refusal = problemOf(error)
  const fault = error instanceof IncmonError ? {} : { error }
  if (prefersJson(headerOf(visit.c, 'accept'))) return { ...refusal, ...fault }
  const number = refusal.status === 401 ? 403 : refusal.status
  const title = TITLES[number] ?? 'Something went wrong in incmon.'
  const detail = refusal.status === 500 ? OUR_FAULT : (refusal.detail ?? '')
  const typed = visit.visitor ? visit.form.fields.filter(isTyped) : []
  const again = number >= 500 && visit.c.req.method === 'GET' ? addressOf(visit.c) : null
  const content = <ErrorPage {...{ title, number, typed, again }} detail={sentence(detail)} />
  try {
    return { ...(await show(visit, { title, content, status: number, banner: null })), detail, ...fault }
  } catch {
    // The layout would need the database, which cannot be read, so the page has no navigation.
    return { ...refusal, error }
  }
}

/** Returns whether a form field was typed by the visitor and can be shown again. */
function isTyped([name, value]: readonly [string, string]): boolean {
  return (
    value.trim() !== '' && !/^(do|revision|back|matchers|seen)$|address|password|secret|target|token|url/.test(name)
  )
}

/** Returns the page for an unknown URL. */
export function answerMissing(visit: AnyVisit): Promise<Reply> {
  return answerError(visit, new IncmonError('not-found', 'Check the URL, or start from the list of services.'))
}

/**
 * Asks a visitor without a session to sign in. Keeps a submitted form so that it can be resubmitted afterwards.
 * `other-session` means that the form belongs to an older session of a visitor who is signed in.
 */
export async function askToSignIn(visit: AnyVisit, why: 'signed-out' | 'other-session'): Promise<Reply> {
  const { c, form, visitor } = visit
  const action = addressOf(c)
  if (prefersJson(headerOf(c, 'accept'))) throw new IncmonError('unauthorized', 'sign in first; GET /sign-in')
  if (c.req.method === 'GET')
    return redirect(visit, action === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(action)}`)
  if (why === 'other-session' && visitor) {
    const content = <SendAgainPage form={{ action, fields: form.fields }} csrf={visitor.csrf} />
    return show(visit, { title: 'Send this again?', content, status: 403 })
  }
  const waiting = new URLSearchParams(form.fields).toString()
  const content = (
    <SignInPage
      {...{ faults: [], person: '', to: action, waiting: waiting === '' ? 'empty=' : waiting }}
      program={visit.server.web.program}
    />
  )
  return show(visit, { title: 'Sign in', content, status: 403 })
}

/** Returns whether an Accept header prefers JSON to HTML. */
export function prefersJson(accept = ''): boolean {
  return (
    weight(accept, /^application\/(json|problem\+json|\*)$|^\*\/\*$/) > weight(accept, /^text\/(html|\*)$|^\*\/\*$/)
  )
}

/** Returns the highest quality value (q) that the header assigns to any of the types, from 0 to 1. */
function weight(accept: string, types: RegExp): number {
  const matching = parseAccept(accept.toLowerCase()).filter(({ type }) => types.test(type))
  return Math.max(0, ...matching.map(({ q }) => q))
}
