/**
 * Authentication: checks the token in the header before reading anything else from the request. Operators need no
 * token: they are callers on the server's Unix socket, or the program itself. Headers alone never make a caller one.
 */
import type { Context } from 'hono'
import type { Store } from '../../actions/deps.ts'
import { authenticate, endOfToken } from '../../actions/tokens.ts'
import { IncmonError } from '../../domain/error.ts'
import { formatInstant } from '../../domain/instant.ts'
import { SCOPES, type Scope } from '../../domain/request/token.ts'
import { cleanText } from '../../intake/json.ts'
import { OPERATOR_HEADERS } from '../../server/connection/socket.ts'
import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import type { Identity } from '../../store/tokens.ts'
import type { HandlerParts } from '../route.ts'
import { headerOf } from './header.ts'

/**
 * The header that carries the token. `bearer`: an `Authorization` header with `Bearer`. `ci`: an `X-Ci-Token` header
 * or, from GitLab, an `X-Gitlab-Token` header.
 */
export type TokenHeader = 'bearer' | 'ci'
/** `basic`: like `bearer`, but basic authentication with the token as the password is also accepted. */
type Carrier = TokenHeader | 'basic'

const BEARER = /^Bearer +([\w.~+/-]+=*)$/i
const BASIC = /^Basic +([\w+/-]+=*)$/i
const BARE = /^[\w.~+/-]+=*$/

const HEADERS: Readonly<Record<Carrier, string>> = {
  bearer: 'send an Authorization: Bearer <API_TOKEN> header',
  ci: 'send only the token, without Bearer, in the X-Ci-Token or X-Gitlab-Token header',
  basic: 'send an Authorization: Bearer <API_TOKEN> header, or basic authentication with the token as the password',
}

/** The error messages. Every secret that was never a token gets the `unknown` message. */
export const REFUSALS = {
  missing: (carrier: Carrier) => `no token; ${HEADERS[carrier]} (create a token with incmon token create)`,
  misplaced: (carrier: Carrier) =>
    `found a token in the ${carrier === 'ci' ? 'Authorization' : 'X-Ci-Token or X-Gitlab-Token'} header, which this endpoint does not read; ${HEADERS[carrier]}`,
  malformed: (carrier: Carrier) => `malformed token header; ${HEADERS[carrier]}`,
  unknown: () =>
    "unknown token; check that it is complete and from this server's database (incmon token list shows all tokens)",
}

/** `access` says how the request arrived. Headers cannot change `access`. */
type Door = Pick<HandlerParts, 'store' | 'access'>

/**
 * Returns the caller if the token has the scope. An operator needs no token and has all scopes.
 * @throws IncmonError `unauthorized` unless there is exactly one valid token; `forbidden` if the token does not have
 * the scope
 */
export async function requireScope(
  c: Context,
  { store, access }: Door,
  carrier: Carrier,
  scope: Scope,
): Promise<Identity> {
  if (access !== 'network') return operatorIdentity(c, store)
  const secret = carrier === 'ci' ? bareToken(c) : bearerToken(c, carrier)
  if (typeof secret !== 'string') throw new IncmonError('unauthorized', REFUSALS[secret.unusable](carrier))
  const identity = await store.run(authenticate, secret)
  if (!identity) throw new IncmonError('unauthorized', (await whyNot(store, secret)) ?? REFUSALS.unknown())
  if (!identity.scopes.includes(scope)) {
    throw new IncmonError('forbidden', `this token does not have the ${scope} scope; use a token with this scope`)
  }
  return identity
}

const PROXIED =
  'the Unix socket accepts only commands on this machine, but this request came through a proxy or a browser; send it to the port of the server'
/** Headers that indicate a proxy or a browser. A proxy in front of the socket would make every client an operator. */
const OF_PROXIES = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via', 'origin']

const MAX_ACTOR = 100
const MAX_CLUSTER = 253

/**
 * Returns the identity of an operator, with all scopes in the organization named in the header.
 * @throws IncmonError `forbidden` if the request came through a proxy; `invalid` if the organization does not exist, or
 * if several organizations exist and the request names none
 */
