/**
 * GET /api/reports/reliability: which incidents are included, and what is undefined. The calculations are tested in
 * domain/.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { DAY, MINUTE, makeAlert, makeIncident, makeService, NOON } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const NONE = { meanSeconds: null, medianSeconds: null, of: 0 }
const seconds = (value: number) => ({ meanSeconds: value, medianSeconds: value, of: 1 })

function makeReport(t: Parameters<typeof makeWorld>[0]) {
  const world = makeWorld(t)
  const { acme, request } = world
  const report = (query = '', token = acme.token) => request('GET', `/api/reports/reliability${query}`, { token })
  return { ...world, report }
}

/**
 * Creates an incident of Acme's cart that starts at noon, opens after 5 minutes, is acknowledged 2 minutes later, and
 * ends 35 minutes after noon.
 */
async function oneIncident(t: Parameters<typeof makeWorld>[0]) {
  const world = makeReport(t)
  const { acme, clock, request } = world
  const token = acme.token
  clock.now = NOON + 5 * MINUTE
  const body = alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON })])
  await request('POST', '/api/webhooks/metrics', { token, body })
  const [{ id }] = (await request('GET', '/api/incidents', { token })).body.data
  for (const [minutes, status] of [
    [7, 'investigating'],
    [35, 'resolved'],
  ] as const) {
    clock.now = NOON + minutes * MINUTE
    await request('PATCH', `/api/incidents/${id}`, { token, body: { status } })
  }
  return world
}

test('one incident is included for the organization and for its service', async (t) => {
  const { report } = await oneIncident(t)
  const { organization, services } = (await report()).body
  const { serviceId, ...service } = services[0]
  assert.deepEqual([organization.incidents, organization.resolved, organization.bySeverity.critical], [1, 1, 1])
  assert.deepEqual([organization.mttd, organization.mtta, organization.mttr], [300, 120, 2100].map(seconds))
  assert.deepEqual(service, { namespace: 'shop', name: 'cart', ...organization })
  assert.match(serviceId, /^[0-9a-f-]{36}$/)
})

for (const [what, deeds, mtta, sentence] of [
  [
    'a reopening is',
    ['resolved', 'investigating', 'resolved'],
    NONE,
    /Nobody acknowledged the incident before .* resolved it/,
  ],
  [
    'a reopening as open is',
    ['resolved', 'open', 'resolved'],
    NONE,
    /Nobody acknowledged the incident before .* resolved it/,
  ],
  ['a move to monitoring is', ['monitoring', 'resolved'], seconds(60), /acknowledged the incident at .* 12:01:00/],
  [
    'an acknowledgement before a reopening is',
    ['investigating', 'resolved', 'investigating', 'resolved'],
    seconds(60),
    /acknowledged the incident at .* 12:01:00/,
  ],
] as const) {
  test(`${what} ${mtta === NONE ? 'no' : 'an'} acknowledgement in reports and postmortems`, async (t) => {
    const { report, acme, clock, request } = makeReport(t)
    const { token } = acme
    const body = alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON })])
    await request('POST', '/api/webhooks/metrics', { token, body })
    const path = `/api/incidents/${(await request('GET', '/api/incidents', { token })).body.data[0].id}`
    for (const status of deeds) {
      clock.now += MINUTE
      await request('PATCH', path, { token, body: { status } })
    }
    assert.deepEqual((await report()).body.organization.mtta, mtta)
    const { detection, metrics } = (await request('GET', `${path}/postmortem`, { token })).body
    assert.match(JSON.stringify(detection.sentences), sentence)
    assert.equal(metrics.tta.seconds, mtta.meanSeconds)
  })
}

for (const [first, second, ttd] of [
  ['from', 'into', 30],
  ['into', 'from', 30],
] as const) {
  test(`a merged problem was detected when the first of its incidents was opened: ${first} first`, async (t) => {
    const { report, acme, clock, request } = makeReport(t)
    const { token } = acme
    const fire = (service: string) =>
      request('POST', '/api/webhooks/metrics', {
        token,
        body: alertmanager([alert('Down', { service }, { startsAt: NOON })], { groupKey: service }),
      })
    clock.now = NOON + 30_000
    await fire(first)
    clock.now = NOON + 150_000
    await fire(second)
    const { data } = (await request('GET', '/api/incidents', { token })).body
    const [from, into] = ['from', 'into'].map((name) =>
      data.find(({ title }: { title: string }) => title.startsWith(name)),
    )
    clock.now = NOON + 8 * MINUTE
    await request('POST', `/api/incidents/${from.id}/merge`, { token, body: { into: into.id } })
    clock.now = NOON + 20 * MINUTE
    await request('PATCH', `/api/incidents/${into.id}`, { token, body: { status: 'resolved' } })
    const { services } = (await report()).body
    const { mttd } = services.find(({ name }: { name: string }) => name === 'into')
    assert.deepEqual(mttd, seconds(ttd))
    const { metrics } = (await request('GET', `/api/incidents/${into.id}/postmortem`, { token })).body
    assert.equal(metrics.ttd.seconds, ttd)
  })
}

