/** GET /api/services/:id/changes: a service's pipelines and rollouts, and its last good deploy. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { makeCorrelation, makeService, NOON, newUuid } from '../helpers/factory.ts'
import { build, kubernetesEvent, pipeline } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

const HOUR = 3_600_000
const SCALED = 'Scaled up replica set cart-5d4f8c7b9 to 3'

async function start(t: TestContext) {
  const world = makeWorld(t)
  const { acme, request, clock } = world
  const { token } = acme
  /** Sends a pipeline that ended this many hours before noon. */
  const send = (id: number, hours: number, status = 'success') =>
    request('POST', '/api/webhooks/ci', {
      token,
      body: pipeline(status, 'shop/cart', { id, at: NOON - hours * HOUR, jobs: [build('deploy', status)] }),
    })
  const rollout = async () => {
    const more = { kind: 'Deployment', message: SCALED, at: NOON - HOUR }
    const body = kubernetesEvent('ScalingReplicaSet', 'cart', more)
    await request('POST', '/api/webhooks/cluster', { token, body })
  }
  const serviceId = async () => (await request('GET', '/api/services', { token })).body[0].id
  const changes = async (query = '', who = token) =>
    request('GET', `/api/services/${await serviceId()}/changes${query}`, { token: who })
  return { ...world, token, send, rollout, serviceId, changes, clock }
}

test('pipelines and rollouts are listed, the latest first', async (t) => {
  const { send, rollout, changes } = await start(t)
  await send(30, 5)
  await rollout()
  const { body } = await changes()
  assert.deepEqual(
    body.changes.map(({ kind, ref }: Record<string, string>) => [kind, ref]),
    [
      ['rollout', 'shop/cart@5d4f8c7b9'],
      ['pipeline', 'shop/cart#30'],
    ],
  )
  const [, { outcome, branch, sha, url }] = body.changes
  assert.deepEqual([outcome, branch, sha.slice(0, 8)], ['deployed', 'main', '9b1c3d5e'])
  assert.equal(url, 'https://gitlab.example/shop/cart/-/pipelines/30')
})

test('the address of a pipeline has no query of its project', async (t) => {
  const { token, request, changes } = await start(t)
  const jobs = [build('deploy', 'success')]
  const text = JSON.stringify(pipeline('success', 'shop/cart', { id: 31, at: NOON - HOUR, jobs }))
  const body = text.replace('gitlab.example/shop/cart', 'gitlab.example/shop/cart/?from=hook#top')
  await request('POST', '/api/webhooks/ci', { token, body })
  assert.equal((await changes()).body.changes[0].url, 'https://gitlab.example/shop/cart/-/pipelines/31')
})

for (const user of ['bot:hunter2', 'hunter2', ':hunter2', 'bot:hun%40ter2@hunter2']) {
  test(`the user part ${user} of a project's address is neither stored nor shown`, async (t) => {
    const { token, request, changes, db } = await start(t)
    const jobs = [build('deploy', 'success')]
    const text = JSON.stringify(pipeline('success', 'shop/cart', { id: 32, at: NOON - HOUR, jobs }))
    const body = text.replaceAll('//gitlab.example', `//${user}@gitlab.example`)
    await request('POST', '/api/webhooks/ci', { token, body })
    const [{ url }] = (await changes()).body.changes
    assert.equal(url, 'https://gitlab.example/shop/cart/-/pipelines/32')
    const stored = ['events', 'pipelines'].map((table) => db.all(db.sql.selectFrom(table as 'events').selectAll()))
    assert.doesNotMatch(JSON.stringify(stored), /hunter2|ter2/)
  })
}

test('the last good deploy is the last one that did not fail', async (t) => {
  const { send, changes } = await start(t)
  await send(29, 9)
  await send(30, 5)
  await send(31, 2, 'failed')
  assert.equal((await changes()).body.lastGoodDeploy.ref, 'shop/cart#30')
})

test('a deploy linked to an alert is not good, unless the link is rejected', async (t) => {
  const { send, changes, db, acme, serviceId } = await start(t)
  await send(29, 9)
  await send(30, 5)
  const service = { id: await serviceId(), key: 1 }
  const { key } = makeCorrelation(db, acme, service, 0.9)
  db.run(db.sql.updateTable('correlations').set({ change_ref: 'shop/cart#30' }).where('id', '=', key))
  assert.equal((await changes()).body.lastGoodDeploy.ref, 'shop/cart#29')
  db.run(db.sql.updateTable('correlations').set({ verdict: 'rejected' }).where('id', '=', key))
  assert.equal((await changes()).body.lastGoodDeploy.ref, 'shop/cart#30')
})

test('only changes within the period are listed, and the last good deploy before its end', async (t) => {
  const { send, changes } = await start(t)
  await send(29, 30)
  await send(30, 5)
  const day = new Date(NOON - 24 * HOUR).toISOString()
  const { body } = await changes(`?from=2026-03-01&to=${day}`)
  assert.deepEqual(
    [body.changes.length, body.changes[0].ref, body.lastGoodDeploy.ref],
    [1, 'shop/cart#29', 'shop/cart#29'],
  )
})

test('a service without changes has no last good deploy', async (t) => {
  const { db, acme, changes } = await start(t)
  makeService(db, acme, 'cart')
  const { body } = await changes()
  assert.deepEqual([body.changes, body.lastGoodDeploy], [[], null])
})

test('the page of the service shows the last good deploy', async (t) => {
  const { app, send, serviceId, token } = await start(t)
  await send(30, 5)
  const browser = makeBrowser(app)
  await browser.signIn(token)
  assert.match(
    (await browser.get(`/services/${await serviceId()}`)).html,
    /Last good deploy: <a href="[^"]*\/pipelines\/30"[^>]*>#30 \(9b1c3d5e\)</,
  )
})

test("Charlie cannot read Acme's changes, and nobody can read those of a missing service", async (t) => {
  const { send, changes, charlie, request, token } = await start(t)
  await send(30, 5)
  assert.equal((await changes('', charlie.token)).status, 404)
  assert.equal((await request('GET', `/api/services/${newUuid()}/changes`, { token })).status, 404)
})

test('a period that ends before it starts is refused by name', async (t) => {
  const { send, changes } = await start(t)
  await send(30, 5)
  const { status, body } = await changes('?from=2026-03-14&to=2026-03-01')
  assert.deepEqual([status, body.errors[0].path], [400, 'from'])
})