export async function operatorIdentity(c: Context, store: Store): Promise<Identity> {
  refuseProxied(c)
  const { rowId, plan } = await organizationOf(store, textOf(c, OPERATOR_HEADERS.organization))
  const cluster = cleanText(textOf(c, OPERATOR_HEADERS.cluster) ?? '')
    .trim()
    .slice(0, MAX_CLUSTER)
  const dates = { expiresAt: null, revokedAt: null, lastUsedAt: null }
  return { tokenId: 0, tokenName: actorOf(c), organizationId: rowId, plan, scopes: SCOPES, cluster, ...dates }
}

/** Throws IncmonError `forbidden` if the request has a header that only proxies or browsers add. */
export function refuseProxied(c: Context): void {
  if (OF_PROXIES.some((name) => headerOf(c, name) !== undefined)) throw new IncmonError('forbidden', PROXIED)
}

/** Returns the login name of the person who runs the command, for display in timelines. */
function actorOf(c: Context): string {
  const actor = (textOf(c, OPERATOR_HEADERS.actor) ?? '').replace(/[\p{Cc}\p{Cf}]/gu, '').trim()
  return actor.slice(0, MAX_ACTOR) || 'operator'
}

/** Returns the organization with this name or id. If `named` is missing, returns the only organization. */
async function organizationOf(store: Store, named: string | undefined): Promise<OrganizationRecord> {
  const all = await store.read(listOrganizations)
  const names = all.map(({ name }) => name).join(', ')
  const [only, second] = all
  if (!only) throw new IncmonError('invalid', 'there are no organizations: create one with "incmon org create NAME"')
  if (named === undefined && second) {
    throw new IncmonError('invalid', `set the X-Incmon-Organization header to one of ${names}`)
  }
  const found = named === undefined ? only : all.find(({ name, id }) => name === named || id === named)
  if (!found) throw new IncmonError('invalid', `there is no organization named ${named}: choose one of ${names}`)
  return found
}

/** Decodes a header value as UTF-8. Node decodes headers as latin1. */
function textOf(c: Context, name: string): string | undefined {
  const value = headerOf(c, name)
  return value === undefined ? undefined : Buffer.from(value, 'latin1').toString('utf8')
}

/**
 * Like `requireScope` for `ingest`, but throws `unauthorized` instead of `forbidden` if the token does not have the
 * scope, because senders do not handle 403.
 */
export async function requireSender(c: Context, door: Door, carrier: TokenHeader): Promise<Identity> {
  try {
    return await requireScope(c, door, carrier, 'ingest')
  } catch (error) {
    if (!(error instanceof IncmonError) || error.code !== 'forbidden') throw error
    throw new IncmonError('unauthorized', error.message)
  }
}

/** The secret from a header, or the reason why there is no secret. */
type Sent = string | { readonly unusable: 'missing' | 'misplaced' | 'malformed' }

/** Node joins repeated headers with a comma. Tokens never contain commas, so a request with two tokens is rejected. */
function bearerToken(c: Context, carrier: Carrier): Sent {
  const header = headerOf(c, 'authorization') ?? ''
  const basic = carrier === 'basic' ? BASIC.exec(header)?.[1] : undefined
  if (basic !== undefined) return passwordIn(basic)
  if (header !== '') return BEARER.exec(header)?.[1] ?? { unusable: 'malformed' }
  return { unusable: headerOf(c, 'x-ci-token') || headerOf(c, 'x-gitlab-token') ? 'misplaced' : 'missing' }
}

/** Returns the password. The user name is ignored, because clients require one. */
function passwordIn(basic: string): Sent {
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(basic, 'base64').toString('utf8')) ?? []
  return BARE.test(password) ? password : { unusable: 'malformed' }
}

function bareToken(c: Context): Sent {
  const own = headerOf(c, 'x-ci-token')
  const gitlab = headerOf(c, 'x-gitlab-token')
  const token = own ?? gitlab ?? ''
  if (token === '') return { unusable: headerOf(c, 'authorization') ? 'misplaced' : 'missing' }
  const isUsable = BARE.test(token) && (own === undefined || gitlab === undefined || own === gitlab)
  return isUsable ? token : { unusable: 'malformed' }
}

/** Returns why a token is no longer valid, or null if the secret was never a valid token. */
async function whyNot(store: Store, secret: string): Promise<string | null> {
  const end = await store.run(endOfToken, secret)
  if (end === null) return null
  const what = end.why === 'expired' ? 'this token expired on' : 'this token was revoked on'
  return `${what} ${formatInstant(end.at)}; create a new token with incmon token create`
}
