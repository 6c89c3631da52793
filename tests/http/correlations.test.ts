/** GET /api/correlations, and verdicts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, makeCorrelation, makeService, NOON, newUuid } from '../helpers/factory.ts'
import { alert, alertmanager, build, kubernetesEvent, pipeline } from '../helpers/senders.ts'

function acmesLinks(t: Parameters<typeof makeWorld>[0]) {
  const world = makeWorld(t)
  const cart = makeService(world.db, world.acme, 'cart')
  const [weak, strong] = [0.25, 0.9].map((score) => makeCorrelation(world.db, world.acme, cart, score))
  return { ...world, cart, weak: weak!, strong: strong!, token: world.acme.token }
}

/**
 * Reports through webhooks that cart is down and that its deploy failed a minute earlier. `deploy` reports the pipeline
 * again.
 */
async function failedDeploy(t: Parameters<typeof makeWorld>[0]) {
  const world = makeWorld(t)
  const { db, request } = world
  const token = world.acme.token
  const deploy = (status: string) => {
    const body = pipeline(status, 'shop/cart', { at: NOON - MINUTE, jobs: [build('deploy', status)] })
    return request('POST', '/api/webhooks/ci', { token, body: { ...body, told: status } })
  }
  const down = alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON - 2 * MINUTE })])
  await request('POST', '/api/webhooks/metrics', { token, body: down })
  await deploy('failed')
  const links = async () => (await request('GET', '/api/correlations', { token })).body.data
  const judge = (id: string, body: unknown) => request('PATCH', `/api/correlations/${id}`, { token, body })
  const aliases = () => db.all(db.sql.selectFrom('aliases').select(['kind', 'value']))
  return { ...world, token, deploy, links, judge, aliases }
}

test('lists links, newest first, with change, evidence, score and reasons', async (t) => {
  const { cart, strong, weak, request, token } = acmesLinks(t)
  const { data } = (await request('GET', '/api/correlations', { token })).body
  assert.deepEqual(data.map(idOf), [strong.id, weak.id])
  const { serviceId, change, evidence, score, reasons, lagSeconds, verdict } = data[0]
  assert.deepEqual([serviceId, change.kind, change.ref, evidence.count], [cart.id, 'pipeline', 'acme/shop!7', 2])
  assert.deepEqual([score, lagSeconds, verdict, reasons[0].code], [0.9, -30, null, 'during_run'])
})

test('minScore, serviceId, from and to filter the list', async (t) => {
  const { cart, request, token } = acmesLinks(t)
  const queries = ['minScore=0.5', `serviceId=${cart.id}`, `serviceId=${newUuid()}`, 'from=2026-03-15', 'to=2026-03-14']
  const answers = await Promise.all(queries.map((query) => request('GET', `/api/correlations?${query}`, { token })))
  assert.deepEqual(
    answers.map(({ body }) => body.pagination.total),
    [1, 2, 0, 0, 2],
  )
})

for (const value of ['1.1', '-0.1', 'strong', '']) {
  test(`minScore=${value} is refused by name`, async (t) => {
    const { request, token } = acmesLinks(t)
    const { status, body } = await request('GET', `/api/correlations?minScore=${value}`, { token })
    assert.deepEqual([status, body.errors[0].path], [400, 'minScore'])
  })
}

test('a verdict is stored and can be withdrawn', async (t) => {
  const { strong, request, token } = acmesLinks(t)
  const path = `/api/correlations/${strong.id}`
  const given = await request('PATCH', path, { token, body: { verdict: 'rejected' } })
  const taken = await request('PATCH', path, { token, body: { verdict: null } })
  assert.deepEqual([given.body.verdict, taken.body.verdict], ['rejected', null])
  assert.deepEqual([typeof given.body.verdictBy, taken.body.verdictBy], ['string', null])
})

