/** A server's first lines of output: a token on a terminal; elsewhere, the command that creates one. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { signIn, signInWithSetupLink } from '../../src/actions/sessions.ts'
import { authenticate } from '../../src/actions/tokens.ts'
import { systemDeps } from '../../src/deps.ts'
import { READERS } from '../../src/intake/index.ts'
import { firstLines } from '../../src/server/welcome.ts'
import { makeOrganization, makeToken } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

const SEEN = { url: 'http://127.0.0.1:8080', publicUrl: 'https://incmon.example.com', program: 'incmon' }
const WANTED = { person: 'Ada', agent: 'a test', stay: true }

function acme(t: TestContext) {
  const deps = systemDeps(temporaryStore(t))
  return { deps, organization: makeOrganization(deps.db, 'Acme Ltd', 'Team') }
}

test('a terminal gets a token with all scopes and a command to paste', (t) => {
  const { deps } = acme(t)
  const lines = firstLines(deps, { ...SEEN, toTerminal: true })
  const text = lines.join('\n')
  assert.equal(lines.length, 3)
  const [, token = ''] = / (incmon_\S+)$/m.exec(text) ?? []
  assert.deepEqual(authenticate(deps, token)?.scopes, ['ingest', 'read', 'write', 'admin'])
  const [, sent, body = ''] =
    /curl -H 'Authorization: Bearer (\S+)' -d '([^']+)' \S+\/api\/webhooks\/metrics$/m.exec(text) ?? []
  assert.equal(sent, token)
  assert.equal(READERS.metrics(JSON.parse(body), 0).accepted.length, 1)
})

test('a journal gets the command that creates a token instead of a token, quoted for a shell', (t) => {
  const { deps } = acme(t)
  const [line = '', ...more] = firstLines(deps, { ...SEEN, toTerminal: false })
  assert.ok(
    line.endsWith(`incmon token create --org 'Acme Ltd' --scopes ingest,read,write,admin --database ${deps.db.file}`),
  )
  assert.deepEqual(more, [])
  assert.deepEqual(deps.db.all(deps.db.sql.selectFrom('tokens').select('id')), [])
})

test('a terminal gets a setup link at the public URL that signs one person in', (t) => {
  const { deps, organization } = acme(t)
  const text = firstLines(deps, { ...SEEN, toTerminal: true }).join('\n')
  const [, key = ''] = /https:\/\/incmon\.example\.com\/setup\?key=([\w-]{43})$/m.exec(text) ?? []
  const opened = signInWithSetupLink(deps, key, WANTED)
  assert.equal(opened.organizationId, organization.key)
  assert.throws(() => signInWithSetupLink(deps, key, WANTED), { code: 'unauthorized' })
})

test('nothing is printed when there is a token and somebody is signed in', (t) => {
  const { deps, organization } = acme(t)
  signIn(deps, makeToken(deps.db, organization, ['read']), WANTED)
  assert.deepEqual(firstLines(deps, { ...SEEN, toTerminal: true }), [])
})

test('with a token and nobody signed in, a terminal gets only the link, and a journal nothing', (t) => {
  const { deps, organization } = acme(t)
  makeToken(deps.db, organization, ['ingest'])
  const [shown, kept] = [true, false].map((toTerminal) => firstLines(deps, { ...SEEN, toTerminal }))
  assert.match(shown?.join('\n') ?? '', /setup\?key=/)
  assert.doesNotMatch(shown?.join('\n') ?? '', /incmon_/)
  assert.deepEqual(kept, [])
})

test('revoked and expired tokens are ignored', (t) => {
  const { deps, organization } = acme(t)
  makeToken(deps.db, organization, ['ingest'], { revoked_at: 1 })
  makeToken(deps.db, organization, ['ingest'], { expires_at: 1 })
  assert.notDeepEqual(firstLines(deps, { ...SEEN, toTerminal: true }), [])
})
