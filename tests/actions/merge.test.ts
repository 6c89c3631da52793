/** Merging services: everything that belonged to one now belongs to the other, permanently. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listAliases } from '../../src/store/service/services.ts'
import { changeIncident, createService, mergeIncidents, mergeServices, updateService } from '../helpers/acts.ts'
import { MINUTE, NOON, newUuid } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, kubernetesEvent, pipeline } from '../helpers/senders.ts'

const POD = 'cart-5d4f8c7b9-x2kqp'
const OTHER = 'shop-5d4f8c7b9-x2kqp'
const PULL = { message: 'Pulling image "registry.example/shop/cart/web:1.2"' }

function id(flow: Flow, name: string): string {
  return flow.service(name)?.id ?? ''
}
async function merge(flow: Flow, from: string, into: string, by = flow.acme): Promise<void> {
  await mergeServices(flow.deps, by.key, id(flow, from), id(flow, into))
}
function owners(flow: Flow, rows: readonly { service_id: number | null }[]): (string | undefined)[] {
  return rows.map(({ service_id }) => flow.services().find(({ key }) => key === service_id)?.name)
}

/** `cart` is critical and has its own image; `shop` is healthy. */
async function two(flow: Flow): Promise<void> {
  await flow.send('cluster', kubernetesEvent('Pulling', POD, PULL))
  await flow.send('cluster', crashLoop(POD))
  await flow.send('metrics', alertmanager([alert('CartDown', { deployment: 'cart' })]))
  await flow.send('cluster', kubernetesEvent('Started', OTHER), { at: NOON + MINUTE })
}

test('a merge moves history, alerts, incidents, images and times', async (t) => {
  const flow = makeFlow(t)
  await two(flow)
  await merge(flow, 'cart', 'shop')
  const [shop, ...more] = flow.services()
  assert.deepEqual([shop?.name, more.length, shop?.status], ['shop', 0, 'critical'])
  for (const rows of [flow.events(), flow.alerts(), flow.incidents()]) {
    assert.ok(rows.length > 0 && owners(flow, rows).every((name) => name === 'shop'))
  }
  assert.deepEqual([shop?.last_alert_at, shop?.last_event_at], [NOON, NOON + MINUTE])
})

test('events under the old name belong to the same alerts', async (t) => {
  const flow = makeFlow(t)
  await two(flow)
  await merge(flow, 'cart', 'shop')
  await flow.send('cluster', crashLoop(POD), { at: NOON + 2 * MINUTE })
  await flow.send('metrics', alertmanager([alert('CartDown', { deployment: 'cart' })]))
  assert.deepEqual(
    flow.alerts().map(({ name, occurrences }) => [name, occurrences]),
    [
      ['CrashLoopBackOff', 2],
      ['CartDown', 2],
    ],
  )
  assert.deepEqual([flow.services().length, flow.incidents().length], [1, 1])
})

test('a condition that both services have ends as two alerts and starts as one', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD))
  await flow.send('cluster', crashLoop(OTHER))
  await merge(flow, 'cart', 'shop')
  await flow.send('cluster', crashLoop(POD), { at: NOON + MINUTE })
  assert.equal(flow.alerts().length, 2)
  await flow.sweepUntil(NOON + 3 * 60 * MINUTE, 10 * MINUTE)
  assert.ok(flow.alerts().every(({ status }) => status === 'resolved'))
})

test('a second merge keeps the aliases of the first', async (t) => {
  const flow = makeFlow(t)
  await two(flow)
  await merge(flow, 'cart', 'shop')
  await createService(flow.deps, flow.acme.key, { name: 'all', namespace: 'shop' })
  await merge(flow, 'shop', 'all')
  await flow.send('cluster', crashLoop(POD))
  await flow.send('cluster', crashLoop(OTHER))
  assert.deepEqual(
    flow.services().map(({ name }) => name),
    ['all'],
  )
})

