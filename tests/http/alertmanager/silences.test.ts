/** /silences and /silence/{id} of Alertmanager's API. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../../helpers/app.ts'
import { MINUTE, makeToken } from '../../helpers/factory.ts'

const API = '/alertmanager/api/v2'
const at = (minutes: number) => new Date(Date.parse('2026-03-14T12:00:00Z') + minutes * MINUTE).toISOString()
const matchers = [{ name: 'alertname', value: 'Slow', isRegex: false, isEqual: true }]
const SILENCE = { matchers, startsAt: at(0), endsAt: at(60), createdBy: 'basil', comment: 'upgrade' }
const UNKNOWN = '3fa85f64-5717-4562-b3fc-2c963f66afa6'
type Found = { readonly id: string; readonly status: { readonly state: string } }

function makeAlertmanager(t: TestContext) {
  const world = makeWorld(t)
  const { token } = world.acme
  const call = (method: string, path: string, body?: unknown, own = token) => {
    const headers = { 'Content-Type': 'application/json' }
    return world.request(method, `${API}${path}`, { token: own, body, headers })
  }
  const put = async (body: unknown) => (await call('POST', '/silences', body)).body.silenceID
  const list = async (query = '') => (await call('GET', `/silences${query}`)).body
  return { ...world, token, call, put, list }
}

test('a silence keeps its author, its matchers and its annotations', async (t) => {
  const { put, call, request, token } = makeAlertmanager(t)
  const id = await put({ ...SILENCE, annotations: { ticket: 'OPS-1' } })
  const { body } = await call('GET', `/silence/${id}`)
  const { updatedAt, ...shown } = body
  assert.deepEqual(shown, { ...SILENCE, id, annotations: { ticket: 'OPS-1' }, status: { state: 'active' } })
  assert.equal((await request('GET', `/api/silences/${id}`, { token })).body.createdBy, 'basil')
})

test('a matcher is compared with labels only, and not with the service that incmon found', async (t) => {
  const { put, call, list } = makeAlertmanager(t)
  const alert = (more: object) => ({ labels: { alertname: 'Slow', namespace: 'shop', deployment: 'cart', ...more } })
  await put({ ...SILENCE, matchers: [{ name: 'service', value: 'cart', isRegex: false }] })
  await call('POST', '/alerts', [alert({}), alert({ service: 'cart' })])
  const { body } = await call('GET', '/alerts?active=false')
  assert.deepEqual(
    body.map(({ labels }: { labels: object }) => labels),
    [alert({ service: 'cart' }).labels],
  )
  assert.deepEqual(body[0].status.silencedBy, [(await list())[0].id])
  assert.equal((await call('GET', '/alerts?silenced=false')).body.length, 1)
})

test('a silence for warnings does not silence a critical alert of the same name', async (t) => {
  const { put, call, request, token } = makeAlertmanager(t)
  await put({ ...SILENCE, matchers: [{ name: 'severity', value: 'critical', isRegex: false, isEqual: false }] })
  const alert = (severity: string) => ({ labels: { alertname: 'Slow', namespace: 'shop', service: 'cart', severity } })
  for (const severity of ['warning', 'critical', 'warning']) await call('POST', '/alerts', [alert(severity)])
  const { body } = await call('GET', '/alerts')
  const states = body.map((one: Found & { labels: { severity: string } }) => [one.labels.severity, one.status.state])
  assert.deepEqual(Object.fromEntries(states), { warning: 'suppressed', critical: 'active' })
  assert.equal((await request('GET', '/api/incidents', { token })).body.pagination.total, 1)
})

test('a silence with equal matchers and start is changed in place', async (t) => {
  const { put, list } = makeAlertmanager(t)
  const id = await put(SILENCE)
  assert.equal(await put({ ...SILENCE, id, endsAt: at(90), comment: 'longer' }), id)
  const [silence, ...more] = await list()
  assert.deepEqual([more.length, silence.endsAt, silence.comment], [0, at(90), 'longer'])
})

test('a silence with other matchers replaces the earlier one', async (t) => {
  const { put, list } = makeAlertmanager(t)
  const id = await put(SILENCE)
  const other = await put({ ...SILENCE, id, matchers: [{ ...matchers[0], value: 'Down' }] })
  assert.notEqual(other, id)
  assert.deepEqual(
    (await list()).map((one: Found) => [one.id, one.status.state]),
    [
      [other, 'active'],
      [id, 'expired'],
    ],
  )
})

test('an expired silence is listed as expired, and can be deleted again', async (t) => {
  const { put, call, list } = makeAlertmanager(t)
  const id = await put(SILENCE)
  for (let i = 0; i < 2; i++) assert.equal((await call('DELETE', `/silence/${id}`)).status, 200)
  assert.deepEqual(
    (await list()).map((one: Found) => one.status.state),
    ['expired'],
  )
  assert.deepEqual(await list('?expired=false'), [])
})

test('silences are listed active first, then pending, then expired', async (t) => {
  const { put, call, list } = makeAlertmanager(t)
  const [late, early] = [await put({ ...SILENCE, endsAt: at(90) }), await put(SILENCE)]
  const pending = await put({ ...SILENCE, startsAt: at(10) })
  const ended = await put(SILENCE)
  await call('DELETE', `/silence/${ended}`)
  assert.deepEqual(
    (await list()).map(({ id }: Found) => id),
    [early, late, pending, ended],
  )
  assert.deepEqual(
    (await list('?pending=false&active=false')).map(({ id }: Found) => id),
    [ended],
  )
})

test('a filter lists the silences with an equal matcher', async (t) => {
  const { put, list } = makeAlertmanager(t)
  const id = await put({ ...SILENCE, matchers: [...matchers, { name: 'job', value: 'a|b', isRegex: true }] })
  assert.deepEqual(
    (await list('?filter=job%3D~"a|b"')).map((one: Found) => one.id),
    [id],
  )
  assert.deepEqual(await list('?filter=job=a'), [])
  assert.deepEqual(await list('?filter=alertname%3D~Slow'), [])
})

test('a weekly silence has the times of its next period', async (t) => {
  const { request, token, list } = makeAlertmanager(t)
  const schedule = { weekday: 'sunday', from: '22:00', to: '02:00', timeZone: 'UTC' }
  const body = {
    matchers: [{ name: 'service', op: '=', value: 'cart' }],
    endsAt: '2026-06-01T00:00:00Z',
    schedule,
    comment: 'x',
  }
  await request('POST', '/api/silences', { token, body })
  const [silence] = await list()
  assert.deepEqual(
    [silence.status.state, silence.startsAt, silence.endsAt],
    ['pending', '2026-03-15T22:00:00.000Z', '2026-03-16T02:00:00.000Z'],
  )
})

const { comment: _, ...WITHOUT_COMMENT } = SILENCE
const { createdBy: __, ...WITHOUT_AUTHOR } = SILENCE
for (const [what, body, status, answer] of [
  ['no body', '', 422, { code: 602, message: 'silence in body is required' }],
  ['a list', [], 400, { code: 400, message: 'parsing silence body from "" failed, because the body is not an object' }],
  ['an empty object', {}, 422, { code: 602, message: 'comment in body is required' }],
  ['no comment', WITHOUT_COMMENT, 422, { code: 602, message: 'comment in body is required' }],
  ['no author', WITHOUT_AUTHOR, 422, { code: 602, message: 'createdBy in body is required' }],
  ['no matchers', { ...SILENCE, matchers: null }, 422, { code: 602, message: 'matchers in body is required' }],
  [
    'an empty list of matchers',
    { ...SILENCE, matchers: [] },
    422,
    { code: 612, message: 'matchers in body should have at least 1 items' },
  ],
  [
    'a matcher without a name',
    { ...SILENCE, matchers: [{ value: 'a', isRegex: false }] },
    422,
    { code: 602, message: 'matchers.0.name in body is required' },
  ],
  [
    'matchers that match everything',
    { ...SILENCE, matchers: [{ name: 'a', value: '.*', isRegex: true }] },
    400,
    'silence invalid: at least one matcher must not match the empty string',
  ],
  [
    'an invalid name',
    { ...SILENCE, matchers: [{ name: '1a', value: 'b', isRegex: false }] },
    400,
    'silence invalid: invalid label matcher 0: invalid label name "1a"',
  ],
  [
    'an end in the past',
    { ...SILENCE, startsAt: at(-9), endsAt: at(-1) },
    400,
    "Failed to create silence: end time can't be in the past",
  ],
  [
    'an end before its start',
    { ...SILENCE, startsAt: at(9), endsAt: at(5) },
    400,
    'Failed to create silence: start time must be before end time',
  ],
  ['an unknown id', { ...SILENCE, id: UNKNOWN }, 404, 'silence not found'],
  ['an id that is no UUID', { ...SILENCE, id: 'x' }, 404, 'silence not found'],
] as const) {
  test(`a silence with ${what} is refused like Alertmanager does`, async (t) => {
    const { call, list } = makeAlertmanager(t)
    const refused = await call('POST', '/silences', body)
    assert.deepEqual([refused.status, refused.body], [status, answer])
    assert.deepEqual(await list(), [])
  })
}

for (const method of ['GET', 'DELETE']) {
  test(`${method} of an unknown silence is 404 without a body, and of no UUID is 422`, async (t) => {
    const { call } = makeAlertmanager(t)
    const { status, text } = await call(method, `/silence/${UNKNOWN}`)
    assert.deepEqual([status, text], [404, ''])
    const invalid = await call(method, '/silence/x')
    assert.deepEqual(
      [invalid.status, invalid.body],
      [422, { code: 601, message: 'silenceID in path must be of type uuid: "x"' }],
    )
  })
}

test('Charlie can neither see, end nor replace Acme’s silence', async (t) => {
  const { put, call, charlie, list } = makeAlertmanager(t)
  const id = await put(SILENCE)
  const asked = [
    ['GET', `/silence/${id}`],
    ['DELETE', `/silence/${id}`],
  ] as const
  for (const [method, path] of asked) assert.equal((await call(method, path, undefined, charlie.token)).status, 404)
  assert.equal((await call('POST', '/silences', { ...SILENCE, id, endsAt: at(5) }, charlie.token)).status, 404)
  assert.deepEqual(
    (await list()).map((one: Found) => one.status.state),
    ['active'],
  )
})

test('creating and ending a silence requires the write scope', async (t) => {
  const { put, call, db, acme } = makeAlertmanager(t)
  const id = await put(SILENCE)
  const token = makeToken(db, acme, ['read', 'ingest'])
  assert.equal((await call('POST', '/silences', SILENCE, token)).status, 403)
  assert.equal((await call('DELETE', `/silence/${id}`, undefined, token)).status, 403)
})
