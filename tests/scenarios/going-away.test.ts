/** What is meant to go away is no outage. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { playEvents, type Told } from '../helpers/cluster-flow.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import type { KubernetesMore } from '../helpers/senders.ts'

const POD = 'cart-5d4f8c7b9-x2kqp'
const stopped: Told = [0, 'Killing', POD, { message: 'Stopping container app' }]
const probe = (minute: number, more: KubernetesMore = {}): Told => [
  minute,
  'Unhealthy',
  POD,
  { message: 'Liveness probe failed: connection refused', count: 9, since: NOON + minute * MINUTE - MINUTE, ...more },
]
const node = (minute: number, reason: string, message = reason): Told => [
  minute,
  reason,
  'worker-1',
  { kind: 'Node', message },
]

const loop = (minute: number, more: KubernetesMore = {}): Told => [
  minute,
  'BackOff',
  POD,
  { message: 'Back-off restarting failed container app', count: 9, since: NOON - MINUTE, ...more },
]
/** A pod whose node no event names. */
const lost = (minute: number): Told => [minute, 'NodeNotReady', POD, { message: 'Node is not ready' }]
const removed = (minute: number) => node(minute, 'RemovingNode')
const scheduled = (minute: number): Told => [
  minute,
  'Scheduled',
  POD,
  { message: `Successfully assigned shop/${POD} to worker-1` },
]

async function play(t: TestContext, told: readonly Told[]) {
  const flow = await playEvents(t, told, (told.at(-1)?.[0] ?? 0) + 5)
  const firing = flow.alerts().filter(({ status }) => status === 'firing')
  return { incidents: flow.incidents().length, firing: firing.length }
}

const QUIET = { incidents: 0, firing: 0 }

describe('nothing opens for', () => {
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    ['a probe of a pod that is being stopped', [stopped, probe(2)]],
    ['a crash loop of a pod that is being stopped', [stopped, loop(0.5)]],
    [
      'an image that a deleted pod still pulls',
      [stopped, [1, 'Failed', POD, { message: 'Error: ImagePullBackOff', count: 6, since: NOON }]],
    ],
    ['a sandbox of a pod that is being stopped', [stopped, [1, 'FailedCreatePodSandBox', POD, { count: 6 }]]],
    ['a preStop hook of a pod that is being stopped', [stopped, [1, 'FailedPreStopHook', POD]]],
    [
      'a volume of a pod that its ReplicaSet deleted',
      [
        [0, 'SuccessfulDelete', 'cart-5d4f8c7b9', { kind: 'ReplicaSet', message: `Deleted pod: ${POD}` }],
        [1, 'FailedMount', POD, { message: 'MountVolume.SetUp failed', count: 9, since: NOON }],
      ],
    ],
    [
      'a pod that was preempted',
      [
        [0, 'FailedScheduling', POD],
        [0.5, 'Preempted', POD],
      ],
    ],
    [
      'a finished pod whose volumes the kubelet forgot',
      [
        [
          0,
          'FailedMount',
          POD,
          { message: 'MountVolume.SetUp failed for volume "x" : object "shop"/"x" not registered', count: 9 },
        ],
      ],
    ],
    [
      'an eviction that the taint manager cancels',
      [[0, 'TaintManagerEviction', POD, { message: `Cancelling deletion of Pod shop/${POD}` }]],
    ],
    ['a node that the autoscaler removed', [node(0, 'ScaleDown'), node(1, 'NodeNotReady'), node(1.5, 'RemovingNode')]],
    ['a node that the cloud deleted', [node(0, 'NodeNotReady'), node(0.5, 'DeletingNode')]],
    ['a node that Karpenter disrupted', [node(0, 'NodeNotReady'), node(0.8, 'DisruptionTerminating')]],
    ['a node whose machine the cloud deletes slowly', [node(0, 'ScaleDown'), node(1, 'NodeNotReady'), removed(9)]],
    [
      'a spot machine that Karpenter gives back',
      [
        ...[node(0, 'SpotInterrupted'), node(0, 'TerminatingOnInterruption'), node(0.2, 'FailedDraining')],
        ...[node(2, 'NodeNotReady'), removed(8)],
      ],
    ],
    ['a spot machine that AWS takes back', [node(0, 'SpotInterruption'), node(2, 'NodeNotReady'), removed(8)]],
    [
      'a pod on a node that leaves',
      [scheduled(0), node(1, 'ScaleDown'), [3, 'NodeNotReady', POD, { message: 'Node is not ready' }], removed(9)],
    ],
    [
      'a pod whose node leaves and is not named',
      [node(0, 'ScaleDown'), node(1, 'NodeNotReady'), lost(1.1), node(1.6, 'DeletingNode')],
    ],
    ['such a pod on a spot machine', [node(0, 'SpotInterruption'), node(2, 'NodeNotReady'), lost(2), removed(2.5)]],
    [
      'such a pod on a machine that the cloud deletes slowly',
      [node(0, 'SpotInterruption'), node(2, 'NodeNotReady'), lost(2), removed(6)],
    ],
    [
      'such a pod that is reported before its node',
      [node(0, 'SpotInterrupted'), lost(1.9), node(2, 'NodeNotReady'), removed(5)],
    ],
    [
      'such a pod on a node that Karpenter disrupted',
      [node(0, 'Disrupted'), node(1, 'NodeNotReady'), lost(1), node(1.8, 'RemovingNode')],
    ],
    [
      'pods that Karpenter evicts',
      [
        [0, 'Evicted', POD, { message: 'Evicted pod: Underutilized' }],
        [0, 'Evicted', 'cart-5d4f8c7b9-b7k4z', { message: 'Evicted pod: Underutilized' }],
        probe(1),
      ],
    ],
  ]
  for (const [title, told] of stories) test(title, async (t) => assert.deepEqual(await play(t, told), QUIET))
})

