/** Tokens in requests: the accepted headers and the many rejected ones. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MALFORMED } from '../helpers/malformed-tokens.ts'
import { payload } from '../helpers/payloads.ts'

const CI = '/api/webhooks/ci'
const BODY = payload('ci-pipeline-least.json')

describe('Authorization', () => {
  test('a malformed header is 401, for REST and for webhooks', async (t) => {
    const { acme, request } = makeWorld(t)
    const forms = { ...MALFORMED, 'no scheme': (token: string) => token }
    for (const [what, header] of Object.entries(forms)) {
      const headers = { Authorization: header(acme.token) }
      const rest = await request('GET', '/api/services', { headers })
      const webhook = await request('POST', '/api/webhooks/metrics', { headers, body: '{' })
      assert.deepEqual([rest.status, webhook.status, rest.headers.get('www-authenticate')], [401, 401, 'Bearer'], what)
    }
  })

  for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) {
    test(`the scheme can be written ${JSON.stringify(scheme)}`, async (t) => {
      const { acme, request } = makeWorld(t)
      const { status } = await request('GET', '/api/services', {
        headers: { Authorization: `${scheme} ${acme.token}` },
      })
      assert.equal(status, 200)
    })
  }
})

describe('X-Ci-Token', () => {
  test('a malformed header is 401, also with Bearer in front of the token', async (t) => {
    const { acme, request } = makeWorld(t)
    const forms = { ...MALFORMED, 'with Bearer': (token: string) => `Bearer ${token}` }
    for (const [what, header] of Object.entries(forms)) {
      for (const name of ['X-Ci-Token', 'X-Gitlab-Token']) {
        const value = what === 'with Bearer' ? header(acme.token) : header(acme.token).replace(/^Bearer /, '')
        const { status } = await request('POST', CI, { headers: { [name]: value }, body: BODY })
        assert.equal(status, 401, what)
      }
    }
  })

  test('is also accepted as X-Gitlab-Token, with X-Gitlab-Event', async (t) => {
    const { acme, request } = makeWorld(t)
    const headers = { 'X-Gitlab-Token': acme.token, 'X-Gitlab-Event': 'Pipeline Hook' }
    assert.equal((await request('POST', CI, { headers, body: BODY })).status, 200)
  })

  test('both headers are accepted if their tokens are equal, and refused if they differ', async (t) => {
    const { acme, charlie, request } = makeWorld(t)
    const post = (gitlab: string) =>
      request('POST', CI, { headers: { 'X-Ci-Token': acme.token, 'X-Gitlab-Token': gitlab }, body: BODY })
    assert.deepEqual([(await post(acme.token)).status, (await post(charlie.token)).status], [200, 401])
  })

  test('the ci webhook requires X-Ci-Token; all other routes require Authorization', async (t) => {
    const { acme, request } = makeWorld(t)
    const ci = await request('POST', CI, { headers: { Authorization: `Bearer ${acme.token}` }, body: BODY })
    const rest = await request('GET', '/api/services', { headers: { 'X-Ci-Token': acme.token } })
    assert.deepEqual([ci.status, rest.status], [401, 401])
  })
})

describe('the reason of a 401', () => {
  const HEADER = /send an Authorization: Bearer <API_TOKEN> header/
  for (const [what, headers, reason] of [
    ['no header', {}, /^no token; .+ \(create a token with incmon token create\)$/],
    ['an empty header', { Authorization: '' }, /^no token; /],
    ['another scheme', { Authorization: 'Basic eDp5' }, /^malformed token header; /],
    ['a header of the ci webhook', { 'X-Ci-Token': 'incmon_x' }, /^found a token in the X-Ci-Token or X-Gitlab-Token/],
  ] as const) {
    test(`with ${what} names the header to send`, async (t) => {
      const { detail } = (await makeWorld(t).request('GET', '/api/services', { headers })).body
      assert.match(detail, reason)
      assert.match(detail, HEADER)
    })
  }

  test('with an unknown token says what to check, the same for each of them', async (t) => {
    const { acme, request } = makeWorld(t)
    const tokens = [`${acme.token}x`, acme.token.slice(0, -1), `incmon_${'x'.repeat(43)}`, 'wrong']
    const answers = await Promise.all(tokens.map((token) => request('GET', '/api/services', { token })))
    assert.match(answers[0]?.body.detail, /^unknown token; check that it is complete and from this server's database/)
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  })

  test('of the ci webhook names its own headers', async (t) => {
    const { acme, request } = makeWorld(t)
    const all = [{}, { 'X-Ci-Token': `Bearer ${acme.token}` }, { Authorization: `Bearer ${acme.token}` }]
    for (const headers of all) {
      const { detail } = (await request('POST', CI, { headers, body: BODY })).body
      assert.match(
        detail,
        /^(?:no token|malformed token header|found a token in the Authorization header, which.+); send only the token, without Bearer, in the X-Ci-Token/,
      )
    }
  })
})

for (const [where, path, headers] of [
  ['the query', (token: string) => `/api/services?token=${token}&access_token=${token}`, () => ({})],
  ['a cookie', () => '/api/services', (token: string) => ({ Cookie: `token=${token}; Authorization=Bearer ${token}` })],
] as const) {
  test(`a token in ${where} is ignored`, async (t) => {
    const { acme, request } = makeWorld(t)
    const { status } = await request('GET', path(acme.token), { headers: headers(acme.token) })
    assert.equal(status, 401)
  })
}

test('rejects a caller before reading the body', async (t) => {
  const { app } = makeWorld(t)
  const reads: unknown[] = []
  const body = new ReadableStream({ pull: (stream) => void reads.push(stream) }, { highWaterMark: 0 })
  const init = { method: 'POST', body, duplex: 'half' } as RequestInit
  const { status } = await app.request('/api/webhooks/metrics', init)
  assert.deepEqual([status, reads], [401, []])
})

test('Charlie remains Charlie, even if the query, the path or a header names Acme', async (t) => {
  const { acme, charlie, request } = makeWorld(t)
  const headers = { 'X-Organization': acme.id, 'X-Forwarded-User': 'Acme' }
  const { body } = await request('GET', `/api/organization?organizationId=${acme.id}`, {
    token: charlie.token,
    headers,
  })
  assert.equal(body.name, 'Charlie')
})
