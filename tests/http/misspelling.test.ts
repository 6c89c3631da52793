/** Misspelled parameters and fields in REST requests, and the leniency of webhooks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { makeIncident, makeService } from '../helpers/factory.ts'
import { alertGroup } from '../helpers/payloads.ts'

test('a misspelled parameter gets 400 with the correct name', async (t) => {
  const { acme, request } = makeWorld(t)
  const { status, body } = await request('GET', '/api/alerts?statsu=firing', { token: acme.token })
  assert.equal(status, 400)
  assert.equal(body.detail, 'query: statsu: unknown parameter; did you mean status?')
  assert.deepEqual(body.errors, [{ path: 'statsu', message: 'unknown parameter; did you mean status?' }])
})

test('a misspelled field gets 400 with the correct name, and changes nothing', async (t) => {
  const { acme, db, request } = makeWorld(t)
  const path = `/api/incidents/${makeIncident(db, acme, makeService(db, acme, 'cart')).id}`
  const body = { title: 'New', statsu: 'resolved' }
  const refusal = await request('PATCH', path, { token: acme.token, body })
  assert.equal(refusal.status, 400)
  assert.match(refusal.body.detail, /statsu: unknown field; did you mean status\?/)
  assert.notEqual((await request('GET', path, { token: acme.token })).body.title, 'New')
})

test('a misspelled field within a list is reported with its path', async (t) => {
  const { acme, request } = makeWorld(t)
  const body = {
    name: 'cart',
    namespace: '',
    aliases: [
      { kind: 'label', value: 'a=b' },
      { kidn: 'label', value: 'c=d' },
    ],
  }
  const refusal = await request('POST', '/api/services', { token: acme.token, body })
  assert.equal(refusal.status, 400)
  assert.equal(refusal.body.errors[0].path, 'aliases[1].kidn')
})

test('the beginning of a field gets 400, so that a rule is not wider than meant', async (t) => {
  const { acme, request } = makeWorld(t)
  const made = async (rule: object) => {
    const body = { name: 'pager', kind: 'webhook', url: 'https://hooks.example/x', rules: [rule] }
    const { status, body: answer } = await request('POST', '/api/channels', { token: acme.token, body })
    return [status, answer.errors?.[0]?.message]
  }
  assert.deepEqual(await made({ match: ['team="pay"'] }), [400, 'unknown field; did you mean matchers?'])
  assert.deepEqual(await made({ quiet: null }), [400, 'unknown field; did you mean quietHours?'])
  assert.deepEqual(await made({ min: 'error' }), [201, undefined])
})

for (const body of [{}, { note: 'x' }, { createdAt: '2026-01-01', id: 'x' }]) {
  test(`a PATCH of ${JSON.stringify(body)} gets 400 with the known fields`, async (t) => {
    const { acme, db, request } = makeWorld(t)
    const path = `/api/incidents/${makeIncident(db, acme, makeService(db, acme, 'cart')).id}`
    const refusal = await request('PATCH', path, { token: acme.token, body })
    assert.equal(refusal.status, 400)
    assert.match(refusal.body.detail, /no known field; send at least one of status, title/)
  })
}

test('other unknown fields and parameters are ignored', async (t) => {
  const { acme, request } = makeWorld(t)
  const body = { name: 'cart', namespace: 'shop', createdBy: 'me' }
  const made = await request('POST', '/api/services', { token: acme.token, body })
  const list = await request('GET', '/api/alerts?utm_source=mail&cachebuster=1', { token: acme.token })
  assert.deepEqual([made.status, list.status], [201, 200])
})

for (const name of ['dryRun', 'dry-run', 'dryrn']) {
  test(`${name} on a path without a dry run gets 400 and changes nothing`, async (t) => {
    const { acme, request } = makeWorld(t)
    const body = { name: 'cart', namespace: 'shop' }
    const refusal = await request('POST', `/api/services?${name}=1`, { token: acme.token, body })
    assert.equal(refusal.status, 400)
    assert.equal(refusal.body.detail, `query: ${name}: this path does not support dryRun; nothing was changed`)
    assert.deepEqual((await request('GET', '/api/services', { token: acme.token })).body, [])
  })
}

test('a webhook ignores unknown fields that resemble known ones', async (t) => {
  const { acme, request } = makeWorld(t)
  const alerts = JSON.parse(alertGroup(1))
  const body = { ...alerts, recever: 'x', alerts: [{ ...alerts.alerts[0], anotations: {} }] }
  assert.equal((await request('POST', '/api/webhooks/metrics?tokn=1', { token: acme.token, body })).status, 200)
})

test('Charlie’s misspelling is reported without revealing the record', async (t) => {
  const { acme, charlie, db, request } = makeWorld(t)
  const path = `/api/incidents/${makeIncident(db, acme, makeService(db, acme, 'cart')).id}`
  const own = await request('PATCH', path, { token: charlie.token, body: { statsu: 'resolved' } })
  const none = await request('PATCH', '/api/incidents/none', { token: charlie.token, body: { statsu: 'resolved' } })
  assert.deepEqual([own.status, own.text], [400, none.text])
})

test('a form instead of JSON gets 415, and the error says which header to send', async (t) => {
  const { acme, request } = makeWorld(t)
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const { status, body } = await request('PATCH', '/api/organization', {
    token: acme.token,
    headers,
    body: '{"name":"A"}',
  })
  assert.equal(status, 415)
  assert.match(body.detail, /send a Content-Type: application\/json header/)
})
