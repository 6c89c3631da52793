/** /metrics: valid in the Prometheus text format, and limited to the caller's own organization. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { recordFailure } from '../../src/store/notification/channels.ts'
import { insertNotifications, NO_FACTS } from '../../src/store/notification/outbox.ts'
import type { Db } from '../../src/store/sqlite/open.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeChannel, makeIncident, makeService, newUuid } from '../helpers/factory.ts'
import { alertGroup, payload } from '../helpers/payloads.ts'
import { readExposition } from '../helpers/prometheus.ts'

const METRICS = '/api/webhooks/metrics'
/** Each scrape adds a fraction of a second to the counters. */
const ROUNDING = 1e-6

/** Returns the caller's metrics by name and labels. */
async function figures(world: ReturnType<typeof makeWorld>, token = world.acme.token) {
  const { status, headers, text } = await world.request('GET', '/metrics', { token })
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/plain; version=0.0.4; charset=utf-8'])
  return { text, values: readExposition(text) }
}

test('a request is counted for the process and for its source', async (t) => {
  const world = makeWorld(t)
  await world.request('POST', METRICS, { token: world.acme.token, body: alertGroup(3) })
  const { values } = await figures(world)
  const source = '{source="metrics",cluster="",receiver="incmon"}'
  assert.equal(values.get('incmon_ingested_items_total'), 3)
  assert.equal(values.get(`incmon_source_items_total${source}`), 3)
  assert.equal(values.get(`incmon_source_last_seen_timestamp_seconds${source}`), world.clock.now / 1000)
  assert.equal(values.get('incmon_commit_seconds_count'), 1)
  assert.equal(values.get('incmon_batch_items_bucket{le="5"}'), 1)
})

test('invalid items and repeated requests are counted separately, dry runs are not counted', async (t) => {
  const world = makeWorld(t)
  const send = (body: unknown, key: string, path = METRICS) =>
    world.request('POST', path, { token: world.acme.token, body, headers: { 'Idempotency-Key': key } })
  await send(payload('metrics-one-bad-item.json'), 'one')
  await send(payload('metrics-one-bad-item.json'), 'one')
  await send(alertGroup(1), 'two', `${METRICS}?dryRun=1`)
  const { values } = await figures(world)
  const counted = ['ingested_items', 'rejected_items', 'repeated_deliveries'].map((name) =>
    values.get(`incmon_${name}_total`),
  )
  assert.deepEqual(counted, [2, 1, 1])
})

test('open incidents are counted for every severity, including 0', async (t) => {
  const world = makeWorld(t)
  makeIncident(world.db, world.acme, makeService(world.db, world.acme, 'cart'))
  makeIncident(world.db, world.acme, makeService(world.db, world.acme, 'shop'), {
    status: 'resolved',
    resolved_at: world.clock.now,
  })
  const { values } = await figures(world)
  const open = [...values].filter(([name]) => name.startsWith('incmon_open_incidents'))
  assert.deepEqual([open.length, open.reduce((sum, [, count]) => sum + count, 0)], [4, 1])
})

test('the use of each limit is shown beside the limit, and ended alerts do not count', async (t) => {
  const world = makeWorld(t)
  await world.request('POST', METRICS, { token: world.acme.token, body: alertGroup(3) })
  const { values } = await figures(world)
  const of = (name: string, limit: string) => values.get(`${name}{limit="${limit}"}`)
  assert.deepEqual([of('incmon_limit_used', 'live-alerts'), of('incmon_limit', 'live-alerts')], [3, 50_000])
  const charlie = (await figures(world, world.charlie.token)).values
  assert.equal(charlie.get('incmon_limit_used{limit="live-alerts"}'), 0)
})

test('a silence that has ended does not count towards the limit', async (t) => {
  const world = makeWorld(t)
  const { token } = world.acme
  const silence = { matchers: [{ name: 'team', op: '=', value: 'a' }], endsAt: '2026-03-15T12:00:00Z', comment: 'x' }
  const add = async () => (await world.request('POST', '/api/silences', { token, body: silence })).body.id
  const ended = await add()
  await add()
  const used = async () => (await figures(world)).values.get('incmon_limit_used{limit="silences"}')
  assert.equal(await used(), 2)
  await world.request('DELETE', `/api/silences/${ended}`, { token })
  assert.equal(await used(), 1)
})

type Sent = { readonly channelId: number; readonly incidentId: number; readonly at: number }

/** Adds a message that was delivered. */
function makeSent(db: Db, organizationId: number, { at, ...of }: Sent): void {
  const news = { kind: 'opened', actor: null, severityBefore: null, facts: NO_FACTS, isDigest: false } as const
  insertNotifications(db, [{ id: newUuid(), organizationId, ...of, ...news, createdAt: at, dueAt: at }])
  const sent = db.sql
    .updateTable('outbox')
    .set(({ ref }) => ({ status: 'delivered', ended_at: at, leader_id: ref('id') }))
  db.run(sent.where('leader_id', 'is', null))
}

