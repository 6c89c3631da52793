/** POST /api/incidents/:id/merge: moves alerts, links and the timeline, and resolves the merged incident. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import {
  MINUTE,
  makeAlert,
  makeCorrelation,
  makeIncident,
  makeService,
  makeTimelineEntry,
  makeToken,
  NOON,
  newUuid,
} from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/**
 * Creates two of Acme's incidents for different services. `from` has a firing alert with a link, and a timeline entry.
 */
function two(t: TestContext) {
  const world = makeWorld(t)
  const { db, acme, request } = world
  const [cart, web] = [makeService(db, acme, 'cart'), makeService(db, acme, 'web')]
  const started = { started_at: NOON - MINUTE, alert_count: 1 }
  const from = makeIncident(db, acme, cart, { title: 'Cart is slow', ...started })
  const into = makeIncident(db, acme, web, { title: 'Web is down', severity: 'warning' })
  const fires = makeAlert(db, acme, cart, { incident_id: from.key, severity: 'critical' })
  makeCorrelation(db, acme, cart, 0.5, fires)
  makeTimelineEntry(db, from, 'rolled back')
  const token = acme.token
  const merge = (id = from.id, body: unknown = { into: into.id }, as = token) =>
    request('POST', `/api/incidents/${id}/merge`, { token: as, body })
  const get = async (id: string) => (await request('GET', `/api/incidents/${id}`, { token })).body
  return { ...world, cart, web, from, into, fires, merge, get, token }
}

test('a merge moves alerts, links and timeline entries', async (t) => {
  const { from, into, fires, merge, get } = two(t)
  const { status, body } = await merge()
  const [gone, kept] = [await get(from.id), await get(into.id)]
  assert.deepEqual(
    [status, body.id, body.severity, body.startedAt],
    [200, into.id, 'critical', '2026-03-14T11:59:00.000Z'],
  )
  assert.deepEqual([gone.alerts.length, gone.alertCount, gone.correlations.length], [0, 0, 0])
  assert.deepEqual([kept.alerts[0].id, kept.alertCount, kept.correlations.length], [fires.id, 1, 1])
  assert.ok(kept.timeline.some(({ text }: { text: string }) => text === 'rolled back'))
})

test('what is about the source itself stays in its timeline: its opening, its status and what a user edited', async (t) => {
  const { from, into, merge, get, request, token } = two(t)
  const change = (id: string, body: object) => request('PATCH', `/api/incidents/${id}`, { token, body })
  await change(from.id, { title: 'Cart loses orders' })
  await change(from.id, { severity: 'error' })
  await change(into.id, { title: 'Web is away' })
  await merge()
  const edits = async (id: string) => {
    const { timeline } = await get(id)
    return timeline.flatMap(({ kind, text }: { kind: string; text: string }) => (kind === 'edited' ? [text] : []))
  }
  assert.deepEqual(await edits(into.id), ['changed the title: Web is away'])
  assert.equal((await edits(from.id)).length, 2)
})

test('a merge resolves the source, and both timelines name the other incident', async (t) => {
  const { from, into, merge, get } = two(t)
  await merge()
  const [gone, kept] = [await get(from.id), await get(into.id)]
  const merged = ({ timeline }: { timeline: { kind: string }[] }) => timeline.find(({ kind }) => kind === 'merged')
  assert.deepEqual([gone.status, gone.hasPostmortem, kept.status], ['resolved', true, 'open'])
  const by = { actor: "Acme's token" }
  assert.partialDeepStrictEqual(merged(gone), {
    ...by,
    text: 'merged into “Web is down” (incident 2)',
    ref: `incident/${into.id}`,
  })
  const took = 'merged into this incident: “Cart is slow” (incident 1)'
  assert.partialDeepStrictEqual(merged(kept), { ...by, text: took, ref: `incident/${from.id}` })
})

test('the source cannot be reopened, but its title can be changed; Charlie does not find it', async (t) => {
  const { from, merge, request, token, charlie } = two(t)
  await merge()
  const change = (body: object, as = token) => request('PATCH', `/api/incidents/${from.id}`, { token: as, body })
  const { status, body } = await change({ status: 'open' })
  assert.deepEqual(
    [status, body.detail],
    [409, 'this incident was merged into incident 2: reopen that one, or open another one'],
  )
  assert.equal((await change({ title: 'Cart' })).status, 200)
  assert.equal((await change({ status: 'open' }, charlie.token)).status, 404)
})

test('the postmortem of the source contains its former alerts', async (t) => {
  const { from, merge, request, token } = two(t)
  await merge()
  const { text } = await request('GET', `/api/incidents/${from.id}/postmortem`, {
    token,
    headers: { accept: 'text/markdown' },
  })
  assert.match(text, /HighLatency/)
})

