/** GET /api/alerts, and resolving an alert by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { DAY, MINUTE, makeAlert, makeEvent, makeIncident, makeService, NOON, newUuid } from '../helpers/factory.ts'

/** Creates Acme's cart service with three alerts, a minute apart, and its web service without alerts. */
function acmesAlerts(t: Parameters<typeof makeWorld>[0]) {
  const world = makeWorld(t)
  const { db, acme } = world
  const [cart, web] = [makeService(db, acme, 'cart'), makeService(db, acme, 'web')]
  const over = { status: 'resolved', resolution: 'reported', ends_at: NOON } as const
  const oldest = makeAlert(db, acme, cart, { name: 'DiskFull', starts_at: NOON - 2 * MINUTE, summary: '100% of /data' })
  const middle = makeAlert(db, acme, cart, { ...over, starts_at: NOON - MINUTE, source: 'ci', severity: 'info' })
  const newest = makeAlert(db, acme, cart, { starts_at: NOON, severity: 'critical', summary: 'Slow Checkout' })
  const list = async (query: string) => (await world.request('GET', `/api/alerts?${query}`, { token: acme.token })).body
  return { ...world, cart, web, oldest, middle, newest, list }
}

test('lists alerts by start, newest first, with data and pagination', async (t) => {
  const { oldest, middle, newest, list } = acmesAlerts(t)
  const { data, pagination } = await list('')
  assert.deepEqual(data.map(idOf), [newest.id, middle.id, oldest.id])
  assert.deepEqual(pagination, { page: 1, limit: 50, total: 3, totalPages: 1 })
})

test('keeps a stable order across pages if starts are equal', async (t) => {
  const { db, acme, cart, list } = acmesAlerts(t)
  const twins = Array.from({ length: 4 }, () => makeAlert(db, acme, cart, { starts_at: NOON + MINUTE }).id)
  const pages = [await list('limit=2'), await list('limit=2&page=2')]
  assert.deepEqual(
    pages.flatMap(({ data }) => data.map(idOf)),
    twins.reverse(),
  )
})

test('an alert has all documented fields', async (t) => {
  const { db, acme, cart, newest, list } = acmesAlerts(t)
  const incident = makeIncident(db, acme, cart)
  db.run(db.sql.updateTable('alerts').set({ incident_id: incident.key }).where('id', '=', newest.key))
  const [alert] = (await list('')).data
  assert.deepEqual(alert, {
    ...{ id: newest.id, serviceId: cart.id, incidentId: incident.id, source: 'metrics', name: 'HighLatency' },
    ...{ severity: 'critical', status: 'firing', resolution: null, summary: 'Slow Checkout', occurrences: 1 },
    ...{ labels: { alertname: 'HighLatency' }, annotations: {}, links: {}, fingerprint: 'cbf29ce484222325' },
    ...{ startsAt: '2026-03-14T12:00:00.000Z', endsAt: null, lastSeenAt: '2026-03-14T12:00:00.000Z' },
    silencedBy: [],
  })
})

for (const [query, expected] of [
  ['status=firing', ['newest', 'oldest']],
  ['status=firing&from=2026-03-14T12:00:00Z&q=slow', ['newest']],
  ['status=resolved', ['middle']],
  ['severity=critical', ['newest']],
  ['source=ci', ['middle']],
  ['from=2026-03-14T11:59:00Z', ['newest', 'middle']],
  ['to=2026-03-14T11:59:00Z', ['oldest']],
  ['from=2026-03-14T12:59:00%2B01:00&to=2026-03-14', ['newest', 'middle']],
  ['q=checkout+SLOW', ['newest']],
  ['q=100%25', ['oldest']],
  ['q=diskfull+data', ['oldest']],
  ['q=_', []],
  ['unknown=1', ['newest', 'middle', 'oldest']],
] as const) {
  test(`?${query} returns ${expected.length}`, async (t) => {
    const { list, ...made } = acmesAlerts(t)
    const { data, pagination } = await list(query)
    assert.deepEqual(
      data.map(idOf),
      expected.map((name) => made[name].id),
    )
    assert.equal(pagination.total, expected.length)
  })
}

test('serviceId filters by service; an unknown or foreign service gives an empty list', async (t) => {
  const { db, charlie, cart, web, list } = acmesAlerts(t)
  const foreign = makeService(db, charlie, 'cart')
  makeAlert(db, charlie, foreign)
  const totals = await Promise.all([cart.id, web.id, newUuid(), foreign.id].map((id) => list(`serviceId=${id}`)))
  assert.deepEqual(
    totals.map(({ pagination }) => pagination.total),
    [3, 0, 0, 0],
  )
})

