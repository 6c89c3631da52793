/** GET, POST and PATCH /api/services, and merging. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { DAY, MINUTE, makeAlert, makeIncident, makeService, NOON, newUuid } from '../helpers/factory.ts'

test('the list is an array with the reason for each score, sorted by namespace and name', async (t) => {
  const { db, acme, request } = makeWorld(t)
  makeService(db, acme, 'web', { namespace: 'b' })
  const health = JSON.stringify(['Down', 'Slow'].map((name) => ({ name, rule: { code: 'agreement' } })))
  const ill = { status: 'critical', score: 35, health, last_alert_at: NOON } as const
  const cart = makeService(db, acme, 'cart', { namespace: 'a', ...ill })
  const { status, body } = await request('GET', '/api/services', { token: acme.token })
  assert.equal(status, 200)
  assert.deepEqual(body[0], {
    ...{ id: cart.id, name: 'cart', namespace: 'a', cluster: '', archived: false },
    ...{
      status: 'critical',
      score: 35,
      reason: 'Down: an event and an alert agree',
      lastAlertAt: '2026-03-14T12:00:00.000Z',
    },
  })
  assert.deepEqual([body[1].reason, body[1].lastAlertAt], [null, null])
})

test('a healthy service without events for 14 days is listed only with archived=1', async (t) => {
  const { db, acme, request } = makeWorld(t)
  makeService(db, acme, 'old', { last_event_at: NOON - 14 * DAY })
  makeService(db, acme, 'ill', { last_event_at: NOON - 14 * DAY, status: 'degraded', score: 75 })
  makeService(db, acme, 'new', { last_event_at: NOON - 14 * DAY + 1 })
  const without = await request('GET', '/api/services', { token: acme.token })
  const all = await request('GET', '/api/services?archived=1', { token: acme.token })
  assert.deepEqual(without.body.map(nameOf), ['ill', 'new'])
  assert.deepEqual(all.body.map(nameOf), ['ill', 'new', 'old'])
  assert.deepEqual(
    all.body.map((service: { archived: boolean }) => service.archived),
    [false, false, true],
  )
})

test('archived=maybe is refused with the name of the parameter', async (t) => {
  const { acme, request } = makeWorld(t)
  const { status, body } = await request('GET', '/api/services?archived=maybe', { token: acme.token })
  assert.deepEqual([status, body.errors[0].path], [400, 'archived'])
})

test('shows a service with its newest 20 alerts, open incidents and the parts of its score', async (t) => {
  const { db, acme, request } = makeWorld(t)
  const alertId = newUuid()
  const rule = { code: 'severity', severity: 'critical' }
  const health = JSON.stringify([{ alertId, name: 'Down', rule, penalty: 40 }])
  const cart = makeService(db, acme, 'cart', { status: 'critical', score: 60, health })
  for (let i = 0; i < 21; i++) makeAlert(db, acme, cart, { name: `A${i}`, starts_at: NOON + i })
  const open = makeIncident(db, acme, cart)
  makeIncident(db, acme, cart, { status: 'resolved', resolved_at: NOON })
  const { body } = await request('GET', `/api/services/${cart.id}`, { token: acme.token })
  assert.deepEqual([body.recentAlerts.length, body.recentAlerts[0].name, body.recentAlerts[19].name], [20, 'A20', 'A1'])
  assert.deepEqual(body.openIncidents.map(idOf), [open.id])
  assert.deepEqual(body.health, [{ alertId, reason: 'Down: critical', penalty: 40 }])
})

test('an alert that is first received as resolved is history; one that was received as firing costs its service', async (t) => {
  const { acme, clock, request } = makeWorld(t)
  const at = (ms: number) => new Date(ms).toISOString()
  const send = (name: string, endsAt?: number) =>
    request('POST', '/api/webhooks/metrics', {
      token: acme.token,
      body: JSON.stringify({
        alerts: [
          {
            status: endsAt ? 'resolved' : 'firing',
            labels: { alertname: 'Down', service: name, severity: 'critical' },
            startsAt: at(NOON - 5 * MINUTE),
            ...(endsAt ? { endsAt: at(endsAt) } : {}),
          },
        ],
      }),
    })
  await send('failed')
  clock.now += MINUTE
  await send('failed', clock.now - 1000)
  await send('was-down', clock.now)
  const { body } = await request('GET', '/api/services', { token: acme.token })
  const expected = [
    ['failed', 'degraded', 60],
    ['was-down', 'healthy', 100],
  ]
  assert.deepEqual(
    body.map(({ name, status, score }: { name: string; status: string; score: number }) => [name, status, score]),
    expected,
  )
  const { body: alerts } = await request('GET', '/api/alerts', { token: acme.token })
  assert.deepEqual(alerts.data.map(nameOf), ['Down', 'Down'])
})

test('Charlie sees an empty list; a foreign and an unknown ID give the same 404', async (t) => {
  const { db, acme, charlie, request } = makeWorld(t)
  const { id } = makeService(db, acme, 'cart')
  const list = await request('GET', '/api/services?archived=1', { token: charlie.token })
  const foreign = await request('GET', `/api/services/${id}`, { token: charlie.token })
  const missing = await request('GET', `/api/services/${newUuid()}`, { token: charlie.token })
  const malformed = await request('GET', '/api/services/cart', { token: charlie.token })
  assert.deepEqual(list.body, [])
  assert.deepEqual([foreign.status, foreign.text, malformed.text], [404, missing.text, missing.text])
})

test('creating a service returns 201 and its URL, and the service is listed', async (t) => {
  const { acme, request } = makeWorld(t)
  const body = { name: ' cart ', namespace: 'shop', aliases: [{ kind: 'ci-project', value: 'acme/cart' }] }
  const made = await request('POST', '/api/services', { token: acme.token, body })
  assert.deepEqual([made.status, made.headers.get('location')], [201, `/api/services/${made.body.id}`])
  const { body: list } = await request('GET', '/api/services', { token: acme.token })
  assert.deepEqual(list.map(nameOf), ['cart'])
})

test('a second service with the same key is refused with 409', async (t) => {
  const { db, acme, request } = makeWorld(t)
  makeService(db, acme, 'cart')
  const body = { name: 'cart', namespace: 'shop' }
  const { status } = await request('POST', '/api/services', { token: acme.token, body })
  assert.equal(status, 409)
})

test('a missing name and an unknown kind of alias are refused with the field', async (t) => {
  const { acme, request } = makeWorld(t)
  const body = { name: '  ', aliases: [{ kind: 'dns', value: 'x' }] }
  const { status, body: answer } = await request('POST', '/api/services', { token: acme.token, body })
  assert.equal(status, 400)
  assert.deepEqual(answer.errors.map(pathOf), ['name', 'namespace', 'aliases[0].kind'])
})

test('a rename keeps the ID and all omitted fields', async (t) => {
  const { db, acme, request } = makeWorld(t)
  const { id } = makeService(db, acme, 'cart')
  const body = { name: 'basket', score: 0, organization_id: 3 }
  const answer = await request('PATCH', `/api/services/${id}`, { token: acme.token, body })
  assert.deepEqual([answer.status, answer.body.id, answer.body.name, answer.body.score], [200, id, 'basket', 100])
})

test('Charlie can neither rename nor merge a service of Acme', async (t) => {
  const { db, acme, charlie, request } = makeWorld(t)
  const theirs = makeService(db, acme, 'cart')
  const own = makeService(db, charlie, 'web')
  const token = charlie.token
  const renamed = await request('PATCH', `/api/services/${theirs.id}`, { token, body: { name: 'x' } })
  const from = await request('POST', `/api/services/${theirs.id}/merge`, { token, body: { into: own.id } })
  const into = await request('POST', `/api/services/${own.id}/merge`, { token, body: { into: theirs.id } })
  assert.deepEqual([renamed.status, from.status, into.status], [404, 404, 422])
  assert.equal((await request('GET', `/api/services/${theirs.id}`, { token: acme.token })).body.name, 'cart')
})

test('a merge removes the source and moves its alerts', async (t) => {
  const { db, acme, request } = makeWorld(t)
  const [from, into] = [makeService(db, acme, 'cart'), makeService(db, acme, 'basket')]
  const alert = makeAlert(db, acme, from)
  const answer = await request('POST', `/api/services/${from.id}/merge`, { token: acme.token, body: { into: into.id } })
  assert.deepEqual([answer.status, answer.body.id, answer.body.recentAlerts.map(idOf)], [200, into.id, [alert.id]])
  assert.equal((await request('GET', `/api/services/${from.id}`, { token: acme.token })).status, 404)
})

test('the timeline of an incident says who merged its service with another one, and which', async (t) => {
  const { db, acme, request } = makeWorld(t)
  const { token } = acme
  const [from, into, other] = ['basket', 'cart', 'web'].map((name) => makeService(db, acme, name))
  assert.ok(from && into && other)
  const [incident, elsewhere] = [makeIncident(db, acme, from), makeIncident(db, acme, other)]
  await request('POST', `/api/services/${from.id}/merge`, { token, body: { into: into.id } })
  const edits = async ({ id }: { id: string }) =>
    (await request('GET', `/api/incidents/${id}`, { token })).body.timeline.flatMap(
      ({ kind, text, actor }: Record<string, string>) => (kind === 'edited' ? [[text, actor]] : []),
    )
  assert.deepEqual(await edits(incident), [['merged the service shop/basket into shop/cart', "Acme's token"]])
  assert.deepEqual(await edits(elsewhere), [])
})

test('a service cannot be merged into itself', async (t) => {
  const { db, acme, request } = makeWorld(t)
  const { id } = makeService(db, acme, 'cart')
  const { status } = await request('POST', `/api/services/${id}/merge`, { token: acme.token, body: { into: id } })
  assert.equal(status, 409)
})

const nameOf = ({ name }: { name: string }) => name
const idOf = ({ id }: { id: string }) => id
const pathOf = ({ path }: { path: string }) => path
