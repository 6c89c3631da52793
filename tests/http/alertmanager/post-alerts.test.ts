/** POST /alertmanager/api/v2/alerts: what Prometheus and other rulers send. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { withEngine } from '../../../src/actions/deps.ts'
import { DEFAULT_LIMITS } from '../../../src/domain/limits.ts'
import { makeWorld, type Sent } from '../../helpers/app.ts'
import { MINUTE, makeToken } from '../../helpers/factory.ts'

const PATH = '/alertmanager/api/v2/alerts'
const JSON_TYPE = { 'Content-Type': 'application/json' }
const labels = { alertname: 'HighErrorRate', namespace: 'shop', service: 'cart', severity: 'critical' }
const ALERT = { labels, annotations: { summary: 'Errors' }, startsAt: '2026-03-14T11:59:00Z' }
const ends = (minutes: number) => new Date(Date.parse('2026-03-14T12:00:00Z') + minutes * MINUTE).toISOString()

function makePrometheus(t: TestContext) {
  const world = makeWorld(t)
  const { token } = world.acme
  const push = (body: unknown, sent: Sent = {}) =>
    world.request('POST', PATH, { token, body, headers: JSON_TYPE, ...sent })
  const alerts = async (query = '') => (await world.request('GET', `/api/alerts${query}`, { token })).body.data
  return { ...world, token, push, alerts }
}

test('an alert is stored, and the response is 200 without a body', async (t) => {
  const { push, alerts } = makePrometheus(t)
  const { status, text } = await push([{ ...ALERT, endsAt: ends(4) }])
  assert.deepEqual([status, text], [200, ''])
  const [alert] = await alerts()
  assert.deepEqual([alert.name, alert.status, alert.labels], ['HighErrorRate', 'firing', labels])
})

test('an alert with an end in the past is resolved', async (t) => {
  const { push, alerts } = makePrometheus(t)
  await push([{ ...ALERT, endsAt: ends(4) }])
  await push([{ ...ALERT, endsAt: ends(-0.5) }])
  const [alert] = await alerts()
  assert.deepEqual([alert.status, alert.resolution, alert.endsAt], ['resolved', 'reported', ends(-0.5)])
})

test('alerts that are sent again with a later end are one alert with one event', async (t) => {
  const { push, alerts, clock, request, token } = makePrometheus(t)
  for (const minutes of [4, 5, 6]) {
    await push([{ ...ALERT, endsAt: ends(minutes) }])
    clock.now += MINUTE
  }
  const [alert, ...more] = await alerts()
  const { body } = await request('GET', `/api/alerts/${alert.id}`, { token })
  assert.deepEqual([more.length, alert.occurrences, body.events.length], [0, 3, 1])
})

test('each copy of equal bytes without an end lets the alert fire for five more minutes', async (t) => {
  const { push, clock, request, token, deps } = makePrometheus(t)
  for (let copy = 0; copy < 3; copy += 1) {
    await push([ALERT])
    clock.now += 4 * MINUTE
  }
  const list = async () => (await request('GET', PATH, { token })).body.map(({ endsAt }: { endsAt: string }) => endsAt)
  assert.deepEqual(await list(), [ends(13)])
  // The end of a single fingerprint is in the row of its alert.
  assert.deepEqual(deps.db.all(deps.db.sql.selectFrom('alert_fingerprints').selectAll()), [])
  clock.now += MINUTE
  assert.deepEqual(await list(), [])
})

test('an alert that arrives from Prometheus and from Alertmanager’s webhook is one alert', async (t) => {
  const { push, alerts, request, token } = makePrometheus(t)
  await push([{ ...ALERT, endsAt: ends(4) }])
  const webhook = { version: '4', receiver: 'incmon', groupKey: '{}', alerts: [{ ...ALERT, status: 'firing' }] }
  await request('POST', '/api/webhooks/metrics', { token, body: webhook })
  assert.deepEqual(
    (await alerts()).map(({ occurrences }: { occurrences: number }) => occurrences),
    [2],
  )
})

test('the alerts of two Prometheus replicas are one alert', async (t) => {
  const { push, alerts } = makePrometheus(t)
  for (const replica of ['a', 'b']) {
    await push([{ ...ALERT, labels: { ...labels, prometheus_replica: replica }, endsAt: ends(4) }])
  }
  assert.equal((await alerts()).length, 1)
})

test('invalid alerts do not affect the valid ones, and the response names each fault', async (t) => {
  const { push, alerts, request, token } = makePrometheus(t)
  const { status, body } = await push([{ labels: { '1x': 'a' } }, { ...ALERT, endsAt: ends(4) }, { labels: {} }])
  assert.equal(status, 400)
  assert.equal(body, 'invalid label set: invalid name "1x"; at least one label pair required')
  assert.equal((await alerts()).length, 1)
  const rejections = await request('GET', '/api/rejections', { token })
  assert.equal(rejections.body.pagination.total, 2)
})

for (const [what, item, message] of [
  ['no labels', {}, 'labels: expected object'],
  ['labels that are a list', { labels: ['a'] }, 'labels: expected object'],
  ['only empty labels', { labels: { a: '' } }, 'at least one label pair required'],
  ['a label without a name', { labels: { '': 'a' } }, 'invalid label set: invalid name ""'],
  ['a number as a label', { labels: { a: 1 } }, 'labels: expected a string as the value of "a"'],
  [
    'an annotation with an invalid name',
    { labels, annotations: { '2': 'x' } },
    'invalid annotations: invalid name "2"',
  ],
  ['an end before its start', { ...ALERT, endsAt: ends(-10) }, 'start time must be before end time'],
  ['a start in ten years', { labels, startsAt: '2036-01-01T00:00:00Z' }, 'start time must be before end time'],
  ['a number instead of an alert', 7, 'item: expected object'],
  ['null instead of an alert', null, 'item: expected object'],
] as const) {
  test(`an alert with ${what} is rejected`, async (t) => {
    const { push, alerts } = makePrometheus(t)
    const answered = await push([item])
    assert.deepEqual([answered.status, answered.body], [400, message])
    assert.deepEqual(await alerts(), [])
  })
}

for (const [what, alert] of [
  ['both times unset', { labels, startsAt: '0001-01-01T00:00:00.000Z', endsAt: '0001-01-01T00:00:00.000Z' }],
  ['names from the prototype', JSON.parse('{"labels":{"alertname":"P","__proto__":"x","constructor":"y"}}')],
  ['NUL in a value', { labels: { alertname: 'a\0b' } }],
  ['a name in UTF-8', { labels: { 'service.name': 'cart', Σ: 'c' } }],
  ['an empty label', { labels: { alertname: 'A', empty: '' } }],
  ['null as a label and as an annotation', { labels: { a: 'b', empty: null }, annotations: { note: null } }],
  ['a generatorURL that is no URL', { labels, generatorURL: '::' }],
  ['a start a minute from now', { labels, startsAt: ends(1), endsAt: ends(5) }],
] as const) {
  test(`an alert with ${what} is stored`, async (t) => {
    const { push, alerts } = makePrometheus(t)
    assert.equal((await push([alert])).status, 200)
    const [found] = await alerts()
    assert.deepEqual([found.status, 'empty' in found.labels], ['firing', false])
  })
}

for (const [what, body, status, code] of [
  ['an empty body', '', 422, 602],
  ['an object', '{}', 400, 400],
  ['a space', ' ', 422, 602],
  ['half a list', '[{', 400, 400],
  ['text', 'alerts', 400, 400],
] as const) {
  test(`${what} is refused with a code and a message`, async (t) => {
    const { push } = makePrometheus(t)
    const answered = await push(body)
    assert.deepEqual([answered.status, answered.body.code], [status, code])
  })
}

for (const body of ['[]', 'null']) {
  test(`${body} is accepted`, async (t) => {
    const { push } = makePrometheus(t)
    const answered = await push(body)
    assert.deepEqual([answered.status, answered.text], [200, ''])
  })
}

test('another content type is refused like Alertmanager does', async (t) => {
  const { push } = makePrometheus(t)
  const { status, body } = await push([ALERT], { headers: { 'Content-Type': 'text/plain' } })
  const message = 'unsupported media type "text/plain", only [application/json] are allowed'
  assert.deepEqual([status, body], [415, { code: 415, message }])
})

test('the token can be the password of basic authentication', async (t) => {
  const { push, request, token, alerts } = makePrometheus(t)
  const headers = { ...JSON_TYPE, Authorization: `Basic ${Buffer.from(`prometheus:${token}`).toString('base64')}` }
  assert.equal((await request('POST', PATH, { body: [ALERT], headers })).status, 200)
  assert.equal((await alerts()).length, 1)
  const wrong = { ...JSON_TYPE, Authorization: `Basic ${Buffer.from('prometheus:secret').toString('base64')}` }
  const refused = await push([ALERT], { headers: wrong })
  assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer, Basic realm="incmon"'])
})

test('a token without the ingest scope is refused', async (t) => {
  const { push, db, acme, alerts } = makePrometheus(t)
  const { status, body } = await push([ALERT], { token: makeToken(db, acme, ['read', 'write']) })
  assert.deepEqual([status, body.code], [403, 403])
  assert.deepEqual(await alerts(), [])
})

test('Charlie’s alerts belong to Charlie', async (t) => {
  const { push, alerts, charlie, request } = makePrometheus(t)
  await push([{ ...ALERT, endsAt: ends(4) }])
  await push([{ ...ALERT, endsAt: ends(-0.5) }], { token: charlie.token })
  assert.equal((await alerts())[0].status, 'firing')
  assert.equal((await request('GET', '/api/alerts', { token: charlie.token })).body.pagination.total, 1)
})

test('ten thousand alerts in one request are stored', async (t) => {
  const { push, alerts } = makePrometheus(t)
  const many = Array.from({ length: 10_000 }, (_, pod) => ({ ...ALERT, labels: { ...labels, pod: `p-${pod}` } }))
  assert.equal((await push(many)).status, 200)
  assert.equal((await alerts('?limit=1')).length, 1)
})

const fluxEvent = (reason: string, severity: string, at = ends(-1)) => {
  const of = { kind: 'Kustomization', name: 'cart', namespace: 'shop', reason, severity }
  const found = { labels: { alertname: `FluxKustomization${reason}`, ...of }, annotations: { message: 'Of cart' } }
  return { status: 'firing', ...found, startsAt: at }
}

test('Flux’s events become events, not alerts, and one that is sent again is stored once', async (t) => {
  const { push, alerts, request, token } = makePrometheus(t)
  const webhook = (...sent: object[]) =>
    request('POST', '/api/webhooks/metrics', { token, body: { version: '4', receiver: 'flux', alerts: sent } })
  const success = fluxEvent('ReconciliationSucceeded', 'info')
  for (const send of [() => push([success]), () => webhook(success)])
    for (const _ of [1, 2]) assert.equal((await send()).status, 200)
  await webhook({ ...success, status: 'resolved', endsAt: ends(0) })
  assert.deepEqual(await alerts(), [])
  const { body } = await request('GET', '/api/events', { token })
  assert.deepEqual(
    body.data.map(({ source, name }: Record<string, string>) => [source, name]),
    [['cluster', 'ReconciliationSucceeded']],
  )
  await push([fluxEvent('ReconciliationSucceeded', 'info', ends(0))])
  assert.equal((await request('GET', '/api/events', { token })).body.data.length, 2)
})

for (const path of ['/alertmanager/api/v1/alerts', '/alertmanager/api/v1/status/buildinfo']) {
  test(`${path} was removed, as in Alertmanager, whoever asks`, async (t) => {
    const { request, token, charlie } = makePrometheus(t)
    for (const own of [token, charlie.token])
      for (const method of ['GET', 'POST']) {
        const { status, body } = await request(method, path, { token: own })
        const error = 'the API v1 was removed; use /alertmanager/api/v2'
        assert.deepEqual([status, body], [410, { status: 'deprecated', error }])
      }
  })
}

for (const path of ['/alertmanager/api/v2/nope', '/alertmanager/x']) {
  test(`${path} does not exist`, async (t) => {
    const { request, token } = makePrometheus(t)
    const { status, body } = await request('GET', path, { token })
    assert.deepEqual([status, body.message], [404, `path ${path.slice('/alertmanager'.length)} was not found`])
  })
}

test('another method is refused with the allowed ones', async (t) => {
  const { request, token } = makePrometheus(t)
  const { status, body, headers } = await request('PUT', PATH, { token })
  assert.deepEqual([status, body.code, headers.get('allow')?.includes('POST')], [405, 405, true])
})

test('a browser may call the API from another origin', async (t) => {
  const { request } = makePrometheus(t)
  const { status, headers } = await request('OPTIONS', PATH)
  assert.deepEqual([status, headers.get('access-control-allow-origin')], [200, '*'])
  assert.match(headers.get('access-control-allow-headers') ?? '', /Authorization/)
})

test('a new alert beyond the limit gives 503 with Retry-After, and known alerts are still updated', async (t) => {
  const limits = () => ({ ...DEFAULT_LIMITS, 'live-alerts': 1 })
  const { acme, request } = makeWorld(t, (deps) => withEngine({ ...deps, limits }).engine)
  const push = (names: readonly string[]) => {
    const body = names.map((alertname) => ({ ...ALERT, labels: { ...labels, alertname }, endsAt: ends(4) }))
    return request('POST', PATH, { token: acme.token, body, headers: JSON_TYPE })
  }
  const { status, headers, body } = await push(['A', 'B'])
  assert.deepEqual([status, headers.get('retry-after'), body.code], [503, '5', 503])
  assert.match(body.message, /^1 new alert not stored, and 1 other stored/)
  assert.equal((await push(['A'])).status, 200)
})
