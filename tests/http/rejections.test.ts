/** GET /api/rejections. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, makeRejection, NOON } from '../helpers/factory.ts'
import { payload } from '../helpers/payloads.ts'

test('lists rejected items, newest first, as received, with the error', async (t) => {
  const { db, acme, request } = makeWorld(t)
  makeRejection(db, acme, 'labels: expected object', { received_at: NOON - MINUTE })
  makeRejection(db, acme, 'body: not JSON', { payload: 'alerts=1' })
  const { data } = (await request('GET', '/api/rejections', { token: acme.token })).body
  assert.deepEqual(
    data.map(({ error }: { error: string }) => error),
    ['body: not JSON', 'labels: expected object'],
  )
  assert.deepEqual([data[0].payload, data[0].index, data[0].receivedAt], ['alerts=1', 0, '2026-03-14T12:00:00.000Z'])
})

test('source, from and to filter the list', async (t) => {
  const { db, acme, request } = makeWorld(t)
  makeRejection(db, acme, 'bad', { source: 'ci' })
  const queries = ['source=ci', 'source=metrics', 'from=2026-03-15', 'to=2026-03-14']
  const answers = await Promise.all(
    queries.map((query) => request('GET', `/api/rejections?${query}`, { token: acme.token })),
  )
  assert.deepEqual(
    answers.map(({ body }) => body.pagination.total),
    [1, 0, 0, 1],
  )
})

test('an invalid limit is refused with its name', async (t) => {
  const { acme, request } = makeWorld(t)
  const { status, body } = await request('GET', '/api/rejections?limit=all', { token: acme.token })
  assert.deepEqual([status, body.errors[0].path], [400, 'limit'])
})

test('Charlie sees no foreign records', async (t) => {
  const { db, acme, charlie, request } = makeWorld(t)
  makeRejection(db, acme, 'bad')
  const { body } = await request('GET', '/api/rejections', { token: charlie.token })
  assert.deepEqual([body.data, body.pagination.total], [[], 0])
})

test('a payload at the webhook of another sender is rejected with the right URL, also in the list', async (t) => {
  const { acme, request } = makeWorld(t)
  const { token } = acme
  const event = JSON.parse(payload('cluster-flat.json').toString())
  const answers = [
    await request('POST', '/api/webhooks/cluster', { token, body: { alerts: [{ labels: { alertname: 'Down' } }] } }),
    await request('POST', '/api/webhooks/metrics', { token, body: event }),
  ]
  const { data } = (await request('GET', '/api/rejections', { token })).body
  for (const [index, url] of ['/api/webhooks/metrics', '/api/webhooks/cluster'].entries()) {
    assert.equal(answers[index]?.status, 400)
    assert.ok(answers[index]?.body.detail.endsWith(`: send it to ${url}`), answers[index]?.body.detail)
    assert.ok(data[1 - index].error.endsWith(`: send it to ${url}`))
  }
})
