/** A node that fails: its channels hear which services it takes down, and when all is well. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'
import { startReceiver } from './receiver.ts'
import { notifying } from './world.ts'

const NODE = 'worker-2'
const POD = 'cart-5d4f8c7b9-x2kqp'
const NODE_FAILS = kubernetesEvent('NodeNotReady', NODE, { kind: 'Node' })

test('services that a failed node takes down are reported as worse, once', async (t) => {
  const { channel, messages, send, settled, clock, sweepUntil } = notifying(t)
  const { url, received } = await startReceiver(t)
  channel('webhook', url)
  const told = async (count: number) =>
    settled(() => messages().filter(({ status }) => status === 'delivered').length === count)
  await send('cluster', NODE_FAILS)
  await sweepUntil(NOON + MINUTE)
  await told(1)
  await sweepUntil(NOON + 3 * MINUTE)
  await send('cluster', kubernetesEvent('NodeNotReady', POD, { node: NODE }))
  await sweepUntil(clock.now + 2 * MINUTE)
  await told(2)
  await send('cluster', kubernetesEvent('NodeReady', NODE, { kind: 'Node' }))
  await sweepUntil(clock.now + 2 * MINUTE)
  await told(3)
  const bodies = received.map(({ text }) => JSON.parse(text))
  assert.deepEqual(
    bodies.map(({ type }) => type),
    ['incident.opened', 'incident.worse', 'incident.recovered'],
  )
  assert.deepEqual(bodies[1].data.conditions, ['NodeNotReady (pod) of cart'])
})

test('the all-clear of a node names the alerts of its pods that go on, and each pages by itself', async (t) => {
  const { channel, messages, send, settled, clock, sweepUntil } = notifying(t)
  const { url, received } = await startReceiver(t)
  channel('webhook', url)
  const told = async (count: number) =>
    settled(() => messages().filter(({ status }) => status === 'delivered').length === count)
  const down = ['tax', 'vat'].map((app) =>
    alert('TargetDown', { service: app, pod: `${app}-5d4f8c7b9-x2kqp`, node: NODE }, { startsAt: NOON }),
  )
  await send('cluster', NODE_FAILS)
  await send('metrics', alertmanager(down))
  await sweepUntil(NOON + MINUTE)
  await told(1)
  await send('cluster', kubernetesEvent('NodeReady', NODE, { kind: 'Node' }))
  await sweepUntil(clock.now + MINUTE)
  await told(2)
  await sweepUntil(clock.now + 4 * MINUTE)
  await told(4)
  const bodies = received.map(({ text }) => JSON.parse(text))
  const names = ['node/worker-2', 'node/worker-2', 'tax', 'vat']
  const types = ['opened', 'recovered', 'opened', 'opened']
  assert.deepEqual(
    bodies.map(({ type, data }) => [type, data.service.name]),
    types.map((type, index) => [`incident.${type}`, names[index]]),
  )
  assert.match(received[1]?.text ?? '', /Still firing on its pods then: TargetDown of tax and TargetDown of vat\./)
})

test('services whose pods were lost together with the node do not make it worse, later ones do', async (t) => {
  const { channel, messages, send, settled, clock, sweepUntil } = notifying(t)
  const { url, received } = await startReceiver(t)
  channel('webhook', url)
  const lost = (app: string) => kubernetesEvent('NodeNotReady', `${app}-5d4f8c7b9-x2kqp`, { node: NODE })
  const told = async (count: number) =>
    settled(() => messages().filter(({ status }) => status === 'delivered').length === count)
  await send('cluster', NODE_FAILS)
  for (const app of ['a', 'b', 'c', 'd']) await send('cluster', lost(app), { at: NOON + 10_000 })
  await sweepUntil(NOON + MINUTE)
  await told(1)
  await sweepUntil(clock.now + 3 * MINUTE)
  await send('cluster', lost('cart'))
  await sweepUntil(clock.now + MINUTE)
  await told(2)
  const bodies = received.map(({ text }) => JSON.parse(text))
  assert.deepEqual(
    bodies.map(({ type, data }) => [type, data.conditions]),
    [
      ['incident.opened', ['NodeNotReady']],
      ['incident.worse', ['NodeNotReady (pod) of cart']],
    ],
  )
})
