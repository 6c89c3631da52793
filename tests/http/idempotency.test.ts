/** Idempotency-Key: a delivery that comes again under its key is answered as before, and stored once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { alertGroup, payload } from '../helpers/payloads.ts'

const METRICS = '/api/webhooks/metrics'

test('a key that was seen answers with the same ids and stores nothing new', async (t) => {
  const { acme, request } = makeWorld(t)
  const sent = { token: acme.token, headers: { 'Idempotency-Key': 'a' }, body: payload('ci-pipeline-failed.json') }
  const answers = [await request('POST', '/api/webhooks/ci', sent), await request('POST', '/api/webhooks/ci', sent)]
  assert.equal(answers[0]?.text, answers[1]?.text)
  assert.equal((await request('GET', '/api/events', { token: acme.token })).body.pagination.total, 1)
})

test('the key of a body that could not be read may come again with one that can', async (t) => {
  const { acme, request } = makeWorld(t)
  const headers = { 'Idempotency-Key': 'a' }
  const [bad, good] = [
    await request('POST', METRICS, { token: acme.token, headers, body: '{"alerts":[' }),
    await request('POST', METRICS, { token: acme.token, headers, body: alertGroup(1) }),
  ]
  assert.deepEqual([bad.status, good.body.eventIds.length], [400, 1])
})

test('a key of 201 characters names nothing', async (t) => {
  const { acme, request } = makeWorld(t)
  const headers = { 'Idempotency-Key': 'x'.repeat(201) }
  const sent = { token: acme.token, headers, body: payload('ci-pipeline-failed.json') }
  for (let i = 0; i < 2; i++) await request('POST', '/api/webhooks/ci', sent)
  assert.equal((await request('GET', '/api/events', { token: acme.token })).body.pagination.total, 2)
})

test("a key of Acme is not Charlie's", async (t) => {
  const { acme, charlie, request } = makeWorld(t)
  const post = ({ token }: { token: string }) =>
    request('POST', METRICS, { token, headers: { 'Idempotency-Key': 'a' }, body: alertGroup(1) })
  const [first, second] = [await post(acme), await post(charlie)]
  assert.notEqual(first.text, second.text)
  assert.equal((await request('GET', '/api/events', { token: charlie.token })).body.pagination.total, 1)
})
