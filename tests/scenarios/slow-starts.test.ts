/** A rollout waits for the readiness probes of its new pods, while the old pods serve. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { type KubernetesMore, kubernetesEvent } from '../helpers/senders.ts'

type Told = readonly [minute: number, reason: string, name: string, more: KubernetesMore]
const NEW = 'cart-7c9f6d5b8'
const OLD = 'cart-5d4f8c7b9'
const scaled = (minute: number, message: string): Told => [
  minute,
  'ScalingReplicaSet',
  'cart',
  { kind: 'Deployment', message, type: 'Normal' },
]
const up = scaled(0, `Scaled up replica set ${NEW} from 0 to 1`)
const oldGone = (minute: number) => scaled(minute, `Scaled down replica set ${OLD} from 2 to 0`)
const created = (minute: number, pod: string): Told => [
  minute,
  'SuccessfulCreate',
  'kafka',
  { kind: 'StatefulSet', message: `create Pod ${pod} in StatefulSet kafka successful`, type: 'Normal' },
]
/** Fails every 10 seconds from the first to the last minute. */
const fails = (pod: string, from: number, to: number, probe = 'Readiness'): Told[] =>
  Array.from({ length: Math.round((to - from) * 6) + 1 }, (_, nth) => [
    from + nth / 6,
    'Unhealthy',
    pod,
    { message: `${probe} probe failed: connection refused`, count: nth + 1, since: NOON + from * MINUTE },
  ])

/** The services exist. */
const before: readonly Told[] = [
  [-30, 'Started', `${OLD}-b7k4z`, { message: 'Started container app' }],
  [-30, 'Started', 'kafka-0', { message: 'Started container kafka' }],
]

/** Returns the number of incidents. */
async function play(t: Parameters<typeof makeFlow>[0], told: readonly Told[], known = before) {
  const flow = makeFlow(t)
  for (const [minute, reason, name, more] of [...known, ...told]) {
    const at = NOON + minute * MINUTE
    await flow.sweepUntil(at, MINUTE / 2)
    await flow.send('cluster', kubernetesEvent(reason, name, { at, ...more }), { at })
  }
  return flow.incidents().length
}

describe('no incident opens for', () => {
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    ['a new pod that is not ready for four minutes', [up, ...fails(`${NEW}-x2kqp`, 0.5, 4.5)]],
    [
      'the new pods of an Argo Rollout',
      [
        [
          0,
          'ScalingReplicaSet',
          'cart',
          { kind: 'Rollout', message: `Scaled up ReplicaSet ${NEW} (revision 12) from 0 to 2` },
        ],
        ...fails(`${NEW}-x2kqp`, 0.5, 4),
      ],
    ],
    ['a pod of a StatefulSet that is restarted', [created(0, 'kafka-2'), ...fails('kafka-2', 0.5, 4)]],
    [
      'the pods of a StatefulSet, one after another',
      [created(0, 'kafka-1'), ...fails('kafka-1', 0.5, 4), created(4.2, 'kafka-0'), ...fails('kafka-0', 4.5, 8)],
    ],
  ]
  for (const [title, told] of stories) test(title, async (t) => assert.equal(await play(t, told), 0))
})

describe('an incident opens for', () => {
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    ['a new pod that is not ready for five minutes', [up, ...fails(`${NEW}-x2kqp`, 0.5, 5.8)]],
    ['an old pod that fails during the rollout', [up, ...fails(`${OLD}-b7k4z`, 0.5, 1.5)]],
    [
      'a new pod whose predecessors were removed first',
      [oldGone(0), scaled(0.1, `Scaled up replica set ${NEW} from 0 to 1`), ...fails(`${NEW}-x2kqp`, 0.5, 1.5)],
    ],
    ['a new pod after the rollout', [up, oldGone(1), ...fails(`${NEW}-x2kqp`, 2, 3)]],
    ['a new pod long after the rollout began', [up, ...fails(`${NEW}-x2kqp`, 11, 12)]],
    ['a new pod that its liveness probe restarts', [up, ...fails(`${NEW}-x2kqp`, 0.5, 1.5, 'Liveness')]],
    [
      'a pod of a ReplicaSet that was only scaled',
      [scaled(0, `Scaled up replica set ${NEW} from 2 to 4`), ...fails(`${NEW}-x2kqp`, 0.5, 1.5)],
    ],
    ['the only pod of a StatefulSet', [created(0, 'kafka-0'), ...fails('kafka-0', 0.5, 1.5)]],
    ['another pod of a StatefulSet', [created(0, 'kafka-2'), ...fails('kafka-0', 0.5, 1.5)]],
  ]
  for (const [title, told] of stories) test(title, async (t) => assert.equal(await play(t, told), 1))
  test('the first pod of a new service', async (t) => {
    assert.equal(await play(t, [up, ...fails(`${NEW}-x2kqp`, 0.5, 1.5)], []), 1)
  })
})