test('no further incident opens while a moved alert is firing', async (t) => {
  const { request, token } = acmesWorld(t)
  await request('POST', '/api/webhooks/metrics', { token, body: trouble('cart') })
  const [from] = (await request('GET', '/api/incidents', { token })).body.data
  await request('POST', '/api/webhooks/metrics', { token, body: trouble('web') })
  const [into] = (await request('GET', '/api/incidents', { token })).body.data
  const answer = await request('POST', `/api/incidents/${from.id}/merge`, { token, body: { into: into.id } })
  await request('POST', '/api/webhooks/metrics', { token, body: trouble('cart') })
  const open = (await request('GET', '/api/incidents?status=open', { token })).body
  assert.deepEqual(
    [answer.status, answer.body.alertCount, open.data.map(({ id }: { id: string }) => id)],
    [200, 2, [into.id]],
  )
})

test('the end of a moved alert is in the timeline of the target', async (t) => {
  const { request, token } = acmesWorld(t)
  for (const service of ['cart', 'web'])
    await request('POST', '/api/webhooks/metrics', { token, body: trouble(service) })
  const { data } = (await request('GET', '/api/incidents', { token })).body
  const [into, from] = data
  await request('POST', `/api/incidents/${from.id}/merge`, { token, body: { into: into.id } })
  const { alerts } = (await request('GET', `/api/incidents/${into.id}`, { token })).body
  const moved = alerts.find(({ serviceId }: { serviceId: string }) => serviceId === from.serviceId)
  await request('PATCH', `/api/alerts/${moved.id}`, { token, body: { status: 'resolved' } })
  const { timeline } = (await request('GET', `/api/incidents/${into.id}`, { token })).body
  assert.partialDeepStrictEqual(
    timeline.find(({ kind }: { kind: string }) => kind === 'ended'),
    {
      ref: `alert/${moved.id}`,
    },
  )
})

test('a resolved incident can be merged into an open one', async (t) => {
  const { db, acme, cart, into, merge, get } = two(t)
  const old = makeIncident(db, acme, cart, { status: 'resolved', resolved_at: NOON, alert_count: 1 })
  makeAlert(db, acme, cart, { incident_id: old.key })
  const { status } = await merge(old.id)
  assert.deepEqual([status, (await get(into.id)).alertCount, (await get(old.id)).alerts], [200, 1, []])
})

for (const [what, wanted, status, detail] of [
  [
    'itself',
    ({ from }: Two) => ({ into: from.id }),
    409,
    /cannot be merged into itself: choose two different incidents/,
  ],
  ['no incident', () => ({ into: newUuid() }), 422, /^into: this incident does not exist/],
  ['what is no id', () => ({ into: 'x' }), 400, /^body: into: expected a UUID/],
  ['nothing', () => ({}), 400, /^body: into: missing/],
] as const) {
  test(`an incident cannot be merged into ${what}, and stays unchanged`, async (t) => {
    const world = two(t)
    const before = await world.get(world.from.id)
    const answer = await world.merge(world.from.id, wanted(world))
    assert.equal(answer.status, status)
    assert.match(answer.body.detail, detail)
    assert.deepEqual(await world.get(world.from.id), before)
  })
}
type Two = ReturnType<typeof two>

test('an incident cannot be merged into a resolved one', async (t) => {
  const { request, into, merge, token } = two(t)
  await request('PATCH', `/api/incidents/${into.id}`, { token, body: { status: 'resolved' } })
  const { status, body } = await merge()
  assert.equal(status, 409)
  assert.match(body.detail, /is resolved: reopen it first, or merge in the other direction/)
})

test('Charlie cannot merge an incident of Acme, as source or as target', async (t) => {
  const { db, charlie, from, merge, get } = two(t)
  const own = makeIncident(db, charlie, makeService(db, charlie, 'mine'))
  const gone = await merge(from.id, { into: own.id }, charlie.token)
  const kept = await merge(own.id, { into: from.id }, charlie.token)
  assert.deepEqual([gone.status, kept.status, (await get(from.id)).status], [404, 422, 'open'])
})

function acmesWorld(t: TestContext) {
  const world = makeWorld(t)
  return { ...world, token: world.acme.token }
}

function trouble(service: string) {
  return alertmanager([alert('HighErrorRate', { service, severity: 'critical' }, { startsAt: NOON })])
}

