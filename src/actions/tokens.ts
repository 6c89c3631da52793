/** Creates, authenticates and revokes tokens. A token is shown only once, and only its hash is stored. */
import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers'
import { BUDGETS } from '../domain/budgets.ts'
import { IncmonError } from '../domain/error.ts'
import { isTokenShaped, type Scope, TOKEN_PREFIX } from '../domain/request/token.ts'
import { listOrganizations } from '../store/organizations.ts'
import {
  countValidTokens,
  findTokenByHash,
  type Identity,
  insertToken,
  listTokens,
  revokeTokenRow,
  touchToken,
} from '../store/tokens.ts'
import type { Deps } from './deps.ts'

/** How precisely the time of last use is stored, in milliseconds. A write for each request would be too slow. */
const USE_EXACT_TO = 60_000
const EVERY = { page: 1, limit: 1_000_000 }

const MAX_TOKENS = BUDGETS.tokens.value

/** Creates a token. @throws IncmonError `conflict` if the organization has too many valid tokens */
export function createToken(
  deps: Deps,
  wanted: {
    readonly organizationId: number
    readonly name: string
    readonly scopes: readonly Scope[]
    readonly cluster?: string | undefined
    readonly expiresAt?: number | null | undefined
  },
): { readonly id: string; readonly token: string } {
  const { organizationId, name, scopes, cluster = '', expiresAt = null } = wanted
  if (countValidTokens(deps.db, organizationId, deps.now()) >= MAX_TOKENS)
    throw new IncmonError('conflict', `there are already ${MAX_TOKENS} valid tokens: revoke those that are not used`)
  const id = deps.newId()
  const token = TOKEN_PREFIX + deps.newSecret()
  const made = { id, organizationId, name, scopes, cluster, createdAt: deps.now(), expiresAt }
  insertToken(deps.db, { ...made, hash: Buffer.from(hashOf(token), 'hex') })
  deps.announce({ kind: 'token', id, organizationId })
  return { id, token }
}

/** Revokes a token with immediate effect. @throws IncmonError `not-found` */
export function revokeToken(deps: Deps, organizationId: number, id: string): void {
  inThisTurn.delete(deps.db)
  if (!revokeTokenRow(deps.db, organizationId, id, deps.now())) throw new IncmonError('not-found', 'no such token')
  deps.announce({ kind: 'token', id, organizationId })
}

/** Returns whether any organization has a valid token. */
export function hasUsableToken({ db, now }: Deps): boolean {
  return listOrganizations(db).some(({ rowId }) =>
    listTokens(db, rowId, EVERY).items.some((token) => endOf(token, now()) === null),
  )
}

/** Returns the identity of a token, or null if the token is unknown, revoked or expired. */
export function authenticate(deps: Deps, secret: string): Identity | null {
  const identity = findToken(deps, secret)
  const now = deps.now()
  if (!identity || endOf(identity, now) !== null) return null
  if (now - (identity.lastUsedAt ?? 0) >= USE_EXACT_TO) remember(deps, identity, now)
  return identity
}

/**
 * Returns when and why a token became invalid, or null if it is valid or unknown. Requires the secret, so only the
 * holder of the token can find this out.
 */
export function endOfToken(deps: Deps, secret: string): TokenEnd | null {
  const identity = findToken(deps, secret)
  return identity && endOf(identity, deps.now())
}

/** Why a token is invalid, and the Unix time in milliseconds when it became invalid. */
type TokenEnd = { readonly why: 'expired' | 'revoked'; readonly at: number }

function endOf({ revokedAt, expiresAt }: Pick<Identity, 'revokedAt' | 'expiresAt'>, now: number): TokenEnd | null {
  if (revokedAt !== null) return { why: 'revoked', at: revokedAt }
  return expiresAt !== null && expiresAt <= now ? { why: 'expired', at: expiresAt } : null
}

function findToken({ db }: Deps, secret: string): Identity | null {
  if (!isTokenShaped(secret)) return null
  const hashed = hashOf(secret)
  const known = inThisTurn.get(db)?.get(hashed)
  if (known) return known
  const found = findTokenByHash(db, hashed)
  if (found) rememberForTurn(db, hashed, found)
  return found
}

/** Identities by token hash. Requests in the same turn of the event loop share one query. */
const inThisTurn = new WeakMap<Deps['db'], Map<string, Identity>>()

function rememberForTurn(db: Deps['db'], hashed: string, identity: Identity): void {
  const known = inThisTurn.get(db)
  if (known) known.set(hashed, identity)
  else {
    inThisTurn.set(db, new Map([[hashed, identity]]))
    setImmediate(() => inThisTurn.delete(db))
  }
}

/** Records the time of last use. Ignores errors, because reading must work even when writing fails. */
function remember(deps: Deps, { tokenId }: Identity, now: number): void {
  try {
    touchToken(deps.db, tokenId, now)
    inThisTurn.delete(deps.db)
  } catch {
    return
  }
}

/** Returns the SHA-256 hash as hexadecimal text. Returning a Buffer takes three times as long. */
function hashOf(secret: string): string {
  return hash('sha256', secret)
}
