/** /api/tokens: create, list, revoke. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, makeToken, NOON, newUuid } from '../helpers/factory.ts'

function withTokens(t: Parameters<typeof makeWorld>[0]) {
  const world = makeWorld(t)
  const { token } = world.acme
  const make = async (body: object) => world.request('POST', '/api/tokens', { token, body })
  const list = async (secret: string) => world.request('GET', '/api/services', { token: secret })
  return { ...world, token, make, list }
}

test('a new token is valid immediately, only for its scopes', async (t) => {
  const { make, list, request } = withTokens(t)
  const made = await make({ name: 'reader', scopes: ['read'] })
  assert.deepEqual([made.status, (await list(made.body.token)).status], [201, 200])
  const { status } = await request('GET', '/api/tokens', { token: made.body.token })
  assert.equal(status, 403)
})

test('the list describes every token without its secret', async (t) => {
  const { make, request, token } = withTokens(t)
  const expiresAt = '2026-03-15T12:00:00+01:00'
  const made = await make({ name: 'staging', scopes: ['ingest', 'ingest'], cluster: 'staging', expiresAt })
  const { body, text } = await request('GET', '/api/tokens', { token })
  assert.deepEqual(body.data[0], {
    ...{ id: made.body.id, name: 'staging', scopes: ['ingest'], cluster: 'staging' },
    ...{ createdAt: '2026-03-14T12:00:00.000Z', expiresAt: '2026-03-15T11:00:00.000Z' },
    ...{ revokedAt: null, lastUsedAt: null },
  })
  assert.equal(text.includes(made.body.token), false)
})

test('the last use is stored', async (t) => {
  const { make, list, clock, request, token } = withTokens(t)
  const made = await make({ name: 'reader', scopes: ['read'] })
  clock.now = NOON + MINUTE
  await list(made.body.token)
  const { body } = await request('GET', '/api/tokens', { token })
  assert.equal(body.data[0].lastUsedAt, '2026-03-14T12:01:00.000Z')
})

test('a revoked token is refused from the next request on; revoking it again changes nothing', async (t) => {
  const { make, list, request, token } = withTokens(t)
  const made = await make({ name: 'reader', scopes: ['read'] })
  const revoke = () => request('DELETE', `/api/tokens/${made.body.id}`, { token })
  assert.deepEqual([(await revoke()).status, (await revoke()).status], [204, 204])
  assert.equal((await list(made.body.token)).status, 401)
})

test('a token is refused from the millisecond in which it expires', async (t) => {
  const { make, list, clock } = withTokens(t)
  const made = await make({ name: 'brief', scopes: ['read'], expiresAt: '2026-03-14T12:01:00Z' })
  clock.now = NOON + MINUTE - 1
  assert.equal((await list(made.body.token)).status, 200)
  clock.now = NOON + MINUTE
  assert.equal((await list(made.body.token)).status, 401)
})

for (const [what, change, field] of [
  ['no scopes', { scopes: [] }, 'scopes'],
  ['an unknown scope', { scopes: ['root'] }, 'scopes[0]'],
  ['a text as scopes', { scopes: 'read' }, 'scopes'],
  ['no name', { name: '' }, 'name'],
  ['an end in the past', { expiresAt: '2026-03-14T12:00:00Z' }, 'expiresAt'],
  ['an end that is no time', { expiresAt: 'never' }, 'expiresAt'],
] as const) {
  test(`a token with ${what} is refused by name`, async (t) => {
    const { make } = withTokens(t)
    const { status, body } = await make({ name: 'x', scopes: ['read'], ...change })
    assert.deepEqual([status, body.errors[0].path], [400, field])
  })
}

test("Charlie can neither see nor revoke Acme's tokens", async (t) => {
  const { make, list, charlie, request } = withTokens(t)
  const made = await make({ name: 'reader', scopes: ['read'] })
  const listed = await request('GET', '/api/tokens', { token: charlie.token })
  const foreign = await request('DELETE', `/api/tokens/${made.body.id}`, { token: charlie.token })
  const missing = await request('DELETE', `/api/tokens/${newUuid()}`, { token: charlie.token })
  assert.deepEqual(
    listed.body.data.map(({ name }: { name: string }) => name),
    ["Charlie's token"],
  )
  assert.deepEqual([foreign.status, foreign.text, (await list(made.body.token)).status], [404, missing.text, 200])
})

test('the error for a correct secret says that the token is expired or revoked', async (t) => {
  const { acme, db, request } = makeWorld(t)
  const expired = makeToken(db, acme, ['read'], { expires_at: NOON - 1 })
  const revoked = makeToken(db, acme, ['read'], { revoked_at: NOON - 1 })
  const details = await Promise.all(
    [expired, revoked, `incmon_${'x'.repeat(43)}`].map(async (token) => {
      const { status, body } = await request('GET', '/api/services', { token })
      assert.equal(status, 401)
      return body.detail
    }),
  )
  assert.match(details[0], /^this token expired on 2026-03-14T11:59:59\.999Z; create a new token/)
  assert.match(details[1], /^this token was revoked on 2026-03-14T11:59:59\.999Z/)
  assert.match(details[2], /^unknown token; check that it is complete/)
})
