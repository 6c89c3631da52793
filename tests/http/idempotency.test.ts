/** Idempotency-Key: a repeated request with the same key gets the same response and takes effect once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { alertGroup, payload } from '../helpers/payloads.ts'

const METRICS = '/api/webhooks/metrics'
const SERVICES = '/api/services'

test('a repeated key returns the same IDs and stores nothing', async (t) => {
  const { acme, request } = makeWorld(t)
  const sent = { token: acme.token, headers: { 'Idempotency-Key': 'a' }, body: payload('ci-pipeline-failed.json') }
  const answers = [await request('POST', '/api/webhooks/ci', sent), await request('POST', '/api/webhooks/ci', sent)]
  assert.equal(answers[0]?.text, answers[1]?.text)
  assert.equal((await request('GET', '/api/events', { token: acme.token })).body.pagination.total, 1)
})

test('a key sent with an invalid body can be reused with a valid one', async (t) => {
  const { acme, request } = makeWorld(t)
  const headers = { 'Idempotency-Key': 'a' }
  const [bad, good] = [
    await request('POST', METRICS, { token: acme.token, headers, body: '{"alerts":[' }),
    await request('POST', METRICS, { token: acme.token, headers, body: alertGroup(1) }),
  ]
  assert.deepEqual([bad.status, good.body.eventIds.length], [400, 1])
})

test('a webhook refuses a key of 201 characters and stores nothing', async (t) => {
  const { acme, request } = makeWorld(t)
  const headers = { 'Idempotency-Key': 'x'.repeat(201) }
  const body = payload('cluster-whole-event.json')
  const refusal = await request('POST', '/api/webhooks/cluster', { token: acme.token, headers, body })
  const detail = 'the Idempotency-Key header has 201 characters; send at most 200; nothing was changed'
  assert.deepEqual([refusal.status, refusal.body.detail], [400, detail])
  assert.equal((await request('GET', '/api/events', { token: acme.token })).body.pagination.total, 0)
})

test('REST refuses a key of 201 characters and accepts one of 200', async (t) => {
  const { acme, charlie, request } = makeWorld(t)
  const make = (token: string, length: number) =>
    request('POST', SERVICES, {
      token,
      headers: { 'Idempotency-Key': 'x'.repeat(length) },
      body: { name: 'cart', namespace: 'shop' },
    })
  const statuses = [await make(acme.token, 201), await make(acme.token, 200), await make(charlie.token, 200)]
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [400, 201, 201],
  )
})

test('a GitLab event from a project hook and a group hook is stored once, for each organization', async (t) => {
  const { acme, charlie, request } = makeWorld(t)
  const post = (token: string, key: string, body: string) =>
    request('POST', '/api/webhooks/ci', { token, headers: { 'Idempotency-Key': key }, body })
  const body = payload('ci-pipeline-failed.json')
  const first = await post(acme.token, 'a', body)
  const second = await post(acme.token, 'b', JSON.stringify({ ...JSON.parse(body), hook: 'group' }))
  assert.deepEqual(second.body.eventId, first.body.eventId)
  assert.equal((await request('GET', '/api/events', { token: acme.token })).body.pagination.total, 1)
  assert.notEqual((await post(charlie.token, 'b', body)).body.eventId, first.body.eventId)
})

test("a key of Acme is independent of Charlie's", async (t) => {
  const { acme, charlie, request } = makeWorld(t)
  const post = ({ token }: { token: string }) =>
    request('POST', METRICS, { token, headers: { 'Idempotency-Key': 'a' }, body: alertGroup(1) })
  const [first, second] = [await post(acme), await post(charlie)]
  assert.notEqual(first.text, second.text)
  assert.equal((await request('GET', '/api/events', { token: charlie.token })).body.pagination.total, 1)
})

test('a webhook stores a different body with a used key and says so', async (t) => {
  const { acme, request } = makeWorld(t)
  const post = (first: number) =>
    request('POST', METRICS, { token: acme.token, headers: { 'Idempotency-Key': 'a' }, body: alertGroup(first) })
  const [one, two, again, back] = [await post(1), await post(2), await post(2), await post(1)]
  assert.deepEqual([one.body.idempotencyKey, two.body.idempotencyKey], [undefined, 'reused'])
  assert.deepEqual([again.text, back.text], [two.text, one.text])
})

test('the ci webhook says that a key was used with a different body', async (t) => {
  const { acme, request } = makeWorld(t)
  const post = (name: 'ci-pipeline-failed.json' | 'ci-pipeline-success.json') =>
    request('POST', '/api/webhooks/ci', {
      token: acme.token,
      headers: { 'Idempotency-Key': 'a' },
      body: payload(name),
    })
  const answers = [await post('ci-pipeline-failed.json'), await post('ci-pipeline-success.json')]
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.idempotencyKey]),
    [
      [200, undefined],
      [200, 'reused'],
    ],
  )
})

/** Creates a service named `name` with the key `a`. */
function creation(name: string, token: string) {
  return { token, headers: { 'Idempotency-Key': 'a' }, body: { name, namespace: 'shop' } }
}

test('two POSTs with the same key and body take effect once, even in parallel', async (t) => {
  const { acme, request } = makeWorld(t)
  const sent = creation('cart', acme.token)
  const together = await Promise.all([request('POST', SERVICES, sent), request('POST', SERVICES, sent)])
  const later = await request('POST', SERVICES, sent)
  assert.deepEqual(new Set([...together, later].map(({ status, text }) => `${status} ${text}`)).size, 1)
  assert.equal(later.headers.get('location'), together[0].headers.get('location'))
  assert.equal((await request('GET', SERVICES, { token: acme.token })).body.length, 1)
})

test('a POST with a used key and another body gets 422 and says what to do', async (t) => {
  const { acme, request } = makeWorld(t)
  await request('POST', SERVICES, creation('cart', acme.token))
  const { status, body } = await request('POST', SERVICES, creation('shop', acme.token))
  assert.equal(status, 422)
  assert.match(body.detail, /was used with a different body.*use a new key/)
})

test('a rejected POST can be retried with the same key', async (t) => {
  const { acme, request } = makeWorld(t)
  const incident = (severity: string, serviceId: string) =>
    request('POST', '/api/incidents', {
      token: acme.token,
      headers: { 'Idempotency-Key': 'a' },
      body: { title: 'Slow', severity, serviceId },
    })
  const { body } = await request('POST', SERVICES, creation('cart', acme.token))
  const missing = await incident('error', '01997b3e-5c1a-7d20-9f4e-3a8c6b2d1e05')
  assert.deepEqual([missing.status, (await incident('error', body.id)).status], [422, 201])
})

test("a key that Acme used for a service creates Charlie's own service", async (t) => {
  const { acme, charlie, request } = makeWorld(t)
  const own = await request('POST', SERVICES, creation('cart', acme.token))
  const other = await request('POST', SERVICES, creation('cart', charlie.token))
  assert.deepEqual([other.status, other.body.id === own.body.id], [201, false])
})

test('POST /api/tokens ignores the key, because its secret must not be stored', async (t) => {
  const { acme, request } = makeWorld(t)
  const post = () =>
    request('POST', '/api/tokens', {
      token: acme.token,
      headers: { 'Idempotency-Key': 'a' },
      body: { name: 'ci', scopes: ['ingest'] },
    })
  assert.notEqual((await post()).body.token, (await post()).body.token)
})
