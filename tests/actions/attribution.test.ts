/** Attribution: which service an item belongs to, and which services are not created without a reason. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService, updateService } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, grafana, kubernetesEvent, pipeline } from '../helpers/senders.ts'

const POD = 'cart-5d4f8c7b9-x2kqp'

function names(flow: Flow, of = flow.acme): string[] {
  return flow.services(of).map(({ cluster, namespace, name }) => [cluster, namespace, name].filter(Boolean).join(' '))
}
function homes(flow: Flow): (string | undefined)[] {
  return flow.events().map(({ service_id }) => flow.services().find(({ key }) => key === service_id)?.name)
}

for (const [what, body] of [
  ['node', kubernetesEvent('NodeReady', 'worker-2', { kind: 'Node' })],
  ['one-off Job', kubernetesEvent('Completed', 'backup', { kind: 'Job' })],
  ['bare pod', kubernetesEvent('Started', 'debug')],
  ['branch', pipeline('success', 'shop/cart', { ref: 'feature' })],
] as const) {
  test(`a ${what} is not a service before its first alert`, async (t) => {
    const flow = makeFlow(t)
    await flow.send(what === 'branch' ? 'ci' : 'cluster', body)
    assert.deepEqual([names(flow), homes(flow)], [[], [undefined]])
  })
}

for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet', 'CronJob']) {
  test(`a ${kind} is a service with any event`, async (t) => {
    const flow = makeFlow(t)
    await flow.send('cluster', kubernetesEvent('Whatever', 'cart', { kind }))
    assert.deepEqual([names(flow), homes(flow)], [['shop cart'], ['cart']])
  })
}

test('earlier events are linked when their service appears', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', kubernetesEvent('Starting', 'worker-2', { kind: 'Node' }))
  await flow.send('cluster', kubernetesEvent('Starting', 'worker-3', { kind: 'Node' }))
  await flow.send('cluster', kubernetesEvent('NodeNotReady', 'worker-2', { kind: 'Node' }))
  assert.deepEqual(homes(flow), ['node/worker-2', undefined, 'node/worker-2'])
})

test('an end received before its event is applied when the late event creates the service', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', kubernetesEvent('NodeReady', 'worker-2', { kind: 'Node', at: NOON }))
  const late = kubernetesEvent('NodeNotReady', 'worker-2', { kind: 'Node', at: NOON - MINUTE })
  await flow.send('cluster', late, { at: NOON + MINUTE })
  assert.deepEqual([flow.alerts()[0]?.status, flow.alerts()[0]?.ends_at], ['resolved', NOON])
})

test('unattributed events are linked to a created or renamed service with their name', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', kubernetesEvent('Completed', 'backup', { kind: 'Job' }))
  await flow.send('cluster', kubernetesEvent('Completed', 'restore', { kind: 'Job' }))
  await createService(flow.deps, flow.acme.key, { name: 'backup', namespace: 'shop' })
  assert.deepEqual(homes(flow), ['backup', undefined])
  await updateService(flow.deps, flow.acme.key, flow.service('backup')?.id ?? '', { name: 'restore' })
  assert.deepEqual(homes(flow), ['restore', 'restore'])
})

test("the token's cluster keeps staging and production apart, even if they send the same bytes", async (t) => {
  const flow = makeFlow(t)
  for (const cluster of ['staging', 'production']) {
    await flow.send('cluster', crashLoop(POD), { cluster })
    await flow.send('metrics', alertmanager([alert('CartDown', { deployment: 'cart' })]), { cluster })
    await flow.send('dashboard', grafana([alert('Errors', { deployment: 'cart' }, { fingerprint: 'f' })]), { cluster })
  }
  assert.deepEqual(names(flow), ['staging shop cart', 'production shop cart'])
  assert.deepEqual(
    flow.alerts().map(({ cluster, name }) => `${cluster} ${name}`),
    ['staging', 'production'].flatMap((it) => [`${it} CrashLoopBackOff`, `${it} CartDown`, `${it} Errors`]),
  )
})

test('an end in staging ends nothing in production', async (t) => {
  const flow = makeFlow(t)
  const down = (endsAt?: number) =>
    alertmanager([alert('CartDown', { deployment: 'cart' }, { startsAt: NOON, ...(endsAt ? { endsAt } : {}) })])
  for (const cluster of ['staging', 'production']) await flow.send('metrics', down(), { cluster })
  await flow.send('metrics', down(NOON + MINUTE), { cluster: 'staging', at: NOON + MINUTE })
  assert.deepEqual(
    flow.alerts().map(({ cluster, status, fingerprint }) => [cluster, status, fingerprint.length]),
    [
      ['staging', 'resolved', 16],
      ['production', 'firing', 16],
    ],
  )
})

test('if the token has no cluster, the label determines it', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('CartDown', { deployment: 'cart', cluster: 'eu' })]))
  await flow.send('cluster', { ...crashLoop(POD), labels: { cluster: 'eu' } })
  assert.deepEqual(names(flow), ['eu shop cart'])
})

test('warnings without a service are unattributed: at most degraded, and without an incident', async (t) => {
  const flow = makeFlow(t)
  const odd = (name: string) => alert(name, { namespace: '', severity: 'warning' })
  await flow.send('metrics', alertmanager([odd('Odd'), odd('Odder')]))
  await flow.sweepUntil(NOON + 50 * MINUTE)
  const [only, ...more] = flow.services()
  assert.deepEqual([only?.name, only?.status, more.length], ['unattributed', 'degraded', 0])
  assert.deepEqual(flow.incidents(), [])
})

test('critical alerts without a service open one incident for each name', async (t) => {
  const flow = makeFlow(t)
  const odd = (name: string, host: string) => alert(name, { namespace: '', host })
  await flow.send('metrics', alertmanager([odd('Odd', 'a'), odd('Odd', 'b'), odd('Odder', 'a')]))
  assert.equal(flow.incidents().length, 2)
})

test('an alias takes precedence over all rules and moves firing alerts', async (t) => {
  const flow = makeFlow(t)
  const odd = alertmanager([alert('Odd', { namespace: '', team: 'checkout' })])
  await flow.send('metrics', odd)
  const aliases = [{ kind: 'label', value: 'team=checkout' }] as const
  await createService(flow.deps, flow.acme.key, { name: 'cart', namespace: 'shop', aliases })
  await flow.send('metrics', odd)
  assert.deepEqual(
    flow.alerts().map(({ service }) => service),
    ['cart'],
  )
  assert.deepEqual([flow.service('cart')?.status, flow.service('unattributed')?.status], ['critical', 'healthy'])
})

test('a test and a heartbeat belong to no service', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('Odd', { namespace: '' })]))
  await flow.send('dashboard', grafana([alert('TestAlert', { namespace: '' })]))
  assert.deepEqual(homes(flow), ['unattributed', undefined])
})

test("a project is matched first to a workload in its token's cluster", async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', kubernetesEvent('Started', POD), { cluster: 'staging' })
  await flow.send('cluster', kubernetesEvent('Started', POD), { cluster: 'production' })
  await flow.send('ci', pipeline('failed', 'shop/cart'), { cluster: 'production' })
  assert.deepEqual([names(flow).length, flow.alerts()[0]?.cluster], [2, 'production'])
})

test('services with the same name in two organizations stay separate, including aliases and unattributed events', async (t) => {
  const flow = makeFlow(t)
  const starting = kubernetesEvent('Starting', 'worker-2', { kind: 'Node' })
  await flow.send('cluster', starting)
  await flow.send('cluster', kubernetesEvent('NodeNotReady', 'worker-2', { kind: 'Node' }), { as: flow.charlie })
  await flow.send('metrics', alertmanager([alert('CartDown', { deployment: 'cart' })]))
  await flow.send('metrics', alertmanager([alert('CartDown', { deployment: 'cart' })]), { as: flow.charlie })
  assert.deepEqual(homes(flow), [undefined, 'cart'])
  assert.deepEqual(names(flow, flow.charlie), ['node/worker-2', 'shop cart'])
  assert.deepEqual([flow.alerts().length, flow.alerts(flow.charlie).length], [1, 2])
})
