/** API tokens. Only the hashes of tokens are stored. */

import type { Plan } from '../domain/organization.ts'
import type { Listed, Page } from '../domain/pagination.ts'
import type { Scope } from '../domain/request/token.ts'
import { countOf, readPage } from './read.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'
import { uuidBytes, uuidFromBytes, uuidOrNone } from './sqlite/uuid.ts'

/** A token's organization and scopes. Times are Unix times in milliseconds. */
export type Identity = {
  readonly tokenId: number
  readonly tokenName: string
  readonly organizationId: number
  readonly plan: Plan
  readonly scopes: readonly Scope[]
  /** The cluster of all items sent with this token; '' if none. */
  readonly cluster: string
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly lastUsedAt: number | null
}

const byHash = query<{ hash: Buffer }>()((sql, hole) =>
  sql
    .selectFrom('tokens')
    .innerJoin('organizations', 'organizations.id', 'tokens.organization_id')
    .select(['tokens.id as tokenId', 'tokens.name as tokenName', 'organization_id as organizationId', 'plan'])
    .select(['scopes', 'cluster', 'expires_at as expiresAt', 'revoked_at as revokedAt', 'last_used_at as lastUsedAt'])
    .where('hash', '=', hole('hash')),
)

/** Finds a token by its hash, in hexadecimal. */
export function findTokenByHash(db: Db, hash: string): Identity | null {
  const row = db.first(byHash, { hash: Buffer.from(hash, 'hex') })
  return row ? { ...row, scopes: JSON.parse(row.scopes) } : null
}

type TokenRecord = Pick<Identity, 'scopes' | 'cluster' | 'expiresAt' | 'revokedAt' | 'lastUsedAt'> & {
  readonly id: string
  readonly name: string
  readonly createdAt: number
}

/** Lists one page of an organization's tokens, newest first. Includes revoked tokens. */
export function listTokens(db: Db, organizationId: number, page: Page): Listed<TokenRecord> {
  const all = db.sql.selectFrom('tokens').where('organization_id', '=', organizationId)
  const rows = all
    .select(['uuid', 'name', 'scopes', 'cluster', 'created_at as createdAt', 'expires_at as expiresAt'])
    .select(['revoked_at as revokedAt', 'last_used_at as lastUsedAt'])
    .orderBy('id', 'desc')
  return readPage(db, all, rows, page, ({ uuid, scopes, ...token }) => ({
    ...token,
    id: uuidFromBytes(uuid),
    scopes: JSON.parse(scopes),
  }))
}

/** Counts an organization's tokens that are neither revoked nor expired. */
export function countValidTokens(db: Db, organizationId: number, now: number): number {
  const all = db.sql.selectFrom('tokens').where('organization_id', '=', organizationId).where('revoked_at', 'is', null)
  const valid = all.where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
  return countOf(db, valid)
}

export function insertToken(
  db: Db,
  made: Omit<TokenRecord, 'revokedAt' | 'lastUsedAt'> & { readonly organizationId: number; readonly hash: Buffer },
): void {
  db.run(
    db.sql.insertInto('tokens').values({
      uuid: uuidBytes(made.id),
      organization_id: made.organizationId,
      name: made.name,
      hash: made.hash,
      scopes: JSON.stringify(made.scopes),
      cluster: made.cluster,
      created_at: made.createdAt,
      expires_at: made.expiresAt,
    }),
  )
}

/** Revokes a token. Does nothing if the token is already revoked. Returns whether the organization has the token. */
export function revokeTokenRow(db: Db, organizationId: number, id: string, at: number): boolean {
  const changed = db.run(
    db.sql
      .updateTable('tokens')
      .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(at)) }))
      .where('organization_id', '=', organizationId)
      .where('uuid', '=', uuidOrNone(id)),
  )
  return changed === 1
}

export function touchToken(db: Db, tokenId: number, at: number): void {
  db.run(db.sql.updateTable('tokens').set({ last_used_at: at }).where('id', '=', tokenId))
}
