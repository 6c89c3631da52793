/** /api/incidents: listing, opening, changing, notes, and missing postmortems. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import {
  MINUTE,
  makeAlert,
  makeCorrelation,
  makeEvent,
  makeIncident,
  makeService,
  makeTimelineEntry,
  NOON,
  newUuid,
} from '../helpers/factory.ts'

function acmesIncident(t: Parameters<typeof makeWorld>[0]) {
  const world = makeWorld(t)
  const cart = makeService(world.db, world.acme, 'cart')
  const incident = makeIncident(world.db, world.acme, cart)
  return { ...world, cart, incident, path: `/api/incidents/${incident.id}`, token: world.acme.token }
}

test('lists incidents, newest first, with all documented fields', async (t) => {
  const { db, acme, cart, incident, request, token } = acmesIncident(t)
  makeIncident(db, acme, cart, { created_at: NOON - MINUTE })
  const { data } = (await request('GET', '/api/incidents', { token })).body
  assert.equal(data.length, 2)
  assert.deepEqual(data[0], {
    ...{
      id: incident.id,
      number: 1,
      title: 'Checkout is down',
      serviceId: cart.id,
      severity: 'critical',
      status: 'open',
    },
    ...{ origin: 'manual', createdAt: '2026-03-14T12:00:00.000Z', startedAt: '2026-03-14T12:00:00.000Z' },
    ...{ acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, alertCount: 0, hasPostmortem: false },
    ...{ problem: 'on', problemState: 'on', criticalSeconds: 0, silencedSeconds: 0, isEndInferred: false },
    ...{ previous: null, group: null },
    ...{ firingAlerts: 0, recoveredAt: null },
  })
})

for (const [query, total] of [
  ['status=open', 1],
  ['status=resolved', 0],
  ['severity=critical', 1],
  ['severity=info', 0],
  ['from=2026-03-14', 1],
  ['to=2026-03-14T12:00:00Z', 0],
] as const) {
  test(`?${query} returns ${total}`, async (t) => {
    const { request, token } = acmesIncident(t)
    const { body } = await request('GET', `/api/incidents?${query}`, { token })
    assert.equal(body.pagination.total, total)
  })
}

test('an unknown status is refused with its name', async (t) => {
  const { request, token } = acmesIncident(t)
  const { status, body } = await request('GET', '/api/incidents?status=closed', { token })
  assert.deepEqual([status, body.errors[0].path], [400, 'status'])
})

test('shows an incident with alerts, correlations and a sorted timeline', async (t) => {
  const { db, acme, cart, incident, path, request, token } = acmesIncident(t)
  const alert = makeAlert(db, acme, cart, { incident_id: incident.key })
  const link = makeCorrelation(db, acme, cart, 0.5, alert)
  makeTimelineEntry(db, incident, 'second', NOON + 1)
  makeTimelineEntry(db, incident, 'first')
  const { body } = await request('GET', path, { token })
  assert.deepEqual([body.alerts.map(idOf), body.correlations.map(idOf)], [[alert.id], [link.id]])
  assert.deepEqual(
    body.timeline.map(({ text, ref }: { text: string; ref: string }) => [text, ref]),
    [
      ['HighLatency: slow', `alert/${alert.id}`],
      ['pipeline acme/shop!7 linked to HighLatency: likely', `correlation/${link.id}`],
      ['first', `incident/${incident.id}`],
      ['second', `incident/${incident.id}`],
    ],
  )
})

test('shows the newest 500 alerts; the list of alerts has all of them', async (t) => {
  const { db, acme, cart, incident, path, request, token } = acmesIncident(t)
  for (let i = 0; i < 501; i += 1) makeAlert(db, acme, cart, { incident_id: incident.key, starts_at: NOON + i })
  const { body } = await request('GET', path, { token })
  const list = await request('GET', `/api/alerts?incidentId=${incident.id}&page=2&limit=500`, { token })
  assert.deepEqual([body.alerts.length, body.alerts[0].startsAt], [500, '2026-03-14T12:00:00.500Z'])
  assert.deepEqual([list.body.data.length, list.body.pagination.total], [1, 501])
})

test('a repeated alert is one timeline entry with its count and its last time', async (t) => {
  const { db, acme, cart, incident, path, request, token } = acmesIncident(t)
  const seen = { starts_at: NOON - 2 * MINUTE, last_seen_at: NOON, occurrences: 3 }
  const alert = makeAlert(db, acme, cart, { incident_id: incident.key, ...seen })
  for (const minute of [0, 1, 2]) {
    makeEvent(db, acme, { service_id: cart.key, alert_id: alert.key, at: NOON - minute * MINUTE })
  }
  const [{ at, until, count, seen: times, ref }, ...others] = (await request('GET', path, { token })).body.timeline
  assert.deepEqual([at, until], ['2026-03-14T11:58:00.000Z', '2026-03-14T12:00:00.000Z'])
  assert.deepEqual([count, times, ref, others], [1, 3, `alert/${alert.id}`, []])
})

test('opening an incident returns 201, its URL and the trimmed title', async (t) => {
  const { cart, request, token } = acmesIncident(t)
  const body = {
    title: '  Orders hang ',
    serviceId: cart.id,
    severity: 'error',
    status: 'resolved',
    origin: 'automatic',
  }
  const answer = await request('POST', '/api/incidents', { token, body })
  assert.deepEqual([answer.status, answer.headers.get('location')], [201, `/api/incidents/${answer.body.id}`])
  const { title, status, origin, severity } = answer.body
  assert.deepEqual([title, status, origin, severity], ['Orders hang', 'open', 'manual', 'error'])
})

test('an unknown and a foreign service give the same 422', async (t) => {
  const { cart, charlie, db, request } = acmesIncident(t)
  const open = (serviceId: string) =>
    request('POST', '/api/incidents', { token: charlie.token, body: { title: 'x', serviceId, severity: 'info' } })
  const [foreign, missing] = [await open(cart.id), await open(newUuid())]
  assert.deepEqual([foreign.status, foreign.text], [422, missing.text])
  assert.equal(db.all(db.sql.selectFrom('incidents').select('id')).length, 1)
})

for (const [what, change, field] of [
  ['an empty title', { title: ' \t' }, 'title'],
  ['a title of 201 characters', { title: 'x'.repeat(201) }, 'title'],
  ['a number as a title', { title: 7 }, 'title'],
  ['a malformed service', { serviceId: 'cart' }, 'serviceId'],
  ['an unknown severity', { severity: 'p1' }, 'severity'],
  ['no severity', { severity: undefined }, 'severity'],
] as const) {
  test(`${what} is refused by name`, async (t) => {
    const { cart, request, token } = acmesIncident(t)
    const body = { title: 'x', serviceId: cart.id, severity: 'info', ...change }
    const answer = await request('POST', '/api/incidents', { token, body })
    assert.deepEqual([answer.status, answer.body.errors[0].path], [400, field])
  })
}

test('the first status after open acknowledges; setting it again changes nothing', async (t) => {
  const { clock, path, request, token } = acmesIncident(t)
  clock.now = NOON + MINUTE
  const first = await request('PATCH', path, { token, body: { status: 'investigating' } })
  clock.now = NOON + 2 * MINUTE
  const again = await request('PATCH', path, { token, body: { status: 'investigating' } })
  assert.equal(first.body.acknowledgedAt, '2026-03-14T12:01:00.000Z')
  // The problem of a manual incident is on until it is resolved.
  assert.deepEqual([first.body.criticalSeconds, again.body.criticalSeconds], [60, 120])
  assert.deepEqual([again.status, { ...again.body, criticalSeconds: 60 }], [200, first.body])
})

for (const [statuses, wanted] of [
  [['investigating', 'resolved', 'open'], null],
  [['investigating', 'resolved', 'investigating'], "Acme's token"],
  [['investigating', 'open'], null],
  [['resolved', 'open'], null],
] as const)
  test(`an incident that was ${statuses.join(', then ')} is ${wanted === null ? 'nobody’s' : 'somebody’s'}`, async (t) => {
    const { path, request, token } = acmesIncident(t)
    const answers = []
    for (const status of statuses) answers.push(await request('PATCH', path, { token, body: { status } }))
    const { acknowledgedBy, acknowledgedAt } = answers.at(-1)?.body ?? {}
    assert.deepEqual([acknowledgedBy, acknowledgedAt === null], [wanted, wanted === null])
  })

test('an incident can be resolved, reopened, renamed and dated', async (t) => {
  const { path, request, token } = acmesIncident(t)
  const patch = async (body: object) => (await request('PATCH', path, { token, body })).body
  assert.equal((await patch({ status: 'resolved' })).resolvedAt, '2026-03-14T12:00:00.000Z')
  assert.equal((await patch({ status: 'investigating' })).resolvedAt, null)
  const changed = await patch({ title: 'Orders', severity: 'warning', startedAt: '2026-03-14T12:30:00+01:00' })
  const { title, severity, startedAt } = changed
  assert.deepEqual([title, severity, startedAt], ['Orders', 'warning', '2026-03-14T11:30:00.000Z'])
})

for (const [field, value] of [
  ['status', 'closed'],
  ['severity', null],
  ['startedAt', 'noon'],
  ['title', ''],
] as const) {
  test(`changing ${field} to ${JSON.stringify(value)} is refused by name`, async (t) => {
    const { path, request, token } = acmesIncident(t)
    const { status, body } = await request('PATCH', path, { token, body: { [field]: value } })
    assert.deepEqual([status, body.errors[0].path], [400, field])
  })
}

test('a note appears in the timeline with the name of its token', async (t) => {
  const { path, request, token } = acmesIncident(t)
  const answer = await request('POST', `${path}/notes`, { token, body: { text: ' rolled back ' } })
  const [{ kind, text, actor }] = answer.body.timeline.slice(-1)
  assert.deepEqual([answer.status, kind, text, actor], [201, 'note', 'rolled back', "Acme's token"])
})

test('a note of 64 kB is refused, and the error states the limit', async (t) => {
  const { path, request, token } = acmesIncident(t)
  const { status, body } = await request('POST', `${path}/notes`, { token, body: { text: 'x'.repeat(65_536) } })
  assert.deepEqual([status, body.errors], [400, [{ path: 'text', message: 'too long; at most 10000 characters' }]])
})

test('the timeline says in one sentence each what a user edited', async (t) => {
  const { path, request, token } = acmesIncident(t)
  const startedAt = '2026-03-14T11:58:00.000Z'
  for (const body of [{ title: 'Cart loses orders' }, { severity: 'warning' }, { startedAt }])
    assert.equal((await request('PATCH', path, { token, body })).status, 200)
  const { timeline } = (await request('GET', path, { token })).body
  assert.deepEqual(
    timeline.flatMap(({ kind, text }: { kind: string; text: string }) => (kind === 'edited' ? [text] : [])).sort(),
    [
      'changed the title: Cart loses orders',
      'severity changed from critical to warning',
      'start time moved 2 min earlier',
    ],
  )
})

test('Charlie can neither see nor change a foreign incident', async (t) => {
  const { charlie, path, request } = acmesIncident(t)
  const token = charlie.token
  const list = await request('GET', '/api/incidents', { token })
  const answers = await Promise.all([
    request('GET', path, { token }),
    request('GET', `/api/incidents/${newUuid()}`, { token }),
    request('PATCH', path, { token, body: { status: 'resolved' } }),
    request('POST', `${path}/notes`, { token, body: { text: 'x' } }),
    request('GET', `${path}/postmortem`, { token }),
  ])
  assert.equal(list.body.pagination.total, 0)
  assert.deepEqual(new Set(answers.map(({ status, text }) => status + text)), new Set([`404${answers[1].text}`]))
})

test('an open incident has no postmortem, and the error says why', async (t) => {
  const { path, request, token } = acmesIncident(t)
  const read = await request('GET', `${path}/postmortem`, { token })
  const edited = await request('PATCH', `${path}/postmortem`, { token, body: { state: 'final' } })
  assert.deepEqual([read.status, edited.status], [404, 404])
  assert.match(read.body.detail, /when the incident is resolved/)
})

const idOf = ({ id }: { id: string }) => id