test('incidentId filters together with other parameters; a foreign incident gives an empty list', async (t) => {
  const { db, acme, charlie, cart, web, newest, list } = acmesAlerts(t)
  const incident = makeIncident(db, acme, cart)
  const foreign = makeIncident(db, charlie, makeService(db, charlie, 'cart'))
  const own = makeAlert(db, acme, cart, { incident_id: incident.key, starts_at: NOON + MINUTE, severity: 'error' })
  const of = `incidentId=${incident.id}`
  const queries = [of, `${of}&status=firing`, `${of}&serviceId=${cart.id}`, `${of}&from=2026-03-14T12:01:00Z`]
  const found = await Promise.all(queries.map(list))
  for (const { data } of found) assert.deepEqual(data.map(idOf), [own.id])
  const without = [`${of}&severity=info`, `${of}&serviceId=${web.id}`, `${of}&q=nothing`, `incidentId=${foreign.id}`]
  const empty = await Promise.all([...without, `incidentId=${newest.id}`].map(list))
  assert.deepEqual(new Set(empty.map(({ pagination }) => pagination.total)), new Set([0]))
})

test('serviceId also filters firing alerts', async (t) => {
  const { db, charlie, cart, web, list } = acmesAlerts(t)
  const foreign = makeService(db, charlie, 'cart')
  makeAlert(db, charlie, foreign)
  const ids = [cart.id, web.id, newUuid(), foreign.id]
  const totals = await Promise.all(ids.map((id) => list(`status=firing&serviceId=${id}`)))
  assert.deepEqual(
    totals.map(({ pagination }) => pagination.total),
    [2, 0, 0, 0],
  )
})

for (const [query, field] of [
  ['page=0', 'page'],
  ['page=1.5', 'page'],
  ['page=x', 'page'],
  ['page=99999999999', 'page'],
  ['limit=0', 'limit'],
  ['limit=-1', 'limit'],
  ['limit=501', 'limit'],
  ['limit=1000000000', 'limit'],
  ['limit=', 'limit'],
  ['from=yesterday', 'from'],
  ['to=2026-02-30', 'to'],
  ['from=2026-03-15&to=2026-03-13', 'from'],
  ['status=open', 'status'],
  ['severity=Critical', 'severity'],
  ['source=email', 'source'],
  ['serviceId=cart', 'serviceId'],
  ['incidentId=41', 'incidentId'],
] as const) {
  test(`?${query} is refused, and the error names ${field}`, async (t) => {
    const { acme, request } = makeWorld(t)
    const { status, body } = await request('GET', `/api/alerts?${query}`, { token: acme.token })
    assert.deepEqual([status, body.errors.map(({ path }: { path: string }) => path)], [400, [field]])
  })
}

test('a page after the last one is empty and has the correct total', async (t) => {
  const { list } = acmesAlerts(t)
  const { data, pagination } = await list('page=1000000000&limit=2')
  assert.deepEqual([data, pagination], [[], { page: 1_000_000_000, limit: 2, total: 3, totalPages: 2 }])
})

test('the Link header leads through all pages and keeps the filter', async (t) => {
  const { acme, request } = acmesAlerts(t)
  const { headers } = await request('GET', '/api/alerts?page=2&limit=1&q=a%20b&status=firing', { token: acme.token })
  const past = await request('GET', '/api/alerts?page=2&limit=1', { token: acme.token })
  assert.match(headers.get('link') ?? '', /<\/api\/alerts\?page=1&limit=1&q=a\+b&status=firing>; rel="first"/)
  assert.deepEqual(
    [...(past.headers.get('link') ?? '').matchAll(/page=(\d)&limit=1>; rel="(\w+)"/g)].map(
      ([, page, rel]) => `${rel}${page}`,
    ),
    ['first1', 'prev1', 'next3', 'last3'],
  )
})

test('shows an alert with its newest 50 events', async (t) => {
  const { db, acme, newest, request } = acmesAlerts(t)
  for (let i = 0; i < 51; i++) makeEvent(db, acme, { alert_id: newest.key, at: NOON + i })
  const { body } = await request('GET', `/api/alerts/${newest.id}`, { token: acme.token })
  assert.deepEqual([body.events.length, body.events[0].at], [50, '2026-03-14T12:00:00.050Z'])
})

test('Charlie sees no foreign alert; a foreign and an unknown ID give the same 404', async (t) => {
  const { charlie, newest, request } = acmesAlerts(t)
  const token = charlie.token
  const { body } = await request('GET', '/api/alerts', { token })
  const foreign = await request('GET', `/api/alerts/${newest.id}`, { token })
  const missing = await request('GET', `/api/alerts/${newUuid()}`, { token })
  assert.deepEqual([body.pagination.total, foreign.status, foreign.text], [0, 404, missing.text])
})