describe('an alert fires for', () => {
  test('a pod of a StatefulSet that came back under its name', async (t) => {
    assert.equal((await play(t, [stopped, scheduled(1), probe(4), probe(6)])).incidents, 1)
  })
  test('a crash loop of a pod that came back under its name', async (t) => {
    assert.equal((await play(t, [stopped, scheduled(1), loop(4, { since: NOON + 2 * MINUTE })])).incidents, 1)
  })
  test('a pod that crashed long after another of its name was deleted', async (t) => {
    assert.equal((await play(t, [stopped, loop(12, { since: NOON + 11 * MINUTE })])).incidents, 1)
  })
  test('another pod of the service', async (t) => {
    const more = { message: 'Back-off restarting failed container', count: 3, since: NOON + MINUTE }
    const other: Told = [2, 'BackOff', 'cart-5d4f8c7b9-b7k4z', more]
    assert.equal((await play(t, [stopped, other])).firing, 1)
  })
  test('a node that stayed after all', async (t) => {
    const told = [node(0, 'ScaleDown'), node(3, 'NodeSchedulable'), node(5, 'NodeNotReady')]
    assert.equal((await play(t, told)).incidents, 1)
  })
  test('another node than the one that leaves', async (t) => {
    const other: Told = [1, 'NodeNotReady', 'worker-2', { kind: 'Node' }]
    assert.equal((await play(t, [node(0, 'SpotInterrupted'), other])).incidents, 1)
  })
  test('a pod that was lost long before a node leaves', async (t) => {
    assert.equal((await play(t, [lost(0), node(3, 'ScaleDown'), node(3.5, 'DeletingNode')])).incidents, 1)
  })
  test('a pod that was lost long before a node that leaves fails', async (t) => {
    const told = [lost(0), node(3, 'SpotInterruption'), node(4, 'NodeNotReady'), removed(4.5)]
    assert.equal((await play(t, told)).incidents, 1)
  })
  test('a pod whose node nobody knows or removes', async (t) => {
    assert.equal((await play(t, [lost(0)])).incidents, 1)
  })
  test('a pod that was lost while one node fails and another leaves', async (t) => {
    const other: Told = [1, 'NodeNotReady', 'worker-2', { kind: 'Node' }]
    const told = [node(0, 'ScaleDown'), other, node(1, 'NodeNotReady'), lost(1.1), node(1.6, 'DeletingNode')]
    assert.equal((await play(t, told)).firing, 2)
  })
  test('pods that a node without memory evicts', async (t) => {
    const message = 'The node was low on resource: memory.'
    assert.equal((await play(t, [[0, 'Evicted', POD, { message, count: 2, since: NOON - MINUTE }]])).firing, 1)
  })
  test('a node that nobody removed', async (t) => {
    assert.deepEqual(await play(t, [node(0, 'NodeNotReady')]), { incidents: 1, firing: 1 })
  })
})