test('a new verdict has a row in the timeline of its incident, with who gave it', async (t) => {
  const { request, token, links, judge, charlie } = await failedDeploy(t)
  const [{ id, change }] = await links()
  const [incident] = (await request('GET', '/api/incidents', { token })).body.data
  const rows = async () => {
    const { timeline } = (await request('GET', `/api/incidents/${incident.id}`, { token })).body
    return timeline
      .filter(({ kind }: { kind: string }) => kind === 'edited')
      .map(({ text, actor }: { text: string; actor: string }) => [text, actor])
  }
  for (const verdict of ['confirmed', 'confirmed', 'rejected', null, null]) await judge(id, { verdict })
  const name = `pipeline ${change.ref}`
  const expected = [
    `confirmed ${name} as the cause`,
    `rejected ${name} as the cause`,
    `withdrew the verdict on ${name}`,
  ]
  assert.deepEqual(
    (await rows()).sort(),
    expected.map((text) => [text, "Acme's token"]),
  )
  const refused = await request('PATCH', `/api/correlations/${id}`, {
    token: charlie.token,
    body: { verdict: 'confirmed' },
  })
  assert.deepEqual([refused.status, (await rows()).length], [404, 3])
})

for (const [kind, both] of [
  ['pipeline', true],
  ['rollout', false],
] as const) {
  test(`a verdict on a ${kind} applies to ${both ? 'the rollout that it caused, too' : 'nothing else'}`, async (t) => {
    const { acme, clock, request } = makeWorld(t)
    const { token } = acme
    const send = (path: string, body: unknown) => request('POST', `/api/webhooks/${path}`, { token, body })
    clock.now = NOON
    await send('ci', pipeline('success', 'shop/cart', { at: NOON, jobs: [build('deploy', 'success')] }))
    const message = 'Scaled up replica set cart-5d4f8c7b9 to 2'
    const scaled = { kind: 'Deployment', message, at: NOON + 30_000, type: 'Normal' } as const
    await send('cluster', kubernetesEvent('ScalingReplicaSet', 'cart', scaled))
    clock.now = NOON + 2 * MINUTE
    const labels = { service: 'cart', deployment: 'cart', namespace: 'shop' }
    await send('metrics', alertmanager([alert('Down', labels, { startsAt: NOON + MINUTE })]))
    const links = async () => (await request('GET', '/api/correlations', { token })).body.data
    const one = (await links()).find(({ change }: { change: { kind: string } }) => change.kind === kind)
    await request('PATCH', `/api/correlations/${one.id}`, { token, body: { verdict: 'rejected' } })
    const verdicts = (await links()).map(({ verdict }: { verdict: string }) => verdict)
    assert.deepEqual(verdicts.filter(Boolean), both ? ['rejected', 'rejected'] : ['rejected'])
    const [incident] = (await request('GET', '/api/incidents', { token })).body.data
    const { timeline } = (await request('GET', `/api/incidents/${incident.id}`, { token })).body
    const said = timeline.find(({ text }: { text: string }) => text.startsWith('rejected')).text
    assert.equal(said.includes('pipeline') && said.includes('rollout'), both, said)
  })
}

for (const body of [{}, { verdict: 'maybe' }, { verdict: true }]) {
  test(`${JSON.stringify(body)} is not a verdict`, async (t) => {
    const { strong, request, token } = acmesLinks(t)
    const answer = await request('PATCH', `/api/correlations/${strong.id}`, { token, body })
    assert.deepEqual([answer.status, answer.body.errors[0].path], [400, 'verdict'])
  })
}

test("a rejected link stays rejected when the pipeline's next notification arrives", async (t) => {
  const { deploy, links, judge } = await failedDeploy(t)
  const [before] = await links()
  await judge(before.id, { verdict: 'rejected' })
  await deploy('success')
  const [after, ...others] = await links()
  assert.notEqual(after.score, before.score, 'it was computed anew')
  assert.deepEqual([after.id, after.verdict, others], [before.id, 'rejected', []])
})

for (const [verdict, left] of [
  [null, 0],
  ['confirmed', 1],
  ['rejected', 1],
] as const) {
  test(`a link without evidence that is ${verdict} leaves ${left}`, async (t) => {
    const { deploy, links, judge } = await failedDeploy(t)
    const [{ id }] = await links()
    await judge(id, { verdict })
    await deploy('skipped')
    assert.deepEqual(
      (await links()).map((link: { id: string; verdict: string }) => [link.id, link.verdict]),
      Array(left).fill([id, verdict]),
    )
  })
}

