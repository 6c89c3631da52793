/** Identifies the visitor by a session cookie or by an authenticating proxy. */
import type { Context } from 'hono'
import { csrfOf, findVisitor, type Visitor } from '../../actions/sessions.ts'
import { chooseOrganization } from '../../domain/organization.ts'
import { plainAddress } from '../../domain/request/forwarded.ts'
import { personName, safePrefix } from '../../domain/request/session.ts'
import { isShownZone, type Reader } from '../../domain/shown-time.ts'
import { callerOf, headerOf, incomingOf } from '../../http/middleware/header.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import type { HandlerParts } from '../../http/route.ts'
import { listOrganizations } from '../../store/organizations.ts'

const SESSION = 'incmon_session'
/** The maximum number of organizations to which a browser can be signed in. */
const MAX_ORGANIZATIONS = 8
/** The maximum number of cookies with the name of the session that are tried. */
const MAX_COOKIES = 8
const YEAR_SECONDS = 31_536_000
export const ZONE_COOKIE = 'zone'

/**
 * Returns the visitor, or null if nobody is signed in. A user authenticated by a proxy takes precedence over the
 * cookie.
 */
export async function visitorOf(c: Context, parts: HandlerParts): Promise<Visitor | null> {
  const user = await proxyUser(c, parts)
  if (user) return user
  return (await sessionOf(c, parts))?.visitor ?? null
}

/** Returns the visitor's session, or null. Another host of the same domain can add a cookie with the same name. */
export async function sessionOf(c: Context, parts: HandlerParts) {
  for (const cookie of sessionCookies(c, parts)) {
    const [secret = ''] = cookie.split('.', 1)
    const visitor = await parts.store.run(findVisitor, secret)
    if (visitor) return { secret, visitor }
  }
  return null
}

/** Returns the secrets of all sessions of this browser: the visitor's, and those for other organizations. */
export function sessionSecrets(c: Context, parts: HandlerParts): readonly string[] {
  return sessionCookies(c, parts).flatMap((cookie) => cookie.split('.').slice(0, MAX_ORGANIZATIONS))
}

function sessionCookies(c: Context, parts: HandlerParts): readonly string[] {
  return cookiesOf(c, sessionName(c, parts)).slice(0, MAX_COOKIES)
}

/** The cookie name contains the port, because browsers share cookies between all ports of a host. */
function sessionName(c: Context, parts: HandlerParts): string {
  const { port } = new URL(serverAddress(c, parts))
  return port === '' ? SESSION : `${SESSION}_${port}`
}

/** Returns the value of a cookie, or ''. */
export function cookieOf(c: Context, name: string): string {
  return cookiesOf(c, name)[0] ?? ''
}

function cookiesOf(c: Context, name: string): readonly string[] {
  // Node joins several Cookie headers with commas, because `joinDuplicateHeaders` is set.
  const pairs = (headerOf(c, 'cookie') ?? '').split(/[;,]\s*/)
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}

/**
 * Returns the header that stores the sessions in the browser, the visitor's first. Without `maxAgeSeconds`, the cookie
 * expires when the browser closes.
 */
export function sessionCookie(
  c: Context,
  parts: HandlerParts,
  secrets: readonly string[],
  maxAgeSeconds: number | null,
): string {
  const age = maxAgeSeconds === null ? '' : `; Max-Age=${maxAgeSeconds}`
  const value = secrets.slice(0, MAX_ORGANIZATIONS).join('.')
  return `${sessionName(c, parts)}=${value}; ${cookieAttributes(c, parts)}; HttpOnly${age}`
}

/** Returns the header that stores a choice in the browser for a year. '' deletes the stored choice. */
export function choiceCookie(c: Context, parts: HandlerParts, name: string, value: string): Reply['headers'] {
  const age = value === '' ? 0 : YEAR_SECONDS
  return { 'set-cookie': `${name}=${value}; ${cookieAttributes(c, parts)}; Max-Age=${age}` }
}

/** Returns `Path=…; SameSite=Lax`, with `Secure` if TLS is used. */
function cookieAttributes(c: Context, parts: HandlerParts): string {
  const path = prefixOf(c, parts) || '/'
  return `Path=${path}; SameSite=Lax${serverAddress(c, parts).startsWith('https:') ? '; Secure' : ''}`
}

/** Returns the path under which a proxy serves this server, from the settings or from a trusted proxy, or ''. */
export function prefixOf(c: Context, { server }: HandlerParts): string {
  const own = server.web.settings().pathPrefix
  if (own !== '') return safePrefix(own)
  return comesFromProxy(c, server) ? safePrefix(headerOf(c, 'x-forwarded-prefix') ?? '') : ''
}

/**
 * Returns the URL at which the visitor reaches this server, with the path prefix:
 * `https://incmon.example.com/monitoring`.
 */
export function serverAddress(c: Context, parts: HandlerParts): string {
  const { origin } = callerOf(c, parts.server)
  return (origin === '' ? new URL(c.req.url).origin : origin) + prefixOf(c, parts)
}

/**
 * Returns the current time and the visitor's time zone. The time zone is the one chosen in this browser or, by default,
 * the organization's time zone.
 */
export function viewerOf(c: Context, visitor: Visitor | null, now: number): Reader {
  const own = cookieOf(c, ZONE_COOKIE)
  return { now, zone: isShownZone(own) ? own : (visitor?.timeZone ?? 'UTC') }
}

async function proxyUser(c: Context, { store, server }: HandlerParts): Promise<Visitor | null> {
  const { userHeader, userOrganization, userScopes } = server.web.settings()
  if (userHeader === '' || !comesFromProxy(c, server)) return null
  const actor = personName(headerOf(c, userHeader) ?? '')
  if (actor === '') return null
  const all = await store.read(listOrganizations)
  const organization = chooseOrganization(all, userOrganization)
  if (!organization) return null
  const { rowId: organizationId, plan, settings } = organization
  const csrf = csrfOf(`${server.web.csrfKey} ${organizationId} ${actor}`)
  const common = { sessionId: null, organizationId, plan, stays: false }
  return { ...common, timeZone: settings['time-zone'], scopes: userScopes, actor, csrf }
}

function comesFromProxy(c: Context, { isTrusted }: HandlerParts['server']): boolean {
  return isTrusted(plainAddress(incomingOf(c)?.socket.remoteAddress ?? ''))
}
