/** GET /api/sources. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { DAY, MINUTE, makeSender, NOON } from '../helpers/factory.ts'

test('each sender is listed with its last request', async (t) => {
  const { db, acme, request } = makeWorld(t)
  makeSender(db, acme, 'old', { last_event_at: NOON - DAY })
  makeSender(db, acme, 'incmon')
  const { data, pagination } = (await request('GET', '/api/sources', { token: acme.token })).body
  assert.equal(pagination.total, 2)
  assert.deepEqual(data[0], {
    ...{ source: 'metrics', cluster: '', receiver: 'incmon', tokens: [], events: 3, rejections: 0 },
    ...{ lastEventAt: '2026-03-14T12:00:00.000Z', lastRejectionAt: null, heartbeat: null },
    ...{ clockOffsetSeconds: 0, lacksCluster: false },
    ...{ deliveryInterval: null, eventsByHour: Array.from({ length: 24 }, () => 0) },
  })
})

test('the events of each hour and the delivery interval are listed, also after a restart', async (t) => {
  const { acme, clock, deps, request } = makeWorld(t)
  const { token } = acme
  const alert = { labels: { alertname: 'Down', service: 'cart' }, status: 'firing', startsAt: '2026-03-14T12:00:00Z' }
  const body = { groupKey: 'g', receiver: 'incmon', version: '4', alerts: [alert] }
  for (const minutes of [0, 2, 4, 62]) {
    clock.now = NOON + minutes * MINUTE
    await request('POST', '/api/webhooks/metrics', { token, body })
  }
  await deps.engine.reload()
  await request('POST', '/api/webhooks/metrics', { token, body })
  const [sender] = (await request('GET', '/api/sources', { token })).body.data
  assert.deepEqual(sender.eventsByHour.slice(-3), [0, 3, 2])
  assert.equal(sender.deliveryInterval, 58 * 60)
})

test('the last three tokens of a sender are listed, the newest first, also after a restart', async (t) => {
  const { acme, charlie, deps, request } = makeWorld(t)
  const body = { receiver: 'incmon', version: '4', alerts: [] }
  const create = async (name: string) =>
    (await request('POST', '/api/tokens', { token: acme.token, body: { name, scopes: ['ingest'] } })).body.token
  const [berlin, paris] = [await create('berlin'), await create('paris')]
  const send = (token: string) => request('POST', '/api/webhooks/metrics', { token, body })
  for (const token of [await create('oslo'), await create('rome'), berlin, paris, berlin]) await send(token)
  await deps.engine.reload()
  const tokensFor = async (token: string) =>
    (await request('GET', '/api/sources', { token })).body.data.map(({ tokens }: { tokens: string[] }) => tokens)
  assert.deepEqual(await tokensFor(acme.token), [['berlin', 'paris', 'rome']])
  assert.deepEqual(await tokensFor(charlie.token), [])
})

test('a body that cannot be read counts for the sender that was heard last, and is no sender of its own', async (t) => {
  const { acme, request } = makeWorld(t)
  const { token } = acme
  const sources = async () => (await request('GET', '/api/sources', { token })).body.data
  await request('POST', '/api/webhooks/metrics', { token, body: '{"alerts": [' })
  assert.deepEqual(
    (await sources()).map(({ receiver }: { receiver: string }) => receiver),
    [''],
  )
  const labels = { alertname: 'Down', service: 'cart' }
  const alert = { labels, status: 'firing', startsAt: '2026-03-14T12:00:00Z' }
  await request('POST', '/api/webhooks/dashboard', { token, body: { receiver: 'grafana', alerts: [alert] } })
  await request('POST', '/api/webhooks/dashboard', { token, body: '{"alerts": [' })
  const [grafana, ...others] = (await sources()).filter(({ source }: { source: string }) => source === 'dashboard')
  assert.deepEqual([grafana.receiver, grafana.events, grafana.rejections, others], ['grafana', 1, 1, []])
})

test('a heartbeat is missing if it is late', async (t) => {
  const { db, acme, request } = makeWorld(t)
  makeSender(db, acme, 'beats', { heartbeat_at: NOON, heartbeat_due_at: NOON + MINUTE })
  makeSender(db, acme, 'stopped', { heartbeat_at: NOON, last_event_at: NOON - 1 })
  const { data } = (await request('GET', '/api/sources', { token: acme.token })).body
  assert.deepEqual(
    data.map(({ heartbeat }: { heartbeat: object }) => heartbeat),
    [false, true].map((silent) => ({ lastAt: '2026-03-14T12:00:00.000Z', silent })),
  )
})

test('a sender without a cluster is reported if another sender of the organization has one', async (t) => {
  const { db, acme, charlie, request } = makeWorld(t)
  makeSender(db, acme, 'bare', { names_cluster: 0 })
  makeSender(db, charlie, 'prod', { names_cluster: 1 })
  const lacking = async () => {
    const { data } = (await request('GET', '/api/sources', { token: acme.token })).body
    return data.flatMap((one: { lacksCluster: boolean; receiver: string }) => (one.lacksCluster ? one.receiver : []))
  }
  assert.deepEqual(await lacking(), [])
  makeSender(db, acme, 'prod', { names_cluster: 1 })
  assert.deepEqual(await lacking(), ['bare'])
})

test('an invalid page is refused with its name', async (t) => {
  const { acme, request } = makeWorld(t)
  const { status, body } = await request('GET', '/api/sources?page=-1', { token: acme.token })
  assert.deepEqual([status, body.errors[0].path], [400, 'page'])
})

test('Charlie sees no foreign records', async (t) => {
  const { db, acme, charlie, request } = makeWorld(t)
  makeSender(db, acme, 'incmon')
  assert.deepEqual((await request('GET', '/api/sources', { token: charlie.token })).body.data, [])
})