test('a confirmation with an alias assigns the project to the service', async (t) => {
  const { db, links, judge, aliases } = await failedDeploy(t)
  const [{ id }] = await links()
  const answers = [
    await judge(id, { verdict: 'confirmed', alias: true }),
    await judge(id, { verdict: 'confirmed', alias: true }),
  ]
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.verdict]),
    Array(2).fill([200, 'confirmed']),
  )
  assert.deepEqual(aliases(), [{ kind: 'ci-project', value: 'shop/cart' }])
  assert.equal(db.all(db.sql.selectFrom('services').select('id')).length, 1)
})

test('refuses an alias of another service together with the verdict', async (t) => {
  const { db, acme, request, token, links, judge, aliases } = await failedDeploy(t)
  const web = makeService(db, acme, 'web')
  const taken = [{ kind: 'ci-project', value: 'shop/cart' }]
  await request('PATCH', `/api/services/${web.id}`, { token, body: { aliases: taken } })
  const [{ id }] = await links()
  const { status, body } = await judge(id, { verdict: 'confirmed', alias: true })
  assert.equal(status, 409)
  assert.match(body.detail, /already an alias of another service; remove it from that service first/)
  assert.deepEqual([(await links())[0].verdict, aliases()], [null, taken])
})

test('a rollout has no project, so an alias is refused', async (t) => {
  const { db, strong, request, token } = acmesLinks(t)
  db.run(db.sql.updateTable('correlations').set({ change_kind: 'rollout' }).where('id', '=', strong.key))
  const body = { verdict: 'confirmed', alias: true }
  const answer = await request('PATCH', `/api/correlations/${strong.id}`, { token, body })
  assert.deepEqual([answer.status, answer.body.errors[0].path], [400, 'alias'])
  assert.match(answer.body.detail, /not valid for a rollout, which has no project; omit this field/)
})

test('if the project of a pipeline is unknown, the error says where to set the alias', async (t) => {
  const { strong, request, token } = acmesLinks(t)
  const body = { verdict: 'confirmed', alias: true }
  const answer = await request('PATCH', `/api/correlations/${strong.id}`, { token, body })
  assert.equal(answer.status, 409)
  assert.match(answer.body.detail, /PATCH \/api\/services\/:id/)
})

for (const [body, path] of [
  [{ verdict: 'rejected', alias: true }, 'alias'],
  [{ verdict: null, alias: true }, 'alias'],
  [{ verdict: 'confirmed', alias: 'yes' }, 'alias'],
  [{ alias: true }, 'verdict'],
] as const) {
  test(`${JSON.stringify(body)} is refused, and the error names ${path}`, async (t) => {
    const { strong, request, token } = acmesLinks(t)
    const answer = await request('PATCH', `/api/correlations/${strong.id}`, { token, body })
    const [kept] = (await request('GET', '/api/correlations', { token })).body.data
    assert.deepEqual([answer.status, answer.body.errors[0].path, kept.verdict], [400, path, null])
  })
}

test('Charlie cannot create an alias for a foreign link', async (t) => {
  const { charlie, request, links, aliases } = await failedDeploy(t)
  const [{ id }] = await links()
  const body = { verdict: 'confirmed', alias: true }
  const { status } = await request('PATCH', `/api/correlations/${id}`, { token: charlie.token, body })
  assert.deepEqual([status, aliases()], [404, []])
})

test('Charlie can neither see nor judge a foreign link', async (t) => {
  const { charlie, cart, strong, request } = acmesLinks(t)
  const token = charlie.token
  const lists = ['', `serviceId=${cart.id}`].map((query) => request('GET', `/api/correlations?${query}`, { token }))
  const judge = (id: string) => request('PATCH', `/api/correlations/${id}`, { token, body: { verdict: 'rejected' } })
  const [foreign, missing] = [await judge(strong.id), await judge(newUuid())]
  assert.deepEqual(
    (await Promise.all(lists)).map(({ body }) => body.pagination.total),
    [0, 0],
  )
  assert.deepEqual([foreign.status, foreign.text], [404, missing.text])
})

const idOf = ({ id }: { id: string }) => id