test('a merged service cannot be merged again, and a service cannot be merged into itself', async (t) => {
  const flow = makeFlow(t)
  await two(flow)
  const cart = id(flow, 'cart')
  await merge(flow, 'cart', 'shop')
  await assert.rejects(() => mergeServices(flow.deps, flow.acme.key, id(flow, 'shop'), cart), { code: 'unprocessable' })
  await assert.rejects(() => mergeServices(flow.deps, flow.acme.key, cart, id(flow, 'shop')), { code: 'not-found' })
  await assert.rejects(() => merge(flow, 'shop', 'shop'), { code: 'conflict' })
})

test('an alias of another service is a conflict, and nothing changes', async (t) => {
  const flow = makeFlow(t)
  await two(flow)
  const aliases = [{ kind: 'ci-project', value: 'shop/cart' }] as const
  await updateService(flow.deps, flow.acme.key, id(flow, 'cart'), { aliases })
  const take = () => updateService(flow.deps, flow.acme.key, id(flow, 'shop'), { name: 'new', aliases })
  await assert.rejects(take, { code: 'conflict' })
  assert.equal(flow.service('new'), undefined)
  assert.deepEqual(listAliases(flow.deps.db, flow.acme.key, flow.service('cart')?.id ?? ''), aliases)
})

test('a repeated alias is stored once', async (t) => {
  const flow = makeFlow(t)
  await two(flow)
  const alias = { kind: 'image', value: 'shop/cart' } as const
  await updateService(flow.deps, flow.acme.key, id(flow, 'cart'), { aliases: [alias, alias] })
  assert.deepEqual(listAliases(flow.deps.db, flow.acme.key, flow.service('cart')?.id ?? ''), [alias])
})

test('a key that is taken is a conflict', async (t) => {
  const flow = makeFlow(t)
  await two(flow)
  const wanted = { name: 'cart', namespace: 'shop' }
  await assert.rejects(() => createService(flow.deps, flow.acme.key, wanted), { code: 'conflict' })
  await assert.rejects(() => updateService(flow.deps, flow.acme.key, id(flow, 'shop'), { name: 'cart' }), {
    code: 'conflict',
  })
})

test('a renamed service receives events under its old name', async (t) => {
  const flow = makeFlow(t)
  await two(flow)
  await updateService(flow.deps, flow.acme.key, id(flow, 'cart'), { name: 'basket' })
  await flow.send('cluster', crashLoop(POD))
  assert.deepEqual(
    flow.services().map(({ name }) => name),
    ['basket', 'shop'],
  )
})

test("Charlie cannot merge Acme's services", async (t) => {
  const flow = makeFlow(t)
  await two(flow)
  const own = await createService(flow.deps, flow.charlie.key, { name: 'cart', namespace: 'shop' })
  const { key } = flow.charlie
  await assert.rejects(() => mergeServices(flow.deps, key, id(flow, 'cart'), own), { code: 'not-found' })
  await assert.rejects(() => mergeServices(flow.deps, key, own, id(flow, 'cart')), { code: 'unprocessable' })
  await assert.rejects(() => mergeServices(flow.deps, key, newUuid(), own), { code: 'not-found' })
  assert.equal(flow.services().length, 2)
})

test('a project joins the service that pulls its image', async (t) => {
  const flow = makeFlow(t)
  await flow.send('ci', pipeline('failed', 'shop/cart', { at: NOON }))
  assert.deepEqual(owners(flow, flow.alerts()), ['cart'])
  await flow.send('cluster', kubernetesEvent('Pulling', 'basket-5d4f8c7b9-x2kqp', { ...PULL, namespace: 'prod' }))
  await flow.send('ci', pipeline('success', 'shop/cart', { id: 32 }), { at: NOON + 5 * MINUTE })
  assert.deepEqual(
    flow.services().map(({ namespace, name }) => [namespace, name]),
    [['prod', 'basket']],
  )
  assert.deepEqual([flow.alerts().length, flow.alerts()[0]?.status], [1, 'resolved'])
})

