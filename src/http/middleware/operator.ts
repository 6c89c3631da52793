/**
 * Identifies operators: callers on the server's Unix socket, or the program itself. Headers alone never make a caller
 * an operator.
 */
import type { Context } from 'hono'
import type { Store } from '../../actions/deps.ts'
import { IncmonError } from '../../domain/error.ts'
import { SCOPES } from '../../domain/request/token.ts'
import { cleanText } from '../../intake/json.ts'
import { OPERATOR_HEADERS } from '../../server/connection/socket.ts'
import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import type { Identity } from '../../store/tokens.ts'
import { headerOf } from './header.ts'

const MAX_ACTOR = 100
const MAX_CLUSTER = 253
/** Headers that indicate a proxy or a browser. A proxy in front of the socket would make every client an operator. */
const OF_PROXIES = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via', 'origin']
const PROXIED =
  'the Unix socket accepts only commands on this machine, but this request came through a proxy or a browser; send it to the port of the server'

/** Throws IncmonError `forbidden` if the request has a header that only proxies or browsers add. */
export function refuseProxied(c: Context): void {
  if (OF_PROXIES.some((name) => headerOf(c, name) !== undefined)) throw new IncmonError('forbidden', PROXIED)
}

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
