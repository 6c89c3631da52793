/** The first words of a server: a token to a terminal, the way to one elsewhere. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemDeps } from '../../src/deps.ts'
import { readMetrics } from '../../src/intake/metrics.ts'
import { signIn, signInWithSetupLink } from '../../src/operations/sessions.ts'
import { authenticate } from '../../src/operations/tokens.ts'
import { firstWords } from '../../src/server/welcome.ts'
import { makeOrganization, makeToken } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

const URL = 'http://127.0.0.1:8080'
const WANTED = { person: 'Ada', agent: 'a test', stay: true }

function acme(t: TestContext) {
  const deps = systemDeps(temporaryStore(t))
  return { deps, organization: makeOrganization(deps.db, 'Acme Ltd', 'Team') }
}

test('to a terminal a token is shown that may do everything, with a line to paste', (t) => {
  const { deps } = acme(t)
  const text = firstWords(deps, { url: URL, toTerminal: true, program: 'incmon' }).join('\n')
  const [, token = ''] = /^ {2}(incmon_\S+)$/m.exec(text) ?? []
  assert.deepEqual(authenticate(deps, token)?.scopes, ['ingest', 'read', 'write', 'admin'])
  const [, sent, body = ''] =
    /curl -H 'Authorization: Bearer (\S+)' -d '([^']+)' \S+\/api\/webhooks\/metrics$/m.exec(text) ?? []
  assert.equal(sent, token)
  assert.equal(readMetrics(JSON.parse(body), 0).accepted.length, 1)
})

test('elsewhere no token is made, and the command that makes one is shown as a shell takes it', (t) => {
  const { deps } = acme(t)
  const [line = '', ...more] = firstWords(deps, { url: URL, toTerminal: false, program: 'incmon' })
  assert.ok(
    line.endsWith(`incmon token create --org 'Acme Ltd' --scopes ingest,read,write,admin --database ${deps.db.file}`),
  )
  assert.deepEqual(more, [])
  assert.deepEqual(deps.db.all(deps.db.sql.selectFrom('tokens').select('id')), [])
})

test('a terminal gets a setup link that signs one person in', (t) => {
  const { deps, organization } = acme(t)
  const text = firstWords(deps, { url: URL, toTerminal: true, program: 'incmon' }).join('\n')
  const [, key = ''] = /^ {2}http:\/\/127\.0\.0\.1:8080\/setup\?key=([\w-]{43})$/m.exec(text) ?? []
  const opened = signInWithSetupLink(deps, key, WANTED)
  assert.equal(opened.organizationId, organization.key)
  assert.throws(() => signInWithSetupLink(deps, key, WANTED), { code: 'unauthorized' })
})

test('nothing is said once there is a token and somebody is signed in', (t) => {
  const { deps, organization } = acme(t)
  signIn(deps, makeToken(deps.db, organization, ['read']), WANTED)
  assert.deepEqual(firstWords(deps, { url: URL, toTerminal: true, program: 'incmon' }), [])
})

test('with a token and nobody signed in, a terminal gets the link alone, and a journal nothing', (t) => {
  const { deps, organization } = acme(t)
  makeToken(deps.db, organization, ['ingest'])
  const [shown, kept] = [true, false].map((toTerminal) => firstWords(deps, { url: URL, toTerminal, program: 'incmon' }))
  assert.match(shown?.join('\n') ?? '', /setup\?key=/)
  assert.doesNotMatch(shown?.join('\n') ?? '', /incmon_/)
  assert.deepEqual(kept, [])
})

test('tokens that ended do not count as one', (t) => {
  const { deps, organization } = acme(t)
  makeToken(deps.db, organization, ['ingest'], { revoked_at: 1 })
  makeToken(deps.db, organization, ['ingest'], { expires_at: 1 })
  assert.notDeepEqual(firstWords(deps, { url: URL, toTerminal: true, program: 'incmon' }), [])
})
