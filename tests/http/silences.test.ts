/** /api/silences: create, preview, change, end. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, makeAlert, makeService, NOON } from '../helpers/factory.ts'

const SILENCE = {
  matchers: [{ name: 'service', op: '=', value: 'cart' }],
  endsAt: '2026-03-14T13:00:00Z',
  comment: 'Upgrade',
}

function withSilences(t: TestContext) {
  const world = makeWorld(t)
  const { token } = world.acme
  const post = (body: object, path = '/api/silences') => world.request('POST', path, { token, body })
  return { ...world, token, post }
}

test('creating a silence returns it, and it is listed', async (t) => {
  const { post, request, token } = withSilences(t)
  const made = await post(SILENCE)
  assert.deepEqual([made.status, made.body.status, made.body.createdBy], [201, 'active', "Acme's token"])
  assert.deepEqual([made.body.startsAt, made.body.schedule], ['2026-03-14T12:00:00.000Z', null])
  const { body } = await request('GET', '/api/silences?expired=0', { token })
  assert.deepEqual(body.data, [made.body])
})

test('a preview counts matching alerts and creates nothing', async (t) => {
  const { post, request, token, db, acme } = withSilences(t)
  const cart = makeService(db, acme, 'cart')
  const ended = { status: 'resolved', resolution: 'reported', ends_at: NOON } as const
  makeAlert(db, acme, cart)
  makeAlert(db, acme, cart, ended)
  makeAlert(db, acme, cart, { ...ended, starts_at: NOON - 31 * 1440 * MINUTE })
  const { status, body } = await post(SILENCE, '/api/silences?dryRun=1')
  assert.deepEqual([status, body], [200, { matching: 1, matchingLast30Days: 2, warning: null }])
  assert.equal((await request('GET', '/api/silences', { token })).body.pagination.total, 0)
})

test('a preview says if the matchers match nothing', async (t) => {
  const { post } = withSilences(t)
  const { body } = await post(SILENCE, '/api/silences?dryRun=1')
  assert.equal(body.warning, '{service="cart"} matches no alert from the last 30 days; check the names and values')
})

test('an ended silence is listed as expired', async (t) => {
  const { post, request, token } = withSilences(t)
  const { body } = await post(SILENCE)
  const end = () => request('DELETE', `/api/silences/${body.id}`, { token })
  assert.deepEqual([(await end()).status, (await end()).status], [204, 204])
  const listed = await request('GET', '/api/silences?expired=1', { token })
  assert.deepEqual([listed.body.data[0].id, listed.body.data[0].status], [body.id, 'expired'])
})

test('a change with an outdated revision is a conflict', async (t) => {
  const { post, request, token } = withSilences(t)
  const path = `/api/silences/${(await post(SILENCE)).body.id}`
  const change = (comment: string) => request('PATCH', path, { token, body: { comment, revision: 1 } })
  assert.equal((await change('mine')).status, 200)
  const refused = await change('yours')
  assert.equal(refused.status, 409)
  assert.match(
    refused.body.detail,
    /somebody else has changed this silence \(comment is now "mine"\): reload the silence/,
  )
  assert.equal((await request('GET', path, { token })).body.comment, 'mine')
})

test('a filter finds the alerts of a silence', async (t) => {
  const { post, request, token, db, acme } = withSilences(t)
  const cart = makeService(db, acme, 'cart')
  const [one] = [makeAlert(db, acme, cart), makeAlert(db, acme, makeService(db, acme, 'web'))]
  const made = await post(SILENCE)
  const ids = async (filter: string) => {
    const { body } = await request('GET', `/api/alerts?${filter}`, { token })
    return body.data.map(({ id, silencedBy }: { id: string; silencedBy: string[] }) => [id, silencedBy])
  }
  assert.equal(made.body.matching, 1)
  assert.deepEqual(await ids('silenced=1'), [[one?.id, [made.body.id]]])
  assert.deepEqual((await ids('silenced=0&status=firing')).length, 1)
})

test('a new silence counts every alert that it matches, however many services have alerts', async (t) => {
  const { post, request, token, db, acme } = withSilences(t)
  const services = Array.from({ length: 150 }, (_, n) => makeService(db, acme, `s${n}`))
  for (const service of services) makeAlert(db, acme, service, { labels: JSON.stringify({ team: 'shop' }) })
  const matchers = (name: string, value: string) => ({ ...SILENCE, matchers: [{ name, op: '=', value }] })
  const later = { startsAt: '2026-03-14T12:30:00Z' }
  for (const [what, body, count] of [
    ['one of many services', matchers('service', 's149'), 1],
    ['all services', matchers('team', 'shop'), 150],
    ['no service', matchers('service', 's150'), 0],
    ['a silence that has not begun', { ...matchers('service', 's149'), ...later }, 0],
  ] as const) {
    const made = await post(body)
    assert.deepEqual([made.status, made.body.matching], [201, count], what)
    const path = `/api/silences/${made.body.id}`
    assert.equal((await request('GET', path, { token })).body.matching, count, what)
    await request('DELETE', path, { token })
    assert.equal((await request('GET', path, { token })).body.matching, 0, `${what}, ended`)
  }
})

test('an alert whose worst fingerprint is critical does not count for a silence of warnings', async (t) => {
  const { post, db, acme } = withSilences(t)
  const labels = JSON.stringify({ severity: 'warning' })
  makeAlert(db, acme, makeService(db, acme, 'cart'), { labels, severity: 'critical' })
  db.run(db.sql.updateTable('alerts').set({ said: 'critical' }))
  makeAlert(db, acme, makeService(db, acme, 'web'), { labels })
  const { body } = await post({ ...SILENCE, matchers: [{ name: 'severity', op: '=', value: 'warning' }] })
  const preview = await post(
    { ...SILENCE, matchers: [{ name: 'severity', op: '=', value: 'critical' }] },
    '/api/silences?dryRun=1',
  )
  assert.deepEqual([body.matching, preview.body.matching], [1, 1])
})

for (const [what, change, path] of [
  ['no end', { endsAt: undefined }, 'endsAt'],
  ['an end in the past', { endsAt: '2026-03-14T12:00:00Z' }, 'endsAt'],
  ['an end before its start', { startsAt: '2026-03-14T14:00:00Z' }, 'endsAt'],
  ['no comment', { comment: ' ' }, 'comment'],
  ['no matcher', { matchers: [] }, 'matchers'],
  ['an unknown operator', { matchers: [{ name: 'a', op: '==', value: 'b' }] }, 'matchers[0].op'],
  [
    'a regular expression of 100 kB',
    { matchers: [{ name: 'a', op: '=~', value: 'a'.repeat(1e5) }] },
    'matchers[0].value',
  ],
  ['a broken regular expression', { matchers: [{ name: 'a', op: '=~', value: '(' }] }, 'matchers'],
  [
    'an unknown time zone',
    { schedule: { weekday: 'monday', from: '22:00', to: '06:00', timeZone: 'Mars' } },
    'schedule.timeZone',
  ],
] as const) {
  test(`a silence with ${what} is refused by name`, async (t) => {
    const { post } = withSilences(t)
    const { status, body } = await post({ ...SILENCE, ...change })
    assert.deepEqual([status, body.errors[0].path], [400, path])
  })
}

test("Charlie can neither see, change nor end Acme's silence", async (t) => {
  const { post, request, charlie, token } = withSilences(t)
  const path = `/api/silences/${(await post(SILENCE)).body.id}`
  const as = { token: charlie.token }
  assert.equal((await request('GET', '/api/silences', as)).body.pagination.total, 0)
  for (const [method, body] of [['GET'], ['PATCH', { comment: 'x' }], ['DELETE']] as const) {
    assert.equal((await request(method, path, { ...as, ...(body ? { body } : {}) })).status, 404)
  }
  assert.equal((await request('GET', path, { token })).body.status, 'active')
})

test('a schedule without a window in the period is refused, and the answer names the next window', async (t) => {
  const { acme, request } = makeWorld(t)
  const schedule = { weekdays: ['sunday'], from: '02:00', to: '04:00', timeZone: 'UTC' }
  const body = { matchers: [{ name: 'service', op: '=', value: 'cart' }], comment: 'Weekly restart', schedule }
  const ask = (endsAt: string) => request('POST', '/api/silences', { token: acme.token, body: { ...body, endsAt } })
  const refused = await ask('2026-03-14T14:00:00Z')
  assert.equal(refused.status, 422)
  assert.match(refused.body.detail, /the next window is from 2026-03-15T02:00:00.000Z to 2026-03-15T04:00:00.000Z/)
  const { status, body: made } = await ask('2026-04-14T14:00:00Z')
  assert.deepEqual([status, made.nextWindow.startsAt], [201, '2026-03-15T02:00:00.000Z'])
})