describe('a pod that waits while nodes are drained has 15 minutes:', () => {
  const cordoned = node(0, 'NodeNotSchedulable')
  const waits = (minute: number, why: string): Told => [
    minute,
    'FailedScheduling',
    POD,
    { message: `0/3 nodes are available: ${why}, 2 Insufficient cpu.` },
  ]
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    ['kubectl drain', [cordoned, stopped, waits(0.3, '1 node(s) were unschedulable')]],
    [
      'the taint of a cordoned node',
      [cordoned, waits(1, '1 node(s) had untolerated taint {node.kubernetes.io/unschedulable: }')],
    ],
    ['Karpenter', [waits(0, '1 node(s) had untolerated taint {karpenter.sh/disrupted: }')]],
    ['cluster-autoscaler', [waits(0, '1 node(s) had untolerated taint {ToBeDeletedByClusterAutoscaler: 1764237600}')]],
  ]
  for (const [title, told] of stories) test(title, async (t) => assert.equal((await play(t, told)).incidents, 0))
  test('no longer', async (t) => {
    const later = [...stories[0]![1], node(16, 'RegisteredNode')]
    assert.equal((await play(t, later)).incidents, 1)
  })
  test('but not if the node was cordoned long ago', async (t) => {
    const early = node(-30, 'NodeNotSchedulable')
    assert.equal((await play(t, [early, waits(0, '1 node(s) were unschedulable')])).incidents, 1)
  })
  test('but not if no node was cordoned', async (t) => {
    assert.equal((await play(t, [waits(0, '1 node(s) were unschedulable')])).incidents, 1)
  })
})

describe('a pod that replaces one of a node that leaves has 15 minutes:', () => {
  const ran = scheduled(-10)
  const waits: Told = [
    0.5,
    'FailedScheduling',
    'cart-5d4f8c7b9-z6kmw',
    { message: '0/3 nodes are available: 3 Insufficient cpu.' },
  ]
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    ['its kubelet shuts down', [ran, node(-0.1, 'Shutdown'), stopped, waits]],
    ['the cloud takes it back', [ran, node(-1, 'SpotInterruption'), stopped, waits]],
    ['it is removed', [ran, stopped, removed(0.2), waits]],
    ['Karpenter ends it', [ran, node(-1, 'DisruptionTerminating'), stopped, waits]],
  ]
  for (const [title, told] of stories) test(title, async (t) => assert.equal((await play(t, told)).incidents, 0))
  const refusals: readonly (readonly [string, readonly Told[]])[] = [
    ['if the node stays', [ran, stopped, waits]],
    ['if the node came back', [ran, node(-2, 'Shutdown'), node(-1, 'NodeReady'), stopped, waits]],
    ['if the pod still runs', [ran, node(-0.1, 'Shutdown'), waits]],
    [
      'if a pod of another service was deleted',
      [
        ran,
        node(-0.1, 'Shutdown'),
        [0, 'Killing', 'orders-5d4f8c7b9-x2kqp', { message: 'Stopping container app' }],
        waits,
      ],
    ],
  ]
  for (const [title, told] of refusals)
    test(`but not ${title}`, async (t) => assert.equal((await play(t, told)).incidents, 1))
  test('no longer', async (t) => {
    assert.equal((await play(t, [...stories[0]![1], node(16, 'RegisteredNode')])).incidents, 1)
  })
})