test('the messages of the busiest channel in the last 30 seconds are shown beside their limit', async (t) => {
  const world = makeWorld(t)
  const { db, acme, clock } = world
  const incident = makeIncident(db, acme, makeService(db, acme, 'cart'))
  for (const [name, ages] of [['on-call', [1_000, 29_000, 31_000]] as const, ['quiet', [2_000]] as const]) {
    const channel = makeChannel(db, acme, name)
    for (const age of ages)
      makeSent(db, acme.key, { channelId: channel.key, incidentId: incident.key, at: clock.now - age })
  }
  const { values } = await figures(world)
  const of = (name: string) => values.get(`${name}{limit="channel-messages"}`)
  assert.deepEqual([of('incmon_limit_used'), of('incmon_limit')], [2, 3])
})

test('the CPU time is counted from the start of the process', async (t) => {
  const { user, system } = process.cpuUsage()
  const { values } = await figures(makeWorld(t))
  const seconds = (kind: string) => values.get(`process_cpu_${kind}seconds_total`) ?? 0
  const isCounted = (kind: string, micros: number) => seconds(kind) > micros / 1e6 - ROUNDING
  assert.ok(isCounted('user_', user) && isCounted('system_', system))
  assert.ok(Math.abs(seconds('') - seconds('user_') - seconds('system_')) < ROUNDING)
})

test('a channel whose receiver is gone is failing, and another one is not', async (t) => {
  const world = makeWorld(t)
  const { key } = makeChannel(world.db, world.acme, 'gone')
  makeChannel(world.db, world.acme, 'on-call')
  recordFailure(world.db, key, 'the receiver responded with 410', world.clock.now, true)
  const { values } = await figures(world)
  const failing = ['gone', 'on-call'].map((name) => values.get(`incmon_channel_failing{channel="${name}"}`))
  assert.deepEqual(failing, [1, 0])
  assert.doesNotMatch((await figures(world, world.charlie.token)).text, /on-call/)
})

test('Charlie and Basil see only figures of their own organization', async (t) => {
  const world = makeWorld(t)
  await world.request('POST', METRICS, { token: world.acme.token, body: alertGroup(1) })
  makeIncident(world.db, world.acme, makeService(world.db, world.acme, 'cart'))
  for (const { token } of [world.basil, world.charlie]) {
    const { values } = await figures(world, token)
    const own = [...values].filter(([name]) => /^incmon_(source|open)/.test(name))
    assert.deepEqual([own.length, own.every(([, value]) => value === 0)], [4, true])
  }
})

test('requests are counted by declared route and status class', async (t) => {
  const world = makeWorld(t)
  const paths = [`/api/services/${newUuid()}`, `/api/services/${newUuid()}`, '/api/alerts?page=x', `/${newUuid()}`]
  for (const path of paths) await world.request('GET', path, { token: world.acme.token })
  const { text, values } = await figures(world)
  const requests = [...values].filter(([name]) => name.startsWith('incmon_http_requests_total'))
  assert.deepEqual(Object.fromEntries(requests), {
    'incmon_http_requests_total{route="GET /api/services/:id",status="4xx"}': 2,
    'incmon_http_requests_total{route="GET /api/alerts",status="4xx"}': 1,
    'incmon_http_requests_total{route="none",status="4xx"}': 1,
  })
  assert.ok(!/[\da-f]{8}-[\da-f]{4}/.test(text), 'no path as it was asked for')
})

test('the process exports its version, queue, event loop and file sizes', async (t) => {
  const { values } = await figures(makeWorld(t))
  assert.equal(values.get(`incmon_build_info{version="1.2.3",node="${process.versions.node}"}`), 1)
  assert.equal(values.get('incmon_waiting_deliveries'), 0)
  for (const name of ['database_bytes', 'database_wal_bytes', 'disk_free_bytes'])
    assert.ok((values.get(`incmon_${name}`) ?? 0) > 0, name)
  assert.ok(values.has('nodejs_eventloop_lag_p99_seconds'))
})

test('a source name is escaped', async (t) => {
  const world = makeWorld(t)
  const receiver = 'a"b\\c\nd{e="f"} 1'
  await world.request('POST', METRICS, {
    token: world.acme.token,
    body: { ...JSON.parse(String(alertGroup(1))), receiver },
  })
  const { values } = await figures(world)
  assert.equal(
    values.get('incmon_source_items_total{source="metrics",cluster="",receiver="a\\"b\\\\c\\nd{e=\\"f\\"} 1"}'),
    1,
  )
})

const isPromtoolThere = spawnSync('promtool', ['--version']).status === 0

test('promtool accepts the output', { skip: !isPromtoolThere && 'promtool is not installed' }, async (t) => {
  const world = makeWorld(t)
  await world.request('POST', METRICS, { token: world.acme.token, body: alertGroup(3) })
  const { text } = await figures(world)
  const { status, stderr, stdout } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
})
