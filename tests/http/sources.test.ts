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
    ...{ source: 'metrics', cluster: '', receiver: 'incmon', events: 3, rejections: 0 },
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