test('an alert that a person resolves has the status resolved and the resolution manual', async (t) => {
  const { acme, clock, newest, request } = acmesAlerts(t)
  clock.now = NOON + DAY
  const body = { status: 'resolved' }
  const answer = await request('PATCH', `/api/alerts/${newest.id}`, { token: acme.token, body })
  const { status, resolution, endsAt } = answer.body
  assert.deepEqual([status, resolution, endsAt], ['resolved', 'manual', '2026-03-15T12:00:00.000Z'])
})

test('resolving a resolved alert changes nothing', async (t) => {
  const { acme, middle, request } = acmesAlerts(t)
  const answer = await request('PATCH', `/api/alerts/${middle.id}`, { token: acme.token, body: { status: 'resolved' } })
  assert.deepEqual([answer.status, answer.body.resolution], [200, 'reported'])
})

test('a person cannot set an alert to firing', async (t) => {
  const { acme, middle, request } = acmesAlerts(t)
  const { status } = await request('PATCH', `/api/alerts/${middle.id}`, {
    token: acme.token,
    body: { status: 'firing' },
  })
  assert.equal(status, 400)
})

test("Charlie cannot end Acme's alert", async (t) => {
  const { charlie, newest, list, request } = acmesAlerts(t)
  const body = { status: 'resolved' }
  const { status } = await request('PATCH', `/api/alerts/${newest.id}`, { token: charlie.token, body })
  assert.deepEqual([status, (await list('')).data[0].status], [404, 'firing'])
})

const idOf = ({ id }: { id: string }) => id

test("the suspected cause of a pod's alert is the failed node, visible only to its own organization", async (t) => {
  const { acme, charlie, request } = makeWorld(t)
  const event = (reason: string, object: object) =>
    request('POST', '/api/webhooks/cluster', { token: acme.token, body: { reason, message: reason, ...object } })
  await event('NodeNotReady', { involvedObjectKind: 'Node', podName: 'worker-1' })
  await event('FailedMount', { namespace: 'shop', podName: 'cart-5d4f8c7b9-x2kqp', nodeName: 'worker-1' })
  await event('FailedMount', { namespace: 'shop', podName: 'mail-5d4f8c7b9-x2kqp', nodeName: 'worker-2' })
  const { data } = (await request('GET', '/api/alerts', { token: acme.token })).body
  const details = await Promise.all(
    data.map(async ({ id }: { id: string }) => (await request('GET', `/api/alerts/${id}`, { token: acme.token })).body),
  )
  const causes = details.map(({ labels, suspectedCause }) => [labels.name, suspectedCause?.ref ?? null])
  assert.deepEqual(causes.sort(), [
    ['cart-5d4f8c7b9-x2kqp', 'node/worker-1'],
    ['mail-5d4f8c7b9-x2kqp', null],
    ['worker-1', null],
  ])
  assert.equal((await request('GET', `/api/alerts/${data[0].id}`, { token: charlie.token })).status, 404)
})

for (const [query, why] of [
  ['', 'the newest'],
  ['&status=firing', 'the firing ones'],
  ['&severity=warning', 'those of a severity'],
] as const) {
  test(`refuses a page with megabytes of text, and says which limit works: ${why}`, async (t) => {
    const { db, acme, request } = makeWorld(t)
    const service = makeService(db, acme, 'wordy')
    const labels = JSON.stringify({ log: 'x'.repeat(500_000) })
    for (let index = 0; index < 10; index += 1) makeAlert(db, acme, service, { labels, severity: 'warning' })
    const list = (limit: number) => request('GET', `/api/alerts?limit=${limit}${query}`, { token: acme.token })
    const refused = await list(10)
    assert.deepEqual([refused.status, refused.body.detail.match(/such as \d+/)?.[0]], [400, 'such as 8'])
    assert.equal((await list(8)).body.data.length, 8)
  })
}

test('the alerts of a service and of an incident end before they have megabytes of text', async (t) => {
  const { db, acme, request } = makeWorld(t)
  const service = makeService(db, acme, 'wordy')
  const incident = makeIncident(db, acme, service)
  const annotations = JSON.stringify({ log: 'x'.repeat(500_000) })
  const ids = Array.from({ length: 10 }, (_, index) => {
    return makeAlert(db, acme, service, { annotations, incident_id: incident.key, starts_at: NOON + index }).id
  })
  const newest = ids.toReversed().slice(0, 8)
  const ofService = (await request('GET', `/api/services/${service.id}`, { token: acme.token })).body
  assert.deepEqual(ofService.recentAlerts.map(idOf), newest)
  const ofIncident = (await request('GET', `/api/incidents/${incident.id}`, { token: acme.token })).body
  assert.deepEqual(ofIncident.alerts.map(idOf), newest)
  assert.equal(ofIncident.alerts[0].annotations.log.length, 500_000)
})