describe('a pod that cannot start because its node has just started has 15 minutes:', () => {
  const started = node(0, 'Starting', 'Starting kubelet.')
  const fails = (reason: string, message: string): Told => [
    1,
    reason,
    POD,
    { message, count: 8, since: NOON + MINUTE / 2, node: 'worker-1' },
  ]
  const cases = [
    ['NetworkNotReady', 'network is not ready: cni plugin not initialized'],
    ['FailedCreatePodSandBox', 'Failed to create pod sandbox: failed to assign an IP address to container'],
    ['FailedMount', 'MountVolume.MountDevice failed: driver name ebs.csi.aws.com not found in the list of drivers'],
  ] as const
  for (const [reason, message] of cases)
    test(reason, async (t) => assert.equal((await play(t, [started, fails(reason, message)])).incidents, 0))
  test('but not on a node that runs', async (t) => {
    assert.equal((await play(t, [fails('NetworkNotReady', 'network is not ready')])).incidents, 1)
  })
  test('but not if its image is missing', async (t) => {
    assert.equal((await play(t, [started, fails('Failed', 'Error: ErrImagePull')])).incidents, 1)
  })
})

test('a node that AKS or OpenShift updates opens nothing for 15 minutes', async (t) => {
  for (const reason of ['Drain', 'Cordon']) {
    const told = [node(0, reason), node(2, 'NodeNotReady'), node(6, 'NodeReady'), node(6.5, 'Uncordon')]
    assert.deepEqual(await play(t, told), QUIET)
  }
})

describe('a problem that a controller reported is over when it reports the success:', () => {
  const on =
    (kind: string, name: string) =>
    (minute: number, reason: string, message: string, type: 'Normal' | 'Warning'): Told => [
      minute,
      reason,
      name,
      { kind, message, type },
    ]
  const app = on('Application', 'cart')
  const bucket = on('Bucket', 'assets')
  const set = on('StatefulSet', 'db')
  const status = on('ConfigMap', 'cluster-autoscaler-status')
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    [
      'with the same reason',
      [
        app(0, 'OperationCompleted', 'Sync operation to 3f2a1b9 failed: one or more tasks failed', 'Warning'),
        app(4, 'OperationCompleted', 'Sync operation to 4c2a1b9 succeeded', 'Normal'),
      ],
    ],
    [
      'with the opposite reason',
      [bucket(0, 'BackupFailed', 'access denied', 'Warning'), bucket(4, 'BackupSucceeded', 'done', 'Normal')],
    ],
    [
      'as a new pod',
      [
        set(0, 'RecreatingFailedPod', 'StatefulSet shop/db is recreating failed Pod db-0', 'Warning'),
        set(0.1, 'SuccessfulCreate', 'create Pod db-0 in StatefulSet db successful', 'Normal'),
      ],
    ],
    [
      'by saying that all is well',
      [
        bucket(0, 'Faulted', 'volume became faulted', 'Warning'),
        bucket(0, 'UpdateFailed', 'access denied', 'Warning'),
        bucket(4, 'Healthy', 'volume became healthy', 'Normal'),
      ],
    ],
    [
      'as a reconciled object',
      [
        app(0, 'FailedDeployModel', 'access denied', 'Warning'),
        app(4, 'SuccessfullyReconciled', 'Successfully reconciled', 'Normal'),
      ],
    ],
    [
      'as a larger group of nodes',
      [
        status(0, 'FailedToScaleUpGroup', 'Scale-up failed for group workers', 'Warning'),
        status(4, 'ScaledUpGroup', 'Scale-up: group workers size set to 4', 'Normal'),
      ],
    ],
  ]
  for (const [title, told] of stories) test(title, async (t) => assert.deepEqual(await play(t, told), QUIET))
  test('but not when another object is well', async (t) => {
    const told = [bucket(0, 'Faulted', 'x', 'Warning'), on('Bucket', 'other')(2, 'Healthy', 'x', 'Normal')]
    assert.deepEqual(await play(t, told), { incidents: 0, firing: 1 })
  })
  test('but not when it merely tries again', async (t) => {
    const told = [bucket(0, 'Sync', 'Error syncing', 'Warning'), bucket(2, 'Sync', 'Scheduled for sync', 'Normal')]
    assert.deepEqual(await play(t, told), { incidents: 0, firing: 1 })
  })
})

test('a pending pod for which Karpenter adds a node has 15 minutes', async (t) => {
  const nominated: Told = [0.1, 'Nominated', POD, { message: 'Pod should schedule on: nodeclaim/default-fh9zb' }]
  assert.deepEqual(await play(t, [[0, 'FailedScheduling', POD], nominated]), { incidents: 0, firing: 1 })
})
