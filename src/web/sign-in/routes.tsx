/** /sign-in, /setup, /sign-out, /organizations and /theme: signs visitors in and out, and sets the theme. */
import type { Context } from 'hono'
import {
  csrfOf,
  endSession,
  findOwnSessions,
  isSetupLink,
  type NewSession,
  signIn,
  signInWithSetupLink,
} from '../../actions/sessions.ts'
import { IncmonError } from '../../domain/error.ts'
import { agentName, LONG_SESSION, safePath } from '../../domain/request/session.ts'
import { headerOf } from '../../http/middleware/header.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { findOrganization } from '../../store/organizations.ts'
import { type AnyVisit, openPage, type PageRoute, page, type Visit } from '../page.ts'
import { choiceOf } from '../visit/choice.ts'
import { formOf } from '../visit/form.ts'
import { redirect, show } from '../visit/reply.ts'
import { choiceCookie, sessionCookie, sessionSecrets } from '../visit/visitor.ts'
import { OrganizationsPage, SendAgainPage, SetupPage, SignInPage, SpentLinkPage } from './page.tsx'

const COOKIES_OFF = 'Your browser did not send the cookie back. Allow cookies for this address, then sign in again.'

export const signInRoutes: readonly PageRoute[] = [
  openPage('GET /sign-in', (visit) => {
    const to = safePath(visit.query('to') || '/')
    // If there is still no session right after signing in, the browser rejects cookies.
    if (visit.visitor === null && visit.query('done') === 'signed-in')
      return askToken(visit, { to, fault: COOKIES_OFF })
    return askToken(visit, { to })
  }),
  openPage('POST /sign-in', async (visit) => {
    const { store, form, c } = visit
    const to = safePath(form.text('to') || '/')
    try {
      return await enter(visit, await store.run(signIn, form.text('token'), wantedOf(c, visit)), to)
    } catch (error) {
      if (!(error instanceof IncmonError) || !['unauthorized', 'forbidden'].includes(error.code)) throw error
      return askToken(visit, { to, fault: error.message, waiting: form.text('waiting'), person: form.text('person') })
    }
  }),
  openPage('GET /setup', async (visit) => {
    const secret = visit.query('key')
    if (!(await visit.store.run(isSetupLink, secret))) return showSpentLink(visit)
    return show(visit, { title: 'Set up', content: <SetupPage secret={secret} /> })
  }),
  openPage('POST /setup', async (visit) => {
    const { store, form, c } = visit
    try {
      return await enter(visit, await store.run(signInWithSetupLink, form.text('key'), wantedOf(c, visit)), '/')
    } catch (error) {
      if (!(error instanceof IncmonError) || error.code !== 'unauthorized') throw error
      return showSpentLink(visit)
    }
  }),
  page('POST /sign-out', 'read', async (visit) => {
    const { c, store, visitor } = visit
    if (visitor.sessionId !== null) {
      for (const { organizationId, sessionId } of await ownSessions(visit)) {
        if (sessionId !== null) await store.run(endSession, organizationId, sessionId)
      }
    }
    return redirect(visit, '/sign-in', 'signed-out', { 'set-cookie': sessionCookie(c, visit, [], 0) })
  }),
  page('GET /organizations', 'read', showOrganizations),
  page('POST /organizations', 'read', switchOrganization),
  openPage('POST /theme', (visit) => {
    const theme = choiceOf(visit.form.text('theme'), ['auto', 'light', 'dark'], 'auto')
    const cookie = choiceCookie(visit.c, visit, 'theme', theme)
    return redirect(visit, safePath(visit.form.text('back')), undefined, cookie)
  }),
]

function ownSessions(visit: AnyVisit) {
  return visit.store.run(findOwnSessions, sessionSecrets(visit.c, visit))
}

async function showOrganizations(visit: Visit): Promise<Reply> {
  const { store, visitor } = visit
  const current = (await store.read(findOrganization, visitor.organizationId))?.name ?? ''
  const others = (await ownSessions(visit)).filter(({ organizationId }) => organizationId !== visitor.organizationId)
  const content = <OrganizationsPage current={current} others={others} />
  return show(visit, { title: 'Organizations', content, current: 'settings' })
}

async function switchOrganization(visit: Visit): Promise<Reply> {
  const own = await ownSessions(visit)
  const wanted = own.find(({ id }) => id === visit.form.text('organization'))
  if (!wanted) throw new IncmonError('not-found', 'You are not signed in to this organization. Sign in to it first.')
  const secrets = [wanted, ...own.filter((one) => one !== wanted)].map(({ secret }) => secret)
  return redirect(visit, '/', 'switched', {
    'set-cookie': sessionCookie(visit.c, visit, secrets, wanted.stays ? LONG_SESSION / 1000 : null),
  })
}

/** Shows the sign-in form. A wrong token causes a 401, which is logged and counts toward the failed attempts. */
function askToken(
  visit: AnyVisit,
  asked: { to: string; fault?: string; waiting?: string; person?: string },
): Promise<Reply> {
  const { to, fault, waiting = '', person = '' } = asked
  const faults = fault === undefined ? [] : [{ path: 'token', message: fault }]
  const content = <SignInPage {...{ faults, to, waiting, person }} program={visit.server.web.program} />
  const alone = { ...visit, visitor: null }
  return show(alone, {
    title: 'Sign in',
    content,
    status: fault === undefined ? 200 : 401,
    headers: { 'www-authenticate': 'Incmon' },
  })
}

function showSpentLink(visit: AnyVisit): Promise<Reply> {
  const content = <SpentLinkPage program={visit.server.web.program} />
  return show(visit, { title: 'Setup link', content, status: 403 })
}

/** Sets the cookie and redirects to the requested page, or shows the form that was submitted before signing in. */
async function enter(visit: AnyVisit, opened: NewSession, to: string): Promise<Reply> {
  const { c, form } = visit
  const stay = form.text('stay') === '1'
  // A browser has one session for each organization.
  const others = (await ownSessions(visit)).filter(({ organizationId }) => organizationId !== opened.organizationId)
  const secrets = [opened.secret, ...others.map(({ secret }) => secret)]
  const cookie = { 'set-cookie': sessionCookie(c, visit, secrets, stay ? LONG_SESSION / 1000 : null) }
  const waiting = form.text('waiting')
  if (waiting === '') return redirect(visit, to, 'signed-in', cookie)
  const content = <SendAgainPage form={{ action: to, fields: formOf(waiting).fields }} csrf={csrfOf(opened.secret)} />
  return show({ ...visit, visitor: null }, { title: 'Send this again?', content, headers: cookie })
}

function wantedOf(c: Context, { form }: AnyVisit) {
  const agent = agentName(headerOf(c, 'user-agent') ?? '')
  return { person: form.text('person'), agent, stay: form.text('stay') === '1' }
}
