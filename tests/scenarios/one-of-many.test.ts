/** The readiness probe of a pod fails: what it means depends on the other pods of the workload. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { playEvents, type Told } from '../helpers/cluster-flow.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'

const SET = 'web-7d9f6c5b8d'
const PODS = ['2xk4p', '9mzqv', 'lw8tn', 'c4c4c'].map((one) => `${SET}-${one}`)
const [FIRST = '', SECOND = '', ...REST] = PODS

const starts = (pods: readonly string[], minute = -30): Told[] =>
  pods.map((pod) => [minute, 'Started', pod, { message: 'Started container app', type: 'Normal' }])
/** Three failures within a minute. */
const fails = (pod: string, probe = 'Readiness', from = 0): Told[] =>
  [0, 0.5, 1].map((minute, n) => [
    from + minute,
    'Unhealthy',
    pod,
    { message: `${probe} probe failed: statuscode: 503`, count: 1 + n, since: NOON + from * MINUTE },
  ])

async function play(t: TestContext, told: readonly Told[]) {
  const flow = await playEvents(
    t,
    told.toSorted(([a], [b]) => a - b),
    8,
  )
  return flow.incidents().length
}

describe('one pod that is not ready is a warning and no incident for', () => {
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    ['a Deployment with four pods', [...starts(PODS), ...fails(FIRST)]],
    ['a Deployment with two pods', [...starts([FIRST, SECOND]), ...fails(FIRST)]],
    [
      'a DaemonSet with four pods',
      [...starts(['agent-2xk4p', 'agent-9mzqv', 'agent-lw8tn', 'agent-c4c4c']), ...fails('agent-2xk4p')],
    ],
    ['a StatefulSet with three pods', [...starts(['pg-0', 'pg-1', 'pg-2']), ...fails('pg-1')]],
    [
      'a workload whose other pod failed a probe an hour ago',
      [...starts(PODS, -90), ...fails(SECOND, 'Readiness', -60), ...fails(FIRST)],
    ],
    [
      'a workload whose other pod failed and is ready again',
      [...starts(PODS), ...fails(FIRST), ...fails(SECOND, 'Readiness', 5)],
    ],
    ['a DaemonSet of whose other pods nothing is known', fails('calico-node-5rrf9')],
    ['a DaemonSet after its node restarted', [...starts(['node-exporter-2xk4p'], -1), ...fails('node-exporter-2xk4p')]],
    [
      'a DaemonSet whose pod fails for four minutes',
      [0, 1, 2, 3].flatMap((minute) => fails('kube-proxy-lw8tn', 'Readiness', minute)),
    ],
  ]
  for (const [title, told] of stories) test(title, async (t) => assert.equal(await play(t, told), 0))
})

describe('an incident opens if', () => {
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    ['the workload has a single pod', [...starts([FIRST]), ...fails(FIRST)]],
    ['nothing is known of other pods', fails(FIRST)],
    ['two pods of a DaemonSet are not ready', [...fails('agent-2xk4p'), ...fails('agent-9mzqv', 'Readiness', 0.1)]],
    [
      'the only known pod of a DaemonSet is not ready for more than five minutes',
      [0, 2, 4.5].flatMap((minute) => fails('agent-2xk4p', 'Readiness', minute)),
    ],
    ['the liveness probe of a pod of a DaemonSet fails', fails('agent-2xk4p', 'Liveness')],
    ['all pods are not ready', [...starts([FIRST, SECOND]), ...fails(FIRST), ...fails(SECOND, 'Readiness', 0.1)]],
    ['two of four pods are not ready', [...starts(PODS), ...fails(FIRST), ...fails(SECOND, 'Readiness', 0.1)]],
    [
      'the other pods were deleted',
      [
        ...starts([FIRST, SECOND]),
        [-5, 'SuccessfulDelete', SET, { kind: 'ReplicaSet', message: `Deleted pod: ${SECOND}` }],
        ...fails(FIRST),
      ],
    ],
    [
      'the other pod crashes',
      [
        ...starts([FIRST, SECOND]),
        [-10, 'BackOff', SECOND, { message: 'Back-off restarting failed container' }],
        ...fails(FIRST),
      ],
    ],
    [
      'the other pods have an older template',
      [...starts(['web-5d4f8c7b9-x2kqp']), ...starts([FIRST]), ...fails(FIRST)],
    ],
    ['the other pods started after it failed', [...starts([FIRST]), ...fails(FIRST), ...starts(REST, 0.2)]],
    ['the liveness probe fails', [...starts(PODS), ...fails(FIRST, 'Liveness')]],
    [
      'the pod crashes',
      [...starts(PODS), [0, 'BackOff', FIRST, { message: 'Back-off restarting failed container', count: 5 }]],
    ],
  ]
  for (const [title, told] of stories) test(title, async (t) => assert.ok((await play(t, told)) > 0))
})
