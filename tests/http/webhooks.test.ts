/** POST /api/webhooks/…: the responses to senders. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { withEngine } from '../../src/actions/deps.ts'
import { IncmonError } from '../../src/domain/error.ts'
import { DEFAULT_LIMITS } from '../../src/domain/limits.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeToken } from '../helpers/factory.ts'
import { alertGroup, payload, verdicts } from '../helpers/payloads.ts'

const METRICS = '/api/webhooks/metrics'
const GOOD = { ...JSON.parse(alertGroup(1)).alerts[0], startsAt: '2026-03-14T11:59:00Z' }

test('every payload gets the expected status', async (t) => {
  const { acme, request } = makeWorld(t)
  for (const { name, endpoint, headers, body, status, events, why } of verdicts()) {
    await t.test(`${endpoint} ${name}: ${status}. ${why}`, async () => {
      const sent = Object.entries(headers).map(([key, value]) => [key, value.replace('<API_TOKEN>', acme.token)])
      const answer = await request('POST', `/api/webhooks/${endpoint}`, { headers: Object.fromEntries(sent), body })
      const { eventId, eventIds = eventId ? [eventId] : [] } = answer.body
      assert.deepEqual([answer.status, eventIds.length], [status, events])
      for (const id of eventIds)
        assert.equal((await request('GET', `/api/events/${id}`, { token: acme.token })).status, 200)
    })
  }
})

describe('a success', () => {
  test('of metrics lists the event IDs in item order', async (t) => {
    const { acme, request } = makeWorld(t)
    const { body } = await request('POST', METRICS, { token: acme.token, body: alertGroup(3) })
    const pods = await Promise.all(
      body.eventIds.map((id: string) => request('GET', `/api/events/${id}`, { token: acme.token })),
    )
    assert.equal(body.received, true)
    assert.deepEqual(
      pods.map((answer) => answer.body.payload.labels.pod),
      ['worker-0', 'worker-1', 'worker-2'],
    )
  })

  test('warns about problems with an accepted item, and identifies the item', async (t) => {
    const { acme, request } = makeWorld(t)
    const odd = { ...GOOD, status: 'fireing', labels: { ...GOOD.labels, owner: { team: 'shop' } } }
    const { status, body } = await request('POST', METRICS, { token: acme.token, body: { alerts: [GOOD, odd] } })
    assert.deepEqual([status, body.eventIds.length, body.rejected], [200, 2, undefined])
    assert.deepEqual(body.warnings, [
      { index: 1, warning: 'labels.owner: expected string; the label was dropped' },
      { index: 1, warning: 'status: "fireing" is unknown; the alert is treated as firing' },
    ])
  })

  test('contains at most 100 warnings, also about a request that is stored in parts', async (t) => {
    const { acme, request } = makeWorld(t)
    for (const count of [101, 1_200]) {
      const alerts = Array.from({ length: count }, (_, index) => ({
        ...GOOD,
        status: 'fireing',
        fingerprint: `${index}`,
      }))
      const { status, body } = await request('POST', METRICS, { token: acme.token, body: { alerts } })
      assert.deepEqual([status, body.eventIds.length, body.warnings.length], [200, count, 100])
      assert.equal(body.warnings.at(-1).index, 99)
    }
  })

  test('of dashboard also contains the first event ID', async (t) => {
    const { acme, request } = makeWorld(t)
    const { body } = await request('POST', '/api/webhooks/dashboard', { token: acme.token, body: alertGroup(2) })
    assert.deepEqual([body.eventIds.length, body.eventId], [2, body.eventIds[0]])
  })

  test('of dashboard without items contains no event ID', async (t) => {
    const { acme, request } = makeWorld(t)
    const { body } = await request('POST', '/api/webhooks/dashboard', { token: acme.token, body: { alerts: [] } })
    assert.deepEqual(body, { received: true, eventId: null, eventIds: [] })
  })

  for (const [source, file] of [
    ['cluster', 'cluster-flat.json'],
    ['ci', 'ci-pipeline-failed.json'],
  ] as const) {
    test(`of ${source} names the event`, async (t) => {
      const { acme, request } = makeWorld(t)
      const { body } = await request('POST', `/api/webhooks/${source}/`, { token: acme.token, body: payload(file) })
      assert.deepEqual([body.received, typeof body.eventId, body.eventIds], [true, 'string', undefined])
    })
  }
})

describe('an invalid item', () => {
  test('does not affect other items; it is listed and stored', async (t) => {
    const { acme, request } = makeWorld(t)
    const body = { alerts: [GOOD, { labels: 'none' }, GOOD] }
    const answer = await request('POST', METRICS, { token: acme.token, body })
    const kept = await request('GET', '/api/rejections', { token: acme.token })
    assert.deepEqual([answer.status, answer.body.eventIds.length, answer.body.rejected[0].index], [200, 2, 1])
    assert.deepEqual(
      kept.body.data.map(({ index }: { index: number }) => index),
      [1],
    )
  })

  test('that is the only one gets 400 and is stored', async (t) => {
    const { acme, request } = makeWorld(t)
    const { status, body } = await request('POST', METRICS, { token: acme.token, body: { alerts: [{}] } })
    const kept = await request('GET', '/api/rejections', { token: acme.token })
    assert.deepEqual([status, body.errors[0].path, kept.body.pagination.total], [400, 'alerts[0].labels', 1])
  })

  test('gets a complete error that sends nobody to an endpoint that the token cannot read', async (t) => {
    const { acme, request } = makeWorld(t)
    const body = { reason: 'BackOff', message: 'x', podname: 'cart-1', namespace: 'shop' }
    const answer = await request('POST', '/api/webhooks/cluster', { token: acme.token, body })
    const { detail, errors } = answer.body
    assert.match(detail, /^the only item cannot be used and is listed on the Sources page: podName: expected/)
    assert.doesNotMatch(answer.text, /rejections|…/)
    assert.match(errors[0].message, /did you mean podName instead of podname\?$/)
  })

  test('among thousands gives a response shorter than 1 kB', async (t) => {
    const { acme, request } = makeWorld(t)
    const body = { alerts: Array.from({ length: 2000 }, () => ({ labels: 'x'.repeat(500) })) }
    const { status, text } = await request('POST', METRICS, { token: acme.token, body })
    assert.equal(status, 400)
    assert.ok(text.length <= 1024, `${text.length} bytes`)
  })

  test('that is not JSON is stored as one rejection without secrets', async (t) => {
    const { acme, request } = makeWorld(t)
    const answer = await request('POST', METRICS, { token: acme.token, body: 'user=me&password=hunter2' })
    const { data } = (await request('GET', '/api/rejections', { token: acme.token })).body
    assert.deepEqual([answer.status, data.length, data[0].index], [400, 1, 0])
    assert.equal(data[0].payload.includes('hunter2'), false)
  })

  test('of several megabytes is stored with its first 64 kB', async (t) => {
    const { acme, request } = makeWorld(t)
    await request('POST', METRICS, { token: acme.token, body: 'x'.repeat(2_000_000) })
    const { data } = (await request('GET', '/api/rejections', { token: acme.token })).body
    assert.ok(data[0].payload.length <= 65_536 + 2)
  })
})

describe('a body', () => {
  test('needs no Content-Type, and accepts any', async (t) => {
    const { acme, request } = makeWorld(t)
    const types = [{}, { 'Content-Type': 'text/plain' }, { 'Content-Type': 'application/x-www-form-urlencoded' }]
    const answers = types.map((headers) =>
      request('POST', METRICS, { token: acme.token, headers, body: alertGroup(1) }),
    )
    assert.deepEqual(
      (await Promise.all(answers)).map(({ status }) => status),
      [200, 200, 200],
    )
  })

  test('that is compressed is refused with 400', async (t) => {
    const { acme, request } = makeWorld(t)
    const sent = { token: acme.token, headers: { 'Content-Encoding': 'gzip' }, body: gzipSync(alertGroup(1)) }
    const { status, body } = await request('POST', METRICS, sent)
    assert.equal(status, 400)
    assert.match(body.detail, /Content-Encoding/)
  })

  test('over 10 MiB is refused with 413, whether its length is declared or not', async (t) => {
    const { acme, request } = makeWorld(t)
    const body = Buffer.alloc(10 * 1_048_576 + 1, ' ')
    const declared = { 'Content-Length': String(body.length) }
    const answers = [{}, declared].map((headers) => request('POST', METRICS, { token: acme.token, headers, body }))
    assert.deepEqual(
      (await Promise.all(answers)).map(({ status }) => status),
      [413, 413],
    )
  })

  test('of exactly 10 MiB is accepted', async (t) => {
    const { acme, request } = makeWorld(t)
    const body = alertGroup(1).padEnd(10 * 1_048_576, ' ')
    assert.equal((await request('POST', METRICS, { token: acme.token, body })).status, 200)
  })
})

describe('an internal error', () => {
  const failing = (engine: Engine, error: Error): Engine => ({ ...engine, submit: async () => Promise.reject(error) })

  test('a database that cannot be written gives 503 with Retry-After', async (t) => {
    const { acme, request } = makeWorld(t, ({ engine }) =>
      failing(engine, new IncmonError('unavailable', 'the disk is full')),
    )
    const { status, headers } = await request('POST', METRICS, { token: acme.token, body: alertGroup(1) })
    assert.deepEqual([status, headers.get('retry-after')], [503, '5'])
  })

  test('a new alert beyond the limit gives 503 with Retry-After and says what to do', async (t) => {
    const limits = () => ({ ...DEFAULT_LIMITS, 'live-alerts': 1 })
    const { acme, request } = makeWorld(t, (deps) => withEngine({ ...deps, limits }).engine)
    const { status, headers, body } = await request('POST', METRICS, { token: acme.token, body: alertGroup(3) })
    assert.deepEqual([status, headers.get('retry-after')], [503, '5'])
    assert.match(body.detail, /^2 new alerts not stored, and 1 other stored: .+ raise the setting limits/)
    const cluster = { podName: 'cart-5d4f8c7b9-x2kqp', namespace: 'shop', reason: 'BackOff', message: 'Back-off' }
    const stored = await request('POST', '/api/webhooks/cluster', { token: acme.token, body: cluster })
    assert.deepEqual([stored.status, stored.body.warnings?.length], [200, 1])
  })

  test('a full disk gives 503 with Retry-After', async (t) => {
    silence(t)
    const error = Object.assign(new Error('disk full in /var/lib'), { code: 'SQLITE_FULL' })
    const { acme, request } = makeWorld(t, ({ engine }) => failing(engine, error))
    const { status, text } = await request('POST', METRICS, { token: acme.token, body: alertGroup(1) })
    assert.deepEqual([status, text.includes('/var/lib')], [503, false])
    assert.match(text, /the database disk is full.+incmon doctor/)
  })

  test('any other error gives 500; its cause is logged and not sent', async (t) => {
    const lines = silence(t)
    const error = new Error('SELECT secret FROM tokens', { cause: new Error('incmon_AAAAAAAAAAAAAAAAAAAAAA') })
    const { acme, request } = makeWorld(t, ({ engine }) => failing(engine, error))
    const { status, text } = await request('POST', METRICS, { token: acme.token, body: alertGroup(1) })
    assert.deepEqual([status, /SELECT|incmon_|webhooks\.ts/.test(text), lines.length], [500, false, 1])
    const { path, error: told } = JSON.parse(lines[0] ?? '')
    assert.deepEqual([path, told.message, told.cause.message], [METRICS, 'SELECT secret FROM tokens', '[redacted]'])
  })
})

test('a token without the scope ingest gives 401 and not 403', async (t) => {
  const { acme, db, request } = makeWorld(t)
  const token = makeToken(db, acme, ['read', 'write', 'admin'])
  const { status, body } = await request('POST', METRICS, { token, body: alertGroup(1) })
  assert.equal(status, 401)
  assert.match(body.detail, /ingest scope/)
})

test("Charlie does not see what Acme's senders send", async (t) => {
  const { acme, charlie, request } = makeWorld(t)
  await request('POST', METRICS, { token: acme.token, body: { alerts: [GOOD, {}] } })
  const lists = ['events', 'alerts', 'rejections', 'sources', 'incidents'].map((list) =>
    request('GET', `/api/${list}`, { token: charlie.token }),
  )
  assert.deepEqual(
    (await Promise.all(lists)).map(({ body }) => body.data),
    [[], [], [], [], []],
  )
  assert.deepEqual((await request('GET', '/api/services', { token: charlie.token })).body, [])
})

test('a stored alert has a service, an alert and an event', async (t) => {
  const { acme, request } = makeWorld(t)
  const { body } = await request('POST', METRICS, { token: acme.token, body: alertGroup(1) })
  const [service] = (await request('GET', '/api/services', { token: acme.token })).body
  const { data } = (await request('GET', `/api/alerts?serviceId=${service.id}`, { token: acme.token })).body
  const { events } = (await request('GET', `/api/alerts/${data[0].id}`, { token: acme.token })).body
  assert.deepEqual([data[0].name, events[0].id], ['WorkerNotReady', body.eventIds[0]])
})

/** Keeps the log out of the test output. Returns its lines. */
function silence(t: { mock: { method: typeof import('node:test').mock.method } }): string[] {
  const lines: string[] = []
  t.mock.method(process.stderr, 'write', (line: string) => lines.push(line) > 0)
  return lines
}

test('a webhook that does not exist names those that do, and another unknown path does not', async (t) => {
  const { acme, request } = makeWorld(t)
  const ask = async (path: string) => (await request('POST', path, { token: acme.token, body: {} })).body.detail
  assert.match(
    await ask('/api/webhooks/alertmanager'),
    /\/api\/webhooks\/metrics for Alertmanager.*\/alertmanager\/api\/v2\/alerts for Prometheus$/,
  )
  assert.doesNotMatch(await ask('/api/nope'), /webhooks/)
  for (const version of ['v1', 'v2'])
    assert.match(await ask(`/api/${version}/alerts`), /Prometheus needs the setting path_prefix: \/alertmanager/)
})

test('Alertmanager’s alerts at the webhook of Grafana are stored with a warning', async (t) => {
  const { acme, request } = makeWorld(t)
  const body = { externalURL: 'http://alertmanager.example', ...JSON.parse(alertGroup(1)) }
  const { status, body: answer } = await request('POST', '/api/webhooks/dashboard', { token: acme.token, body })
  assert.deepEqual([status, answer.warnings[0].index], [200, 0])
  assert.match(answer.warnings[0].warning, /send it to \/api\/webhooks\/metrics$/)
})
