/** GET /api/events. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, makeAlert, makeEvent, makeService, NOON, newUuid } from '../helpers/factory.ts'

test('lists events, newest first; serviceId is null without a service', async (t) => {
  const { db, acme, request } = makeWorld(t)
  const cart = makeService(db, acme, 'cart')
  const alert = makeAlert(db, acme, cart)
  const older = makeEvent(db, acme, { at: NOON - MINUTE })
  const newer = makeEvent(db, acme, { service_id: cart.key, alert_id: alert.key, text: 'slow' })
  const { data } = (await request('GET', '/api/events', { token: acme.token })).body
  assert.deepEqual(data.map(idOf), [newer.id, older.id])
  assert.deepEqual([data[0].serviceId, data[0].alertId, data[1].serviceId], [cart.id, alert.id, null])
})

test('source, serviceId, from and to filter the list', async (t) => {
  const { db, acme, request } = makeWorld(t)
  const cart = makeService(db, acme, 'cart')
  makeEvent(db, acme, { source: 'ci' })
  makeEvent(db, acme, { service_id: cart.key, at: NOON - MINUTE })
  const queries = ['source=ci', `serviceId=${cart.id}`, 'from=2026-03-14T12:00:00Z', 'to=2026-03-14T12:00:00Z']
  const answers = await Promise.all(
    queries.map((query) => request('GET', `/api/events?${query}`, { token: acme.token })),
  )
  assert.deepEqual(
    answers.map(({ body }) => body.data[0].source),
    ['ci', 'metrics', 'ci', 'metrics'],
  )
  assert.deepEqual(
    answers.map(({ body }) => body.pagination.total),
    [1, 1, 1, 1],
  )
})

test('shows an event with its payload as received', async (t) => {
  const { db, acme, request } = makeWorld(t)
  const payload = { labels: { constructor: 'x', '': 'é\u2028' }, values: [null, 1.5] }
  const { id } = makeEvent(db, acme, {}, payload)
  const { status, body } = await request('GET', `/api/events/${id}`, { token: acme.token })
  assert.deepEqual([status, body.payload], [200, payload])
})

test('an unknown source is refused with its name', async (t) => {
  const { acme, request } = makeWorld(t)
  const { status, body } = await request('GET', '/api/events?source=pager', { token: acme.token })
  assert.deepEqual([status, body.errors[0].path], [400, 'source'])
})

test('Charlie sees no foreign record in lists, with filters or by id', async (t) => {
  const { db, acme, charlie, request } = makeWorld(t)
  const token = charlie.token
  const cart = makeService(db, acme, 'cart')
  const { id } = makeEvent(db, acme, { service_id: cart.key })
  const totals = await Promise.all(
    ['', `serviceId=${cart.id}`].map((query) => request('GET', `/api/events?${query}`, { token })),
  )
  const foreign = await request('GET', `/api/events/${id}`, { token })
  const missing = await request('GET', `/api/events/${newUuid()}`, { token })
  assert.deepEqual(
    totals.map(({ body }) => body.pagination.total),
    [0, 0],
  )
  assert.deepEqual([foreign.status, foreign.text], [404, missing.text])
})

const idOf = ({ id }: { id: string }) => id