test('a project joins after an image pull in any cluster, before its next pipeline', async (t) => {
  const flow = makeFlow(t)
  await flow.send('ci', pipeline('failed', 'shop/cart', { at: NOON }))
  await flow.send('cluster', kubernetesEvent('Pulling', 'basket-5d4f8c7b9-x2kqp', PULL), { cluster: 'production' })
  assert.deepEqual([flow.services().length, owners(flow, flow.alerts())], [1, ['basket']])
  await flow.send('ci', pipeline('success', 'shop/cart', { id: 32 }), { at: NOON + 5 * MINUTE })
  assert.deepEqual([flow.services().length, flow.alerts()[0]?.status], [1, 'resolved'])
})

test('a workload with the name of a project is kept if the project joins another service', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', kubernetesEvent('Started', POD))
  await flow.send('cluster', kubernetesEvent('Pulling', 'worker-5d4f8c7b9-x2kqp', { ...PULL, namespace: 'prod' }))
  await flow.send('ci', pipeline('failed', 'shop/cart', { at: NOON }))
  await flow.send('cluster', crashLoop(POD))
  assert.deepEqual(
    flow.services().map(({ name }) => name),
    ['cart', 'worker'],
  )
  assert.deepEqual(owners(flow, flow.alerts()), ['worker', 'cart'])
})

test('a merge, a reopening and an alert that arrive together are processed in order: the reopening is refused', async (t) => {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  const down = (service: string, name = 'Down') => alert(name, { service, severity: 'critical' }, { startsAt: NOON })
  await flow.send('metrics', alertmanager([down('cart')]))
  await flow.send('metrics', alertmanager([down('shop')]))
  const [cart, shop] = flow.incidents()
  assert.ok(cart && shop)
  await Promise.all([
    mergeIncidents(deps, acme.key, { from: cart.id, into: shop.id }, 'anna'),
    assert.rejects(changeIncident(deps, acme.key, cart.id, { status: 'open' }, 'anna'), { code: 'conflict' }),
    flow.send('metrics', alertmanager([down('cart', 'Slow')])),
  ])
  const counted = flow.incidents().map(({ key, alert_count: said }) => {
    return [said, flow.alerts().filter(({ incident_id: incident }) => incident === key).length]
  })
  assert.deepEqual(counted, [
    [0, 0],
    [3, 3],
  ])
})

test('an alert in the same batch as a merge is linked to the pipeline of the merged service', async (t) => {
  const flow = makeFlow(t)
  const links = () => flow.deps.db.all(flow.deps.db.sql.selectFrom('correlations').select('id')).length
  const jobs = [{ id: 1, name: 'deploy', status: 'failed' }]
  await flow.send('ci', pipeline('failed', 'shop/cart', { at: NOON, jobs }))
  await createService(flow.deps, flow.acme.key, { cluster: '', namespace: 'z', name: 'cart' })
  const [from, into] = flow.services()
  const slow = (name: string) =>
    alertmanager([alert(name, { service: 'cart', namespace: 'z', severity: 'critical' }, { startsAt: NOON + MINUTE })])
  flow.clock.now = NOON + 2 * MINUTE
  await Promise.all([
    mergeServices(flow.deps, flow.acme.key, from?.id ?? '', into?.id ?? ''),
    flow.send('metrics', slow('One')),
  ])
  const first = links()
  await flow.send('metrics', slow('Two'))
  assert.deepEqual([first, links()], [1, 2])
})

test('a merge caused by an image keeps the newest event time', async (t) => {
  const flow = makeFlow(t)
  await flow.send('ci', pipeline('failed', 'shop/cart', { at: NOON }))
  await flow.send('cluster', kubernetesEvent('Pulling', OTHER, PULL), { at: NOON + MINUTE })
  const live = (name: string) =>
    flow.deps.engine.read(flow.acme.key, ({ services }) => [...services.values()].find((one) => one.name === name))
  const before = await live('shop')
  await flow.deps.engine.reload()
  assert.deepEqual([before?.lastEventAt, (await live('shop'))?.lastEventAt], [NOON + MINUTE, NOON + MINUTE])
})
