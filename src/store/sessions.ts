import { type Plan, withDefaults } from '../domain/organization.ts'
import type { Session } from '../domain/request/session.ts'
import { SCOPES, type Scope } from '../domain/request/token.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'
import { uuidBytes, uuidFromBytes, uuidOrNone } from './sqlite/uuid.ts'

/** A session with its scopes. `rowId` is never exposed to clients. */
type OpenSession = Session & {
  readonly rowId: number
  readonly organizationId: number
  readonly plan: Plan
  readonly timeZone: string
  readonly scopes: readonly Scope[]
}

const MAX_LISTED = 200
const COLUMNS = [
  ...(['sessions.uuid', 'sessions.person', 'sessions.agent', 'tokens.name as tokenName'] as const),
  ...(['sessions.created_at as createdAt', 'sessions.last_used_at as lastUsedAt'] as const),
  'sessions.expires_at as expiresAt',
] as const

const byHash = query<{ hash: Buffer; now: number }>()((sql, hole) =>
  sql
    .selectFrom('sessions')
    .innerJoin('organizations', 'organizations.id', 'sessions.organization_id')
    .leftJoin('tokens', 'tokens.id', 'sessions.token_id')
    .select([...COLUMNS, 'sessions.id as rowId', 'sessions.organization_id as organizationId'])
    .select(['organizations.plan', 'organizations.settings'])
    .select(['sessions.token_id', 'tokens.scopes', 'tokens.revoked_at', 'tokens.expires_at as token_expires_at'])
    .where('sessions.hash', '=', hole('hash'))
    .where('sessions.expires_at', '>', hole('now')),
)

/**
 * Finds the session for a cookie. Returns null if the session is unknown or expired, or its token is no longer valid.
 */
export function findSession(db: Db, hash: Buffer, now: number): OpenSession | null {
  const row = db.first(byHash, { hash, now })
  if (!row) return null
  const { uuid, settings, scopes, token_id, revoked_at, token_expires_at, ...session } = row
  if (revoked_at !== null || (token_expires_at !== null && token_expires_at <= now)) return null
  const timeZone = withDefaults(JSON.parse(settings))['time-zone']
  // Only sessions created with a setup link have no token. They have all scopes.
  const may = token_id === null ? SCOPES : (JSON.parse(scopes ?? '[]') as Scope[])
  return { ...session, id: uuidFromBytes(uuid), timeZone, scopes: may }
}

/** Lists an organization's active sessions, newest first. */
export function listSessions(db: Db, organizationId: number, now: number): Session[] {
  const rows = db.sql
    .selectFrom('sessions')
    .leftJoin('tokens', 'tokens.id', 'sessions.token_id')
    .select(COLUMNS)
    .where('sessions.organization_id', '=', organizationId)
    .where('sessions.expires_at', '>', now)
    .where('tokens.revoked_at', 'is', null)
    .orderBy('sessions.id', 'desc')
    .limit(MAX_LISTED)
  return db.all(rows).map(({ uuid, ...session }) => ({ ...session, id: uuidFromBytes(uuid) }))
}

export function insertSession(
  db: Db,
  made: Omit<Session, 'tokenName' | 'lastUsedAt'> & {
    readonly organizationId: number
    readonly tokenId: number | null
    readonly hash: Buffer
  },
): void {
  db.run(
    db.sql.insertInto('sessions').values({
      uuid: uuidBytes(made.id),
      organization_id: made.organizationId,
      token_id: made.tokenId,
      hash: made.hash,
      person: made.person,
      agent: made.agent,
      created_at: made.createdAt,
      last_used_at: made.createdAt,
      expires_at: made.expiresAt,
    }),
  )
}

/** Deletes a session. Returns whether the organization had this session. */
export function deleteSession(db: Db, organizationId: number, id: string): boolean {
  const own = db.sql.deleteFrom('sessions').where('organization_id', '=', organizationId)
  return db.run(own.where('uuid', '=', uuidOrNone(id))) === 1
}

export function deleteEndedSessions(db: Db, now: number): void {
  db.run(db.sql.deleteFrom('sessions').where('expires_at', '<=', now))
  db.run(db.sql.deleteFrom('setup_links').where('expires_at', '<=', now))
}

/** Deletes the oldest sessions of an organization, so that at most `kept` remain. */
export function deleteOldestSessions(db: Db, organizationId: number, kept: number): void {
  const own = db.sql.selectFrom('sessions').select('id').where('organization_id', '=', organizationId)
  const oldest = own.orderBy('id', 'desc').limit(-1).offset(kept)
  db.run(db.sql.deleteFrom('sessions').where('id', 'in', oldest))
}

export function touchSession(db: Db, rowId: number, at: number): void {
  db.run(db.sql.updateTable('sessions').set({ last_used_at: at }).where('id', '=', rowId))
}

export function renameSession(db: Db, rowId: number, person: string): void {
  db.run(db.sql.updateTable('sessions').set({ person }).where('id', '=', rowId))
}

export function insertSetupLink(db: Db, made: { hash: Buffer; organizationId: number; expiresAt: number }): void {
  const { hash, organizationId, expiresAt } = made
  db.run(db.sql.insertInto('setup_links').values({ hash, organization_id: organizationId, expires_at: expiresAt }))
}

/** Finds the organization for a valid setup link. Returns null for any invalid link. */
export function findSetupLink(db: Db, hash: Buffer, now: number): { readonly organizationId: number } | null {
  const rows = db.sql.selectFrom('setup_links').select('organization_id as organizationId')
  return db.first(rows.where('hash', '=', hash).where('expires_at', '>', now)) ?? null
}

/** Deletes a setup link. Returns false if there is no such link, for example because the link was already used. */
export function deleteSetupLink(db: Db, hash: Buffer): boolean {
  return db.run(db.sql.deleteFrom('setup_links').where('hash', '=', hash)) === 1
}
