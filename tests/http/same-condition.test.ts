/** A condition stays one alert while its service gets a cluster or another name. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, type Body, crashLoop, pipeline } from '../helpers/senders.ts'

type World = ReturnType<typeof makeWorld>

const POD = 'cart-5d4f8c7b9-x2kqp'
const PROD = { service: 'cart', cluster: 'prod' }
const errors = (severity: string, labels: Readonly<Record<string, string>> = PROD) =>
  alert('HighErrorRate', { ...labels, severity }, { startsAt: NOON })
const both = (labels?: Readonly<Record<string, string>>) => [errors('warning', labels), errors('critical', labels)]

async function send({ acme, request }: World, source: string, body: Body) {
  const { status } = await request('POST', `/api/webhooks/${source}`, { token: acme.token, body })
  assert.equal(status, 200)
}

const notify = (world: World, ...alerts: readonly Body[]) => send(world, 'metrics', alertmanager(alerts))
const deployFails = (world: World) => send(world, 'ci', pipeline('failed', 'shop/cart', { at: NOON - MINUTE }))
/** An event of a sender that names its cluster. */
const podCrashes = (world: World, cluster: string | null) =>
  send(world, 'cluster', { ...crashLoop(POD, { count: 9, at: NOON }), ...(cluster ? { clusterName: cluster } : {}) })

/** Returns `name severity`, a line for each alert of cart that no pipeline sent. */
async function alertsOf({ acme, request }: World): Promise<string[]> {
  const { body } = await request('GET', '/api/alerts', { token: acme.token })
  const found: { source: string; name: string; severity: string }[] = body.data
  return found.flatMap(({ source, name, severity }) => (source === 'ci' ? [] : [`${name} ${severity}`])).sort()
}

const ONE = ['HighErrorRate critical']

test('two severities in one notification are one alert, although the service gets its cluster from it', async (t) => {
  for (const order of [both(), both().reverse()]) {
    const world = makeWorld(t)
    await deployFails(world)
    await notify(world, ...order)
    assert.deepEqual(await alertsOf(world), ONE)
  }
})

test('two severities in two notifications are one alert, also after a restart', async (t) => {
  for (const restarts of [false, true]) {
    const world = makeWorld(t)
    await deployFails(world)
    await notify(world, errors('warning'))
    if (restarts) await world.deps.engine.reload()
    await notify(world, errors('critical'))
    assert.deepEqual(await alertsOf(world), ONE)
  }
})

test('an event that names the cluster between two severities does not part them', async (t) => {
  const [warning, critical] = both({ service: 'cart' })
  for (const [first, second] of [
    [warning, critical],
    [critical, warning],
  ]) {
    const world = makeWorld(t)
    await deployFails(world)
    await notify(world, first as Body)
    await podCrashes(world, 'prod')
    await world.deps.engine.reload()
    await notify(world, second as Body)
    assert.deepEqual((await alertsOf(world)).length, 2)
  }
})

test('a Kubernetes event that brings the cluster is one alert with its repeat', async (t) => {
  for (const first of ['a pipeline', 'an event without a cluster']) {
    const world = makeWorld(t)
    await (first === 'a pipeline' ? deployFails(world) : podCrashes(world, null))
    for (const _ of [1, 2]) await podCrashes(world, 'prod')
    await notify(world, ...both())
    assert.deepEqual((await alertsOf(world)).length, 2, first)
  }
})

test('two severities are one alert although the service gets another name between them', async (t) => {
  const world = makeWorld(t)
  await notify(world, errors('warning'))
  const { acme, request } = world
  const { body } = await request('GET', '/api/services', { token: acme.token })
  const renamed = { token: acme.token, body: { name: 'basket' } }
  assert.equal((await request('PATCH', `/api/services/${body[0].id}`, renamed)).status, 200)
  await notify(world, errors('critical'))
  assert.deepEqual(await alertsOf(world), ONE)
})

test('the same labels in two clusters are two alerts, whichever cluster came last', async (t) => {
  const world = makeWorld(t)
  await notify(world, errors('warning'), errors('warning', { ...PROD, cluster: 'staging' }))
  await notify(world, errors('critical'))
  assert.deepEqual(await alertsOf(world), [...ONE, 'HighErrorRate warning'])
})
