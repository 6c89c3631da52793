/** Sessions: users sign in with a token or a setup link, are recognized by a cookie, and sign out. */
import { hash } from 'node:crypto'
import { BUDGETS } from '../domain/budgets.ts'
import { IncmonError } from '../domain/error.ts'
import type { Plan } from '../domain/organization.ts'
import { LONG_SESSION, personName, SETUP_LINK_LIFE, SHORT_SESSION } from '../domain/request/session.ts'
import type { Scope } from '../domain/request/token.ts'
import { findOrganization } from '../store/organizations.ts'
import {
  deleteEndedSessions,
  deleteOldestSessions,
  deleteSession,
  deleteSetupLink,
  findSession,
  findSetupLink,
  insertSession,
  insertSetupLink,
  renameSession,
  touchSession,
} from '../store/sessions.ts'
import type { Deps } from './deps.ts'
import { authenticate } from './tokens.ts'

const MAX_SESSIONS = BUDGETS.sessions.value
/** How precisely the time of last use is stored, in milliseconds. */
const USE_EXACT_TO = 60_000
/** The minimum time between two transactions that store times of last use, in milliseconds. */
const STORED_EVERY = 10_000

/** The times of last use to store, by `rowId`, and the time of the last transaction. */
type Uses = { readonly pending: Map<number, number>; storedAt: number }
const usesOf = new WeakMap<Deps['db'], Uses>()

/** A user of the web pages. */
export type Visitor = {
  /** Null for a user authenticated by a proxy. */
  readonly sessionId: string | null
  readonly organizationId: number
  readonly plan: Plan
  readonly timeZone: string
  readonly scopes: readonly Scope[]
  /** The name to show in timelines as the actor. */
  readonly actor: string
  /** The CSRF token in this visitor's forms. */
  readonly csrf: string
  /** Whether the browser keeps the session after it was closed. */
  readonly stays: boolean
}

/** A new session. `secret`: the value of the cookie. */
export type NewSession = { readonly secret: string; readonly organizationId: number }
type Wanted = { readonly person: string; readonly agent: string; readonly stay: boolean }

/**
 * Creates a session for a token.
 * @throws IncmonError `unauthorized` if the token is unknown, revoked or expired; `forbidden` if the token does not
 * have read access
 */
export function signIn(deps: Deps, token: string, wanted: Wanted): NewSession {
  const identity = authenticate(deps, token.trim())
  if (!identity) throw new IncmonError('unauthorized', 'This token is unknown, revoked or expired.')
  if (!identity.scopes.includes('read'))
    throw new IncmonError('forbidden', 'This token can only send events. Use a token with the read scope.')
  return open(deps, identity.organizationId, identity.tokenId, wanted)
}

/** Creates a link that can be used once to sign in as an administrator. Returns its secret. */
export function createSetupLink(deps: Deps, organizationId: number): { readonly secret: string } {
  const secret = deps.newSecret()
  const expiresAt = deps.now() + SETUP_LINK_LIFE
  insertSetupLink(deps.db, { hash: digest(secret), organizationId, expiresAt })
  return { secret }
}

/** Returns whether a setup link is still valid. */
export function isSetupLink(deps: Deps, secret: string): boolean {
  return findSetupLink(deps.db, digest(secret), deps.now()) !== null
}

/**
 * Creates a session for a setup link, which cannot be used again.
 * @throws IncmonError `unauthorized` if the link is unknown, used or older than 30 minutes
 */
export function signInWithSetupLink(deps: Deps, secret: string, wanted: Wanted): NewSession {
  return deps.db.transaction(() => {
    const hashed = digest(secret)
    const link = findSetupLink(deps.db, hashed, deps.now())
    if (!link || !deleteSetupLink(deps.db, hashed))
      throw new IncmonError('unauthorized', 'This setup link has already been used or has expired.')
    return open(deps, link.organizationId, null, wanted)
  })
}

/** Returns the visitor for a cookie, or null if the session or its token is no longer valid. */
export function findVisitor(deps: Deps, secret: string): Visitor | null {
  if (!/^[\w-]{43}$/.test(secret)) return null
  const now = deps.now()
  const session = findSession(deps.db, digest(secret), now)
  if (!session) return null
  noteUse(deps, session, now)
  const { organizationId, plan, timeZone, scopes, person, tokenName } = session
  const actor = person === '' ? (tokenName ?? 'Administrator (setup link)') : person
  const stays = session.expiresAt - session.createdAt > SHORT_SESSION
  return { sessionId: session.id, organizationId, plan, timeZone, scopes, actor, csrf: csrfOf(secret), stays }
}

/** A session of a browser that is signed in to several organizations. `id`: the organization's UUID. */
type OwnSession = Visitor & { readonly secret: string; readonly id: string; readonly name: string }

/** Returns the valid sessions for a browser's secrets. */
export function findOwnSessions(deps: Deps, secrets: readonly string[]): readonly OwnSession[] {
  return secrets.flatMap((secret) => {
    const visitor = findVisitor(deps, secret)
    const organization = visitor && findOrganization(deps.db, visitor.organizationId)
    return visitor && organization ? [{ ...visitor, secret, id: organization.id, name: organization.name }] : []
  })
}

/**
 * Returns the CSRF token for a session. The token is derived from the session's secret, so nobody else can compute it.
 */
export function csrfOf(secret: string): string {
  return hash('sha256', `csrf ${secret}`, 'base64url')
}

/** Changes the display name in the session that a cookie identifies. Does nothing if the session is unknown. */
export function changePerson(deps: Deps, secret: string, person: string): void {
  const session = findSession(deps.db, digest(secret), deps.now())
  if (session) renameSession(deps.db, session.rowId, personName(person))
}

/** Ends a session immediately. @throws IncmonError `not-found` if the organization has no such session */
export function endSession(deps: Deps, organizationId: number, id: string): void {
  if (!deleteSession(deps.db, organizationId, id)) throw new IncmonError('not-found', 'This session has already ended.')
}

function open(deps: Deps, organizationId: number, tokenId: number | null, wanted: Wanted): NewSession {
  const { person, agent, stay } = wanted
  const secret = deps.newSecret()
  const createdAt = deps.now()
  const expiresAt = createdAt + (stay ? LONG_SESSION : SHORT_SESSION)
  deleteEndedSessions(deps.db, createdAt)
  const row = { id: deps.newId(), organizationId, tokenId, hash: digest(secret), createdAt, expiresAt }
  deleteOldestSessions(deps.db, organizationId, MAX_SESSIONS - 1)
  insertSession(deps.db, { ...row, person: personName(person), agent })
  return { secret, organizationId }
}

/**
 * Stores the time of last use. Many open pages share one transaction, because each transaction costs more than a page.
 * The session list is nearly up to date, because opening the list calls this function first. Ignores errors, because
 * reading must work even when writing fails.
 */
function noteUse({ db }: Deps, { rowId, lastUsedAt }: { rowId: number; lastUsedAt: number }, now: number): void {
  const uses = usesOf.get(db) ?? { pending: new Map(), storedAt: Number.NEGATIVE_INFINITY }
  usesOf.set(db, uses)
  if (now - lastUsedAt >= USE_EXACT_TO) uses.pending.set(rowId, now)
  if (uses.pending.size === 0 || Math.abs(now - uses.storedAt) < STORED_EVERY) return
  uses.storedAt = now
  try {
    db.transaction(() => {
      for (const [id, at] of uses.pending) touchSession(db, id, at)
    })
    uses.pending.clear()
  } catch {
    return
  }
}

function digest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
