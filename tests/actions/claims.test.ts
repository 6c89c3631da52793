/** Volume claims: a claim used by one workload does not become a service, in any order of events. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'

const CLAIM = { kind: 'PersistentVolumeClaim' }
const unbound = (name: string) => kubernetesEvent('ProvisioningFailed', name, { ...CLAIM, at: NOON })
const started = (workload: string) => kubernetesEvent('Started', `${workload}-5d4f8c7b9-x2kqp`, { at: NOON })
const pending = (workload: string, claim: string) => {
  const message = `0/4 nodes are available: persistentvolumeclaim "${claim}" not found. preemption: 0/4 nodes`
  return kubernetesEvent('FailedScheduling', `${workload}-5d4f8c7b9-x2kqp`, { message, at: NOON })
}

for (const claim of ['redis-cart-pvc', 'data-redis-cart', 'redis-cart-data']) {
  test(`${claim} belongs to redis-cart, whichever is seen first`, async (t) => {
    for (const bodies of [
      [unbound(claim), started('redis-cart')],
      [started('redis-cart'), unbound(claim)],
    ]) {
      const flow = makeFlow(t)
      for (const body of [...bodies, unbound(claim)]) await flow.send('cluster', body)
      assert.deepEqual([flow.services().map(({ name }) => name), flow.alerts().length], [['redis-cart'], 1])
    }
  })
}

test('a claim with its own name belongs to the workload whose pod waits for it', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', unbound('disk7'))
  await flow.send('cluster', pending('redis-cart', 'disk7'), { at: NOON + MINUTE })
  await flow.send('cluster', unbound('disk7'), { at: NOON + 2 * MINUTE })
  assert.deepEqual(
    flow.services().map(({ name }) => name),
    ['redis-cart'],
  )
})

test('an alert about a filling claim moves with the claim', async (t) => {
  const flow = makeFlow(t)
  const labels = { persistentvolumeclaim: 'redis-cart-pvc', severity: 'warning' }
  await flow.send('metrics', alertmanager([alert('KubePersistentVolumeFillingUp', labels)]))
  await flow.send('cluster', started('redis-cart'))
  assert.deepEqual(
    flow.alerts().map(({ service }) => service),
    ['redis-cart'],
  )
})

test('a workload with the name of a claim remains a service', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', kubernetesEvent('BackOff', 'redis-data-5d4f8c7b9-x2kqp', { count: 9, at: NOON }))
  await flow.send('cluster', started('redis'))
  assert.deepEqual(
    flow.services().map(({ name }) => name),
    ['redis-data', 'redis'],
  )
})

test('a claim in another namespace or organization is not moved', async (t) => {
  const flow = makeFlow(t)
  await flow.send(
    'cluster',
    kubernetesEvent('ProvisioningFailed', 'cart-pvc', { ...CLAIM, namespace: 'bank', at: NOON }),
  )
  await flow.send('cluster', unbound('cart-pvc'), { as: flow.charlie })
  await flow.send('cluster', started('cart'))
  assert.deepEqual(
    flow.services().map(({ name }) => name),
    ['cart-pvc', 'cart'],
  )
  assert.deepEqual(
    flow.services(flow.charlie).map(({ name }) => name),
    ['cart-pvc'],
  )
})
