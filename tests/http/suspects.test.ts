/** GET /api/incidents/:id/suspects: the response format. The ranking itself is tested in domain/. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Member, makeWorld } from '../helpers/app.ts'
import { MINUTE, makeIncident, makeService, NOON, newUuid } from '../helpers/factory.ts'
import { alert, alertmanager, build, pipeline } from '../helpers/senders.ts'

/**
 * Acme's cart fails a minute after its deploy. Charlie has a service with the same name and a deploy of his own at that
 * time.
 */
async function badDeploy(t: Parameters<typeof makeWorld>[0]) {
  const world = makeWorld(t)
  const { acme, charlie, clock, request } = world
  const fires = [alert('HighErrorRate', { service: 'cart' }, { startsAt: NOON + MINUTE })]
  for (const { token } of [acme, charlie]) {
    clock.now = NOON
    const deployed = pipeline('success', 'shop/cart', { at: NOON, jobs: [build('deploy', 'success')] })
    await request('POST', '/api/webhooks/ci', { token, body: deployed })
    clock.now = NOON + 2 * MINUTE
    await request('POST', '/api/webhooks/metrics', { token, body: alertmanager(fires) })
  }
  const incidentOf = async ({ token }: Member) => (await request('GET', '/api/incidents', { token })).body.data[0].id
  const [ours, theirs] = [await incidentOf(acme), await incidentOf(charlie)]
  const suspects = (id: string, { token } = acme) => request('GET', `/api/incidents/${id}/suspects`, { token })
  return { ...world, ours, theirs, suspects }
}

test('the deploy before the first alert is first, with reasons and evidence', async (t) => {
  const { ours, suspects } = await badDeploy(t)
  const { data } = (await suspects(ours)).body
  assert.deepEqual([data[0].kind, data[0].ref], ['pipeline', 'shop/cart#31'])
  assert.ok(data[0].reasons.length > 0 && data[0].evidence.length > 0)
  assert.ok(data[0].score > 0 && data[0].score <= 1)
  assert.match(String(data[0].score), /^(?:1|0\.\d{1,2})$/)
})

test('the list has data and pagination with a single page', async (t) => {
  const { ours, suspects } = await badDeploy(t)
  const { data, pagination } = (await suspects(ours)).body
  assert.deepEqual(pagination, { page: 1, limit: 20, total: data.length, totalPages: 1 })
})

test('sorts by score, with the same result each time', async (t) => {
  const { ours, suspects } = await badDeploy(t)
  const first = await suspects(ours)
  const scores = first.body.data.map(({ score }: { score: number }) => score)
  assert.deepEqual(
    scores,
    scores.toSorted((a: number, b: number) => b - a),
  )
  assert.equal((await suspects(ours)).text, first.text)
})

test('an incident without a nearby change has no suspect', async (t) => {
  const { db, acme, request } = makeWorld(t)
  const { id } = makeIncident(db, acme, makeService(db, acme, 'cart'))
  const { status, body } = await request('GET', `/api/incidents/${id}/suspects`, { token: acme.token })
  assert.deepEqual([status, body.data, body.pagination.total], [200, [], 0])
})

test('Charlie, who has the same names, gets only his own records', async (t) => {
  const { ours, theirs, charlie, suspects } = await badDeploy(t)
  const [mine, his] = [await suspects(ours), await suspects(theirs, charlie)]
  const ids = (text: string): string[] => text.match(/[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? []
  assert.ok(ids(mine.text).length > 1 && ids(mine.text).every((id) => !his.text.includes(id)))
  assert.equal(his.body.data[0].ref, 'shop/cart#31')
})

test('an alert that ended before the resolution and fired again afterwards was not firing at the resolution', async (t) => {
  const { acme, clock, ours, request, suspects } = await badDeploy(t)
  const send = async (minute: number, ...alerts: ReturnType<typeof alert>[]) => {
    clock.now = NOON + minute * MINUTE
    await request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager(alerts) })
  }
  // A warning that fires again does not reopen the incident.
  const labels = { service: 'cart', severity: 'warning' }
  const [startsAt, endsAt] = [NOON + 3 * MINUTE, NOON + 5 * MINUTE]
  await send(3, alert('QueueFull', labels, { startsAt }))
  await send(5, alert('QueueFull', labels, { startsAt, endsAt }))
  clock.now = NOON + 7 * MINUTE
  await request('PATCH', `/api/incidents/${ours}`, { token: acme.token, body: { status: 'resolved' } })
  await send(8, alert('QueueFull', labels, { startsAt: NOON + 8 * MINUTE }))
  const { text } = await suspects(ours)
  assert.match(text, /HighErrorRate[^"]*still firing when the incident was resolved/)
  assert.match(text, /QueueFull[^"]*ended at 2[^"]*:05:00 UTC/)
})

test('a verdict is the first reason of the suspect', async (t) => {
  const { acme, ours, request, suspects } = await badDeploy(t)
  assert.doesNotMatch((await suspects(ours)).text, /a user/)
  const change = { incident: ours, change: { kind: 'pipeline', ref: 'shop/cart#31' } }
  const links = (await request('GET', '/api/correlations', { token: acme.token })).body.data
  for (const { id } of links)
    await request('PATCH', `/api/correlations/${id}`, { token: acme.token, body: { verdict: 'rejected' } })
  const judged = (await suspects(ours)).body.data.find(({ ref }: { ref: string }) => ref === change.change.ref)
  assert.deepEqual(judged.reasons[0], { code: 'rejected', text: 'a user rejected this change as the cause' })
})

test('a foreign incident, a missing one and a malformed id give the same error', async (t) => {
  const { ours, charlie, suspects } = await badDeploy(t)
  const answers = await Promise.all([ours, newUuid(), 'x'].map((id) => suspects(id, charlie)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([404]))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
})
