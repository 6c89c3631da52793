/** Clusters: even if only some senders name the cluster, a service is still one service. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIncident, mergeServices } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, kubernetesEvent } from '../helpers/senders.ts'

const POD = 'cart-5d4f8c7b9-x2kqp'
const LOOP = crashLoop(POD, { count: 9, at: NOON })
const down = (cluster?: string) =>
  alertmanager([alert('CartDown', { deployment: 'cart', ...(cluster ? { cluster } : {}) }, { startsAt: NOON })])
const names = (flow: Flow) => flow.services().map(({ cluster, name }) => `${cluster}/${name}`)

test('an exporter without a cluster and an Alertmanager with one have one service and one incident', async (t) => {
  for (const order of ['exporter first', 'Alertmanager first']) {
    const flow = makeFlow(t)
    if (order === 'exporter first') await flow.send('cluster', LOOP)
    await flow.send('metrics', down('prod'))
    await flow.send('cluster', LOOP)
    await flow.sweepUntil(NOON + 2 * MINUTE)
    assert.deepEqual(names(flow), ['prod/cart'], order)
    assert.deepEqual([flow.incidents().length, flow.alerts().length], [1, 2], order)
  }
})

test('a merged service keeps its conditions: the next event is a repeat, also after a restart', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', LOOP)
  await flow.send('metrics', down('prod'))
  flow.restart()
  await flow.send('cluster', crashLoop(POD, { count: 12, at: NOON + MINUTE }), { at: NOON + MINUTE })
  const loops = flow.alerts().filter(({ source }) => source === 'cluster')
  assert.deepEqual([names(flow), loops.length, loops[0]?.occurrences], [['prod/cart'], 1, 12])
})

test('the rule mentions the merge and the missing cluster', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', LOOP)
  const ruleOf = async (cluster?: string) =>
    (await flow.send('metrics', down(cluster), { dryRun: true })).decisions?.[0]?.service.rule
  assert.match((await ruleOf('prod')) ?? '', /; adopted into the cluster prod$/)
  assert.deepEqual(names(flow), ['/cart'])
  await flow.send('metrics', down('prod'))
  assert.match((await ruleOf()) ?? '', /; the only cluster with this service is prod$/)
})

test('with a second cluster the services stay separate', async (t) => {
  const flow = makeFlow(t)
  for (const cluster of ['prod', 'staging']) await flow.send('metrics', down(cluster))
  await flow.send('cluster', LOOP)
  assert.deepEqual(names(flow), ['prod/cart', 'staging/cart', '/cart'])
})

test('equal labels from the tokens of two clusters stay two conditions', async (t) => {
  const flow = makeFlow(t)
  const sent = (severity: string) => alertmanager([alert('CartDown', { deployment: 'cart', severity })])
  for (const cluster of ['prod', 'staging']) await flow.send('metrics', sent('warning'), { cluster })
  flow.restart()
  await flow.send('metrics', sent('critical'), { cluster: 'prod' })
  const found = flow.alerts().map(({ cluster, severity }) => `${cluster} ${severity}`)
  assert.deepEqual(found, ['prod critical', 'staging warning'])
})

test('the same name in another namespace or organization is another service', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', kubernetesEvent('Started', POD, { namespace: 'bank' }))
  await flow.send('cluster', LOOP, { as: flow.charlie })
  await flow.send('metrics', down('prod'))
  assert.deepEqual(names(flow), ['/cart', 'prod/cart'])
  assert.deepEqual(
    flow.services(flow.charlie).map(({ cluster }) => cluster),
    [''],
  )
})

test('alerts without a service are never assigned to a cluster', async (t) => {
  const flow = makeFlow(t)
  const odd = (labels: Record<string, string>) =>
    alertmanager([{ ...alert('Odd'), labels: { alertname: 'Odd', ...labels } }])
  await flow.send('metrics', odd({}))
  await flow.send('metrics', odd({ cluster: 'prod' }))
  assert.deepEqual(names(flow), ['/unattributed', 'prod/unattributed'])
})

test('merging two services merges their open incidents into the older one', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down())
  await flow.send('metrics', alertmanager([alert('WebDown', { deployment: 'web' })]), { at: NOON + MINUTE })
  const [cart, web] = flow.services()
  await mergeServices(flow.deps, flow.acme.key, cart?.id ?? '', web?.id ?? '')
  const [older, newer] = flow.incidents()
  assert.deepEqual([older?.status, newer?.status], ['open', 'resolved'])
  assert.deepEqual(new Set(flow.alerts().map(({ incident_id }) => incident_id)), new Set([older?.key]))
  assert.deepEqual([older?.alert_count, older?.service_id], [2, web?.key])
})

test("merging a service leaves two incidents if a person opened the other one's", async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('WebDown', { deployment: 'web', severity: 'warning' })]))
  await flow.send('cluster', kubernetesEvent('Started', POD))
  const [web, cart] = flow.services()
  for (const title of ['one', 'two']) {
    await createIncident(flow.deps, flow.acme.key, { title, serviceId: web?.id ?? '', severity: 'error' }, 'Ann')
  }
  await mergeServices(flow.deps, flow.acme.key, cart?.id ?? '', web?.id ?? '')
  assert.deepEqual(
    flow.incidents().map(({ status }) => status),
    ['open', 'open'],
  )
})
