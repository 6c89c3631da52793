/** A node that fails, leaves or starts: one incident at most, which names the pods and services on it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { playEvents, type Told } from '../helpers/cluster-flow.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import type { Flow } from '../helpers/flow.ts'
import type { KubernetesMore } from '../helpers/senders.ts'

const APPS = ['cart', 'payment', 'search'] as const
const podOf = (app: string) => `${app}-5d4f8c7b9-x2kqp`
const ofNode = (
  minute: number,
  node: string,
  reason: string,
  message = `Node ${node} status is now: ${reason}`,
): Told => [minute, reason, node, { kind: 'Node', message }]
const assigned = (minute: number, app: string, node: string): Told => [
  minute,
  'Scheduled',
  podOf(app),
  { message: `Successfully assigned shop/${podOf(app)} to ${node}` },
]
const lost = (minute: number, app: string): Told => [
  minute,
  'NodeNotReady',
  podOf(app),
  { message: 'Node is not ready' },
]
const crash = (minute: number, app: string, more: KubernetesMore = {}): Told => [
  minute,
  'BackOff',
  podOf(app),
  { message: `Back-off restarting failed container app in pod ${podOf(app)}`, count: 9, since: NOON, ...more },
]

const incidentsOf = (flow: Flow) => flow.incidents().map(({ title }) => title)
const ownedBy = (flow: Flow) => {
  const own = flow.alerts().filter((one) => one.incident_id === flow.incidents()[0]?.key)
  return own.map(({ service }) => service).sort()
}
const firing = (flow: Flow) => flow.alerts().filter(({ status }) => status === 'firing').length

describe('a node that fails owns', () => {
  const down = ofNode(0, 'worker-3', 'NodeNotReady')
  const all = ['cart', 'node/worker-3', 'payment', 'search']
  test('the conditions of pods that name no node', async (t) => {
    const flow = await playEvents(t, [down, ...APPS.map((app) => lost(0.1, app))])
    assert.deepEqual(incidentsOf(flow), ['node/worker-3: NodeNotReady'])
    assert.deepEqual(ownedBy(flow), all)
  })
  test('the conditions that arrive before the event of the node', async (t) => {
    const flow = await playEvents(t, [...APPS.map((app) => lost(0, app)), ofNode(0.5, 'worker-3', 'NodeNotReady')])
    assert.deepEqual(incidentsOf(flow), ['node/worker-3: NodeNotReady'])
    assert.deepEqual(ownedBy(flow), all)
  })
  test('the pods that the scheduler assigned to it, of two nodes that fail together', async (t) => {
    const places = [assigned(-30, 'cart', 'worker-3'), assigned(-30, 'payment', 'worker-4')]
    const both = [down, ofNode(0, 'worker-4', 'NodeNotReady')]
    const flow = await playEvents(t, [...places, ...both, lost(0.1, 'cart'), lost(0.1, 'payment')])
    assert.deepEqual(incidentsOf(flow), ['node/worker-3: NodeNotReady', 'node/worker-4: NodeNotReady'])
    assert.deepEqual(ownedBy(flow), ['cart', 'node/worker-3'])
  })
  test('a crash loop that began with it, of a pod that was last seen there', async (t) => {
    const flow = await playEvents(t, [[-30, 'Pulled', podOf('cart'), { node: 'worker-3' }], down, crash(0.5, 'cart')])
    assert.deepEqual(ownedBy(flow), ['cart', 'node/worker-3'])
  })
})

describe('a node that fails does not own', () => {
  test('the pods of another node', async (t) => {
    const flow = await playEvents(t, [
      assigned(-30, 'cart', 'worker-4'),
      ofNode(0, 'worker-3', 'NodeNotReady'),
      crash(0.5, 'cart'),
    ])
    assert.deepEqual(incidentsOf(flow).sort(), ['cart: CrashLoopBackOff', 'node/worker-3: NodeNotReady'])
  })
  test('a pod whose node nobody knows, if two nodes failed', async (t) => {
    const both = ['worker-3', 'worker-4'].map((node) => ofNode(0, node, 'NodeNotReady'))
    const flow = await playEvents(t, [...both, lost(0.1, 'cart')])
    assert.equal(flow.incidents().length, 3)
  })
  test('a pod that lost its node an hour later', async (t) => {
    const flow = await playEvents(t, [ofNode(-60, 'worker-3', 'NodeNotReady'), lost(0, 'cart')])
    assert.equal(flow.incidents().length, 2)
  })
})

describe('a node that leaves ends', () => {
  test('the conditions of the pods on it', async (t) => {
    const left = ofNode(1, 'worker-3', 'RemovingNode', 'Removing Node worker-3 from Controller')
    const flow = await playEvents(t, [assigned(-30, 'cart', 'worker-3'), crash(0.5, 'cart'), left], 1)
    assert.equal(firing(flow), 0)
  })
  test('the conditions of pods that name it', async (t) => {
    const left = ofNode(1, 'worker-3', 'DeletingNode', 'Deleting node worker-3 because it does not exist')
    assert.equal(firing(await playEvents(t, [crash(0.5, 'cart', { node: 'worker-3' }), left], 1)), 0)
  })
  test('the conditions of pods that lost it, without an incident', async (t) => {
    const left = ofNode(0.5, 'worker-3', 'DisruptionTerminating', 'Disrupting Node: Empty/Delete')
    const flow = await playEvents(t, [ofNode(0, 'worker-3', 'NodeNotReady'), lost(0.1, 'cart'), left])
    assert.deepEqual([firing(flow), incidentsOf(flow)], [0, []])
  })
  test('nothing on another node', async (t) => {
    const left = ofNode(1, 'worker-3', 'RemovingNode')
    assert.equal(firing(await playEvents(t, [assigned(-30, 'cart', 'worker-4'), crash(0.5, 'cart'), left], 2)), 1)
  })
})

describe('the condition of a pod that lost its node ends when', () => {
  const down = ofNode(0, 'worker-3', 'NodeNotReady')
  const ready = ofNode(8, 'worker-3', 'NodeReady')
  const ends = (flow: Flow) => {
    const pods = flow.alerts().filter(({ name, status }) => name === 'NodeNotReady (pod)' && status === 'resolved')
    return pods.map(({ ends_at, service }) => `${service} ${(Number(ends_at) - NOON) / MINUTE}`).sort()
  }
  test('the node is ready again', async (t) => {
    const places = [assigned(-30, 'cart', 'worker-3'), assigned(-30, 'payment', 'worker-3')]
    const flow = await playEvents(t, [...places, down, lost(0.1, 'cart'), lost(0.1, 'payment'), ready])
    assert.deepEqual([ends(flow), firing(flow)], [['cart 8', 'payment 8'], 0])
  })
  test('the only node that failed is ready again, if no event named its node', async (t) => {
    assert.deepEqual(ends(await playEvents(t, [down, lost(0.1, 'cart'), ready])), ['cart 8'])
  })
  test('the node was ready again before the event of the pod arrived', async (t) => {
    const late: Told = [8.5, 'NodeNotReady', podOf('cart'), { message: 'Node is not ready', at: NOON + 6_000 }]
    assert.deepEqual(ends(await playEvents(t, [assigned(-30, 'cart', 'worker-3'), down, ready, late])), ['cart 8'])
  })
  test('a kubelet starts the pod', async (t) => {
    const started: Told = [5, 'Started', podOf('cart'), { message: 'Started container app' }]
    assert.deepEqual(ends(await playEvents(t, [down, lost(0.1, 'cart'), started])), ['cart 5'])
  })
  test('a pod of a StatefulSet is scheduled anew', async (t) => {
    const set = (minute: number, reason: string, message: string): Told => [minute, reason, 'db-0', { message }]
    const told = [set(0.1, 'NodeNotReady', 'Node is not ready'), set(7, 'Scheduled', 'Successfully assigned shop/db-0')]
    assert.deepEqual(ends(await playEvents(t, [down, ...told])), ['db 7'])
  })
  test('each lost pod of a ReplicaSet has been replaced', async (t) => {
    const [first, second] = ['cart-5d4f8c7b9-x2kqp', 'cart-5d4f8c7b9-b7k4z']
    const gone = [first, second].map((pod): Told => [0.1, 'NodeNotReady', pod, { message: 'Node is not ready' }])
    const placed = (minute: number, pod: string): Told => [
      minute,
      'Scheduled',
      pod,
      { message: `Successfully assigned shop/${pod} to worker-4` },
    ]
    assert.deepEqual(
      ends(await playEvents(t, [down, ...gone, placed(5, 'cart-5d4f8c7b9-k9x2m'), placed(5, 'cart-5d4f8c7b9-k9x2m')])),
      [],
    )
    const told = [placed(5, 'cart-5d4f8c7b9-k9x2m'), placed(5, 'cart-5d4f8c7b9-w4z6t')]
    assert.deepEqual(ends(await playEvents(t, [down, ...gone, ...told])), ['cart 5'])
  })
})

describe('the condition of a pod that lost its node goes on when', () => {
  const down = ofNode(0, 'worker-3', 'NodeNotReady')
  test('another node is ready', async (t) => {
    const told = [assigned(-30, 'cart', 'worker-3'), down, lost(0.1, 'cart'), ofNode(8, 'worker-4', 'NodeReady')]
    assert.equal(firing(await playEvents(t, told)), 2)
  })
  test('a pod of another ReplicaSet is scheduled', async (t) => {
    const other = 'cart-7c9f6d5b8-k9x2m'
    const placed: Told = [5, 'Scheduled', other, { message: `Successfully assigned shop/${other} to worker-4` }]
    assert.equal(firing(await playEvents(t, [down, lost(0.1, 'cart'), placed])), 2)
  })
  test('it is a crash loop', async (t) => {
    const told = [assigned(-30, 'cart', 'worker-3'), down, crash(0.5, 'cart'), ofNode(2, 'worker-3', 'NodeReady')]
    assert.equal(firing(await playEvents(t, told, 3)), 1)
  })
})

describe('a kubelet that starts', () => {
  const starting = ofNode(0, 'worker-3', 'Starting', 'Starting kubelet.')
  const capacity = (minute: number) =>
    ofNode(minute, 'worker-3', 'InvalidDiskCapacity', 'invalid capacity 0 on image filesystem')
  test('may report its disk and its node as not ready', async (t) => {
    const flow = await playEvents(t, [starting, capacity(0), ofNode(0.2, 'worker-3', 'NodeNotReady')])
    assert.equal(flow.alerts().length, 0)
  })
  test('ends what it reported a moment before', async (t) => {
    assert.equal(firing(await playEvents(t, [capacity(0), starting], 1)), 0)
  })
  test('has two minutes', async (t) => {
    assert.deepEqual(incidentsOf(await playEvents(t, [starting, ofNode(3, 'worker-3', 'NodeNotReady')])), [
      'node/worker-3: NodeNotReady',
    ])
  })
  test('says nothing about another node', async (t) => {
    assert.equal((await playEvents(t, [starting, ofNode(0.2, 'worker-4', 'NodeNotReady')])).incidents().length, 1)
  })
  test('is no kube-proxy', async (t) => {
    const proxy = ofNode(0, 'worker-3', 'Starting', 'Starting kube-proxy.')
    assert.equal((await playEvents(t, [proxy, ofNode(0.2, 'worker-3', 'NodeNotReady')])).incidents().length, 1)
  })
})