for (const [what, minutes, recurrences] of [
  ['a problem that came back within its incident has recurred', 10, 1],
  ['a problem that ended once has not', null, 0],
] as const) {
  test(what, async (t) => {
    const { report, acme, clock, request, deps } = makeReport(t)
    const down = (more: object) => alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON, ...more })])
    const send = (body: unknown) => request('POST', '/api/webhooks/metrics', { token: acme.token, body })
    await send(down({}))
    clock.now += 5 * MINUTE
    await send(down({ endsAt: clock.now }))
    clock.now += 2 * MINUTE
    await deps.engine.sweep()
    if (minutes !== null) {
      clock.now += minutes * MINUTE
      await send(down({ startsAt: clock.now }))
    }
    const { organization, services } = (await report()).body
    assert.deepEqual([organization.incidents, services[0].recurrences], [1, recurrences])
  })
}

test('without incidents the figures are null and not 0', async (t) => {
  const { report } = makeReport(t)
  const { organization, services, definitions } = (await report()).body
  assert.deepEqual([organization.mttd, organization.mtta, organization.mttr], [NONE, NONE, NONE])
  assert.deepEqual([organization.incidents, services], [0, []])
  assert.match(definitions.mttr, /^time to resolve: /)
})

for (const [days, query, incidents] of [
  [29, '', 1],
  [31, '', 0],
  [31, '?from=2026-03-14', 1],
  [31, '?to=2026-03-14', 1],
  [31, '?from=2026-03-14T12:05:00Z&to=2026-03-14T12:05:00.001Z', 1],
  [31, '?from=2026-03-14T12:05:00.001Z', 0],
  [31, '?to=2026-03-14T12:05:00Z', 0],
] as const) {
  test(`after ${days} days, ${query || 'no query'} includes ${incidents}`, async (t) => {
    const { clock, report } = await oneIncident(t)
    clock.now = NOON + days * DAY
    assert.equal((await report(query)).body.organization.incidents, incidents)
  })
}

test('the response contains the reported period', async (t) => {
  const { report } = makeReport(t)
  const { from, to } = (await report()).body
  assert.deepEqual([from, to], ['2026-02-12T12:00:00.000Z', '2026-03-14T12:00:00.000Z'])
})

test('a condition from the previous month is included as recurring', async (t) => {
  const { db, acme, report } = makeReport(t)
  const cart = makeService(db, acme, 'cart')
  for (const created_at of [NOON - 29 * DAY, NOON]) {
    const incident = makeIncident(db, acme, cart, { created_at })
    makeAlert(db, acme, cart, { incident_id: incident.key })
  }
  const { organization } = (await report('?from=2026-03-14&to=2026-03-14')).body
  assert.deepEqual([organization.incidents, organization.recurrences], [1, 1])
})

for (const [query, message] of [
  ['?from=yesterday', /from: expected ISO 8601/],
  ['?to=2026-02-30', /to: expected ISO 8601/],
  ['?from=2026-03-15&to=2026-03-13', /"from" is later than "to"; swap/],
] as const) {
  test(`${query} is refused`, async (t) => {
    const { report } = makeReport(t)
    const { status, body } = await report(query)
    assert.equal(status, 400)
    assert.match(body.detail, message)
  })
}

test('too many incidents for one report are refused and not truncated', async (t) => {
  const { db, acme, report } = makeReport(t)
  const cart = makeService(db, acme, 'cart')
  db.execute(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= 5000)
    INSERT INTO incidents (uuid, organization_id, service_id, title, severity, status, origin, created_at, started_at)
    SELECT randomblob(16), ${acme.key}, ${cart.key}, 'x', 'info', 'open', 'manual', ${NOON} - i, ${NOON} - i FROM n`)
  const { status, body } = await report()
  assert.deepEqual([status, body.errors[0].path], [400, 'from'])
  assert.match(body.detail, /more than 5000 incidents in this period; send a later from/)
})

test("Charlie's report contains nothing of Acme's", async (t) => {
  const { charlie, report } = await oneIncident(t)
  const { organization, services } = (await report('', charlie.token)).body
  assert.deepEqual([organization.incidents, services], [0, []])
})
