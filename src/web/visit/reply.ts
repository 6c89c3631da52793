/** Page responses: HTML with a Content-Security-Policy, and redirects after an action. */
import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import { headerOf } from '../../http/middleware/header.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { findFrame } from '../../store/views.ts'
import type { Banner, Frame, Section, Theme } from '../kit/frame.ts'
import { pageStart, renderPage, withPrefix } from '../kit/layout.tsx'
import type { AnyVisit } from '../page.ts'
import { choiceOf } from './choice.ts'
import { cookieOf, prefixOf, sessionSecrets } from './visitor.ts'

/** The Content-Security-Policy: nothing from other sites, no inline styles or scripts, no frames. */
const POLICY = [
  "default-src 'none'",
  ...["style-src 'self'", "script-src 'self'", "img-src 'self'", "connect-src 'self'", "manifest-src 'self'"],
  ...["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
].join('; ')

const HEADERS: Reply['headers'] = {
  'content-type': 'text/html; charset=UTF-8',
  'content-security-policy': POLICY,
  // Browsers send the referrer only to this server's own pages.
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  vary: 'accept-encoding, cookie',
}

export type Shown = {
  readonly title: string
  readonly content: Child
  readonly current?: Section | null
  readonly status?: number
  readonly banner?: Banner | null
  /** Whether the content is shown only once, for example a secret. The script must not refresh such a page. */
  readonly still?: boolean
  /** Whether the page has no navigation, for a screen that nobody operates. */
  readonly bare?: boolean
  /** Whether browsers without JavaScript reload the page regularly. */
  readonly refreshes?: boolean
  readonly headers?: Reply['headers']
}

/** Renders a page in the common layout. */
export async function show(visit: AnyVisit, shown: Shown): Promise<Reply> {
  const { title, content, current = null, status = 200, refreshes = false, headers = {} } = shown
  const banner = shown.banner ?? bannerFor(visit.query('done'), visit.query('undo'))
  const frame = await frameOf(visit, current, banner)
  const page = await renderPage({
    frame: { ...frame, still: shown.still ?? false, bare: shown.bare ?? false },
    title,
    content,
    refreshes,
  })
  const body = packed(visit, withPrefix(page, prefixOf(visit.c, visit)), { ...HEADERS, ...headers })
  return { status, ...body }
}

/**
 * Returns the beginning of a page, and the headers with which it can be sent before the page is rendered. Returns null
 * if the browser gets the whole page at once.
 */
export function startOf(visit: AnyVisit): { readonly text: string; readonly headers: Reply['headers'] } | null {
  const { c } = visit
  if (c.req.method !== 'GET' || !acceptsGzip(c)) return null
  const text = withPrefix(pageStart(assetsOf(visit)), prefixOf(c, visit))
  return { text, headers: { ...HEADERS, 'content-encoding': 'gzip' } }
}

/** Redirects to another page on this server, which then shows the confirmation selected by `done`. */
export function redirect(visit: AnyVisit, path: string, done?: Done, headers: Reply['headers'] = {}): Reply {
  const [address = '/', fragment] = path.split('#')
  const query = done === undefined ? '' : `${address.includes('?') ? '&' : '?'}done=${done}`
  const location = `${prefixOf(visit.c, visit)}${address}${query}${fragment === undefined ? '' : `#${fragment}`}`
  return { status: 303, headers: { location, ...headers }, body: null }
}

/** Returns the URL of this page with its query, without `done`. */
export function addressOf(c: Context): string {
  const url = new URL(c.req.url)
  for (const name of ['done', 'undo']) url.searchParams.delete(name)
  return url.pathname + url.search
}

async function frameOf(
  visit: AnyVisit,
  current: Section | null,
  banner: Banner | null,
): Promise<Omit<Frame, 'still' | 'bare'>> {
  const { c, own, server, visitor } = visit
  const common = {
    ...{ ...visit.viewer, current, banner, version: server.web.version, ...assetsOf(visit) },
    back: c.req.method === 'GET' ? addressOf(c) : '/',
    keys: cookieOf(c, 'keys') !== 'off',
    canSwitch: sessionSecrets(c, visit).length > 1,
    csrf: visitor?.csrf ?? null,
    canWrite: visitor?.scopes.includes('write') ?? false,
    canAdminister: visitor?.scopes.includes('admin') ?? false,
  }
  if (!visitor || !own)
    return { ...common, organization: null, unresolved: 0, failing: 0, worst: 'unknown', hasEvents: true }
  const { organization, services, openIncidents, failing } = await own.read(findFrame)
  const worst = services.critical > 0 ? 'critical' : services.degraded > 0 ? 'warning' : 'done'
  const known = services.critical + services.degraded + services.healthy > 0
  return {
    ...common,
    organization,
    unresolved: openIncidents,
    failing,
    worst: known ? worst : 'unknown',
    hasEvents: known,
  }
}

function assetsOf({ c, server }: AnyVisit): Pick<Frame, 'theme' | 'style' | 'script'> {
  const { style, script } = server.web.assets()
  return { style, script, theme: choiceOf<Theme>(cookieOf(c, 'theme'), ['light', 'dark'], 'auto') }
}

/** Returns the body, compressed if the browser supports it. */
function packed({ c, server, hasStarted }: AnyVisit, page: string, headers: Reply['headers']): Omit<Reply, 'status'> {
  if (hasStarted || !acceptsGzip(c)) return { headers, body: page }
  return { headers: { ...headers, 'content-encoding': 'gzip' }, body: server.web.gzip(page) }
}

function acceptsGzip(c: Context): boolean {
  return /\bgzip\b/.test(headerOf(c, 'accept-encoding') ?? '')
}

// The confirmation shown after an action, selected by `?done=` in the URL.

const SENTENCES = {
  'signed-in': 'You are signed in.',
  switched: 'This page now shows another organization.',
  'signed-out': 'You are signed out.',
  saved: 'Saved.',
  renamed: 'Your name was changed. It appears with your future actions.',
  'token-revoked': 'The token was revoked. It no longer works.',
  'session-ended': 'The session has ended.',
  'test-sent':
    'The test event was received. It is marked as a test and opens no alert. To open a test alert, run incmon send-test.',
  'example-loaded': 'The example was loaded. It shows a bad deploy and what followed.',
  'example-removed': 'The example and all its data were removed.',
  'channel-created': 'The channel was created. Send a test to see whether its messages arrive.',
  'channel-removed': 'The channel was removed.',
  silenced: 'The silence was created.',
  'silence-ended': 'The silence has ended.',
  acknowledged: 'Acknowledged.',
  unacknowledged: 'The acknowledgement was taken back.',
  'status-changed': 'The status was changed.',
  resolved: 'The incident is resolved.',
  'resolved-early': 'The incident is resolved, but some of its alerts are still firing.',
  reopened: 'The incident is open again.',
  declared: 'The incident is open.',
  merged: 'The incidents were merged.',
  noted: 'The note was added.',
  judged: 'Your verdict was saved.',
  'alert-ended': 'The alert has ended.',
} as const

export type Done = keyof typeof SENTENCES

/**
 * Returns the banner for a value of `?done=`, or null if the value is unknown. `undo`: the numbers of the incidents
 * whose acknowledgement the banner offers to take back.
 */
export function bannerFor(word: string, undo = ''): Banner | null {
  if (!Object.hasOwn(SENTENCES, word)) return null
  const level = word === 'resolved-early' ? 'warning' : 'done'
  return { text: SENTENCES[word as Done], level, undo: /^\d+(,\d+)*$/.test(undo) ? undo : null }
}