for (const [name, firstEnd, secondEnd, minutes] of [
  ['the merged problem ends last', 10, 12, 12],
  ['the own problem ends last', 12, 10, 12],
  ['both end together', 10, 10, 10],
] as const) {
  test(`a merged incident was critical until the last of its problems ended: ${name}`, async (t) => {
    const { request, acme, clock, deps } = makeWorld(t)
    const token = acme.token
    const fire = (service: string, end?: number) => {
      const times = { startsAt: NOON, ...(end === undefined ? {} : { endsAt: NOON + end * MINUTE }) }
      const body = alertmanager([alert('Down', { service }, times)], { groupKey: service })
      return request('POST', '/api/webhooks/metrics', { token, body })
    }
    await fire('alpha')
    await fire('beta')
    const listed = async () => (await request('GET', '/api/incidents', { token })).body.data
    const [from, into] = (await listed()).sort((a: { title: string }, b: { title: string }) =>
      a.title < b.title ? 1 : -1,
    )
    await request('POST', `/api/incidents/${from.id}/merge`, { token, body: { into: into.id } })
    for (const minute of [10, 12]) {
      clock.now = NOON + minute * MINUTE
      if (firstEnd === minute) await fire('alpha', minute)
      if (secondEnd === minute) await fire('beta', minute)
      while (await deps.engine.sweep());
    }
    clock.now = NOON + 20 * MINUTE
    while (await deps.engine.sweep());
    const kept = (await request('GET', `/api/incidents/${into.id}`, { token })).body
    assert.equal(kept.criticalSeconds, minutes * 60)
  })
}

for (const isDeclared of [true, false]) {
  test(`the postmortem names ${isDeclared ? 'what a user declared in' : 'the service of'} the merged incident`, async (t) => {
    const { acme, clock, db, request } = makeWorld(t)
    const { token } = acme
    const pay = makeService(db, acme, 'pay')
    const fire = (service: string) =>
      request('POST', '/api/webhooks/metrics', {
        token,
        body: alertmanager([alert('Down', { service }, { startsAt: NOON })]),
      })
    await fire('refund')
    const declaring = { serviceId: pay.id, title: 'Customers pay twice', severity: 'critical' }
    if (isDeclared) await request('POST', '/api/incidents', { token, body: declaring })
    else await fire('pay')
    const { data } = (await request('GET', '/api/incidents', { token })).body
    const isRefund = ({ title }: { title: string }) => title.startsWith('refund')
    const [into, from] = [data.find(isRefund), data.find((one: { title: string }) => !isRefund(one))]
    clock.now += MINUTE
    await request('POST', `/api/incidents/${from.id}/merge`, { token, body: { into: into.id } })
    clock.now += 6 * MINUTE
    await request('PATCH', `/api/incidents/${into.id}`, { token, body: { status: 'resolved' } })
    const { summary } = (await request('GET', `/api/incidents/${into.id}/postmortem`, { token })).body
    const [{ text }] = summary.sentences
    const expected = isDeclared
      ? 'shop/refund had been critical, or “Customers pay twice” of pay had gone on, since'
      : 'At least one of shop/refund and shop/pay had been critical since'
    assert.ok(text.startsWith(expected), text)
  })
}

test('an alert whose name is quoted was not declared by a user', async (t) => {
  const { acme, clock, request } = makeWorld(t)
  const { token } = acme
  const body = alertmanager([alert('“Down”', { service: 'refund' }, { startsAt: NOON })])
  await request('POST', '/api/webhooks/metrics', { token, body })
  const [{ id }] = (await request('GET', '/api/incidents', { token })).body.data
  clock.now += 6 * MINUTE
  await request('PATCH', `/api/incidents/${id}`, { token, body: { status: 'resolved' } })
  const { summary } = (await request('GET', `/api/incidents/${id}/postmortem`, { token })).body
  assert.match(summary.sentences[0].text, /^shop\/refund had been critical/)
})

/** Merges an incident that Ann may have acknowledged into one of another status. Returns the one that goes on. */
async function mergedAs(t: TestContext, from: string, into: string) {
  const world = two(t)
  const ann = makeToken(world.db, world.acme, ['read', 'write'], { name: 'Ann' })
  const change = (id: string, status: string, token: string) =>
    world.request('PATCH', `/api/incidents/${id}`, { token, body: { status } })
  if (from !== 'open') await change(world.from.id, from, ann)
  if (into !== 'open') await change(world.into.id, into, world.token)
  await world.merge()
  const { status, acknowledgedBy } = await world.get(world.into.id)
  return `${status} ${acknowledgedBy}`
}

for (const [from, into, wanted] of [
  ['investigating', 'open', 'investigating Ann'],
  ['identified', 'open', 'identified Ann'],
  ['open', 'open', 'open null'],
  ['resolved', 'open', 'open null'],
  ['investigating', 'identified', "identified Acme's token"],
] as const)
  test(`an incident that is ${from}, merged into one that is ${into}: ${wanted}`, async (t) =>
    assert.equal(await mergedAs(t, from, into), wanted))
