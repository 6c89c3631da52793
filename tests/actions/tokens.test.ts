/** Tokens are identified by their hash and rejected as soon as they expire or are revoked. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Deps } from '../../src/actions/deps.ts'
import { authenticate, createToken, revokeToken } from '../../src/actions/tokens.ts'
import { systemDeps } from '../../src/deps.ts'
import { IncmonError } from '../../src/domain/error.ts'
import { listTokens } from '../../src/store/tokens.ts'
import { DAY, type Made, MINUTE, makeOrganization, NOON } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

function acme(t: TestContext): { deps: Deps; organization: Made; later: (ms: number) => Deps } {
  const db = temporaryStore(t)
  const deps: Deps = { ...systemDeps(db), now: () => NOON }
  return {
    deps,
    organization: makeOrganization(db, 'Acme', 'Team'),
    later: (ms) => ({ ...deps, now: () => NOON + ms }),
  }
}

const READ = { name: 'reader', scopes: ['read'] } as const

function stored({ db }: Deps, { key }: Made) {
  const [token] = listTokens(db, key, { page: 1, limit: 1 }).items
  assert.ok(token)
  return token
}

test('a token identifies its organization, scopes, plan, name and cluster', (t) => {
  const { deps, organization } = acme(t)
  const { token } = createToken(deps, { ...READ, organizationId: organization.key, cluster: 'staging' })
  const identity = authenticate(deps, token)
  assert.deepEqual(
    [identity?.organizationId, identity?.scopes, identity?.plan, identity?.tokenName, identity?.cluster],
    [organization.key, ['read'], 'Team', 'reader', 'staging'],
  )
})

test('every token is unique, and none is in the database file', (t) => {
  const { deps, organization } = acme(t)
  const made = [1, 2, 3].map(() => createToken(deps, { ...READ, organizationId: organization.key }).token)
  assert.equal(new Set(made).size, 3)
  const rows = JSON.stringify(deps.db.all(deps.db.sql.selectFrom('tokens').selectAll()))
  for (const token of made) assert.ok(!rows.includes(token.slice('incmon_'.length)))
})

for (const [what, forge] of [
  ['another letter', (token: string) => token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A')],
  ['a missing letter', (token: string) => token.slice(0, -1)],
  ['a letter more', (token: string) => `${token}A`],
  ['other case', (token: string) => token.toUpperCase()],
  ['no prefix', (token: string) => token.slice('incmon_'.length)],
  ['a line break behind', (token: string) => `${token}\n`],
  ['nothing', () => ''],
] as const) {
  test(`a token with ${what} is unknown`, (t) => {
    const { deps, organization } = acme(t)
    const { token } = createToken(deps, { ...READ, organizationId: organization.key })
    assert.equal(authenticate(deps, forge(token)), null)
  })
}

test('a token is valid until the millisecond before its expiry', (t) => {
  const { deps, organization, later } = acme(t)
  const wanted = { ...READ, organizationId: organization.key, expiresAt: NOON + DAY }
  const { token } = createToken(deps, wanted)
  assert.ok(authenticate(later(DAY - 1), token))
  assert.equal(authenticate(later(DAY), token), null)
})

test('a revoked token is refused immediately; revoking it again keeps the first time', (t) => {
  const { deps, organization, later } = acme(t)
  const { id, token } = createToken(deps, { ...READ, organizationId: organization.key })
  revokeToken(deps, organization.key, id)
  revokeToken(later(DAY), organization.key, id)
  assert.equal(authenticate(deps, token), null)
  assert.equal(stored(deps, organization).revokedAt, NOON)
})

test('another organization can neither revoke a token nor learn of it', (t) => {
  const { deps, organization } = acme(t)
  const charlie = makeOrganization(deps.db, 'Charlie', 'Pro')
  const { id, token } = createToken(deps, { ...READ, organizationId: organization.key })
  const refused = [id, '01900000-0000-7000-8000-0000000000ff', 'no id at all'].map((wanted) => {
    try {
      revokeToken(deps, charlie.key, wanted)
      return 'revoked'
    } catch (error) {
      return error instanceof IncmonError && `${error.code}: ${error.message}`
    }
  })
  assert.deepEqual(refused, Array(3).fill('not-found: no such token'))
  assert.ok(authenticate(deps, token))
})

test('the last use is stored with the precision of a minute', (t) => {
  const { deps, organization, later } = acme(t)
  const { token } = createToken(deps, { ...READ, organizationId: organization.key })
  const seen = [0, MINUTE - 1, MINUTE].map((ms) => {
    authenticate(later(ms), token)
    return stored(deps, organization).lastUsedAt
  })
  assert.deepEqual(seen, [NOON, NOON, NOON + MINUTE])
})

test('tokens are checked even if the database is not writable', (t) => {
  const { deps, organization } = acme(t)
  const { token } = createToken(deps, { ...READ, organizationId: organization.key })
  deps.db.pragma('query_only = 1')
  assert.ok(authenticate(deps, token))
  assert.equal(stored(deps, organization).lastUsedAt, null)
})
