/** Controllers that report a problem and its end once, in a message, and pods that start after all. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { type KubernetesMore, kubernetesEvent } from '../helpers/senders.ts'

type Told = readonly [minute: number, reason: string, message: string, more?: KubernetesMore]
type Object = readonly [kind: string, name: string]

const OPERATOR: Object = ['Deployment', 'authentication-operator']
const APPLICATION: Object = ['Application', 'cart']
const VOLUME: Object = ['Volume', 'pvc-0444c6bb']
const SERVICE: Object = ['Service', 'cart']
const BUCKET: Object = ['Bucket', 'backups']
const POD: Object = ['Pod', 'cart-5d4f8c7b9-x2kqp']

const status = (minute: number, change: string): Told => [
  minute,
  'OperatorStatusChanged',
  `Status for clusteroperator/authentication changed: ${change}`,
  { type: 'Normal' },
]
const health = (minute: number, from: string, to: string): Told => [
  minute,
  'ResourceUpdated',
  `Updated health status: ${from} -> ${to}`,
  { type: 'Normal' },
]
const normal = (minute: number, reason: string, message: string): Told => [minute, reason, message, { type: 'Normal' }]
const fails = (minute: number, reason: string, message: string, count = 1): Told => [
  minute,
  reason,
  message,
  { type: 'Warning', count, since: NOON },
]
const started = normal(3, 'Started', 'Started container cart')

/** Returns each alert at the end, with the minute at which it ended, and the number of incidents. */
async function play(t: Parameters<typeof makeFlow>[0], [kind, name]: Object, told: readonly Told[], until: number) {
  const flow = makeFlow(t)
  for (const [minute, reason, message, more] of told) {
    const at = NOON + minute * MINUTE
    await flow.sweepUntil(at, MINUTE / 2)
    await flow.send('cluster', kubernetesEvent(reason, name, { at, kind, message, ...more }), { at })
  }
  await flow.sweepUntil(NOON + until * MINUTE, MINUTE / 2)
  return [...endsOf(flow), flow.incidents().length]
}

function endsOf(flow: Awaited<ReturnType<typeof makeFlow>>): string[] {
  return flow.alerts().map(({ name, severity, ends_at: end }) => {
    return `${name} ${severity}${end === null ? '' : ` ${(end - NOON) / MINUTE}`}`
  })
}

describe('a state that is reported once', () => {
  const degraded = status(0, 'Degraded changed from False to True ("APIServerDeploymentDegraded: 1 of 3")')
  const stories: readonly (readonly [string, Object, readonly Told[], (string | number)[]])[] = [
    ['an operator of OpenShift is degraded', OPERATOR, [degraded], ['OperatorDegraded warning', 0]],
    [
      'it is well again',
      OPERATOR,
      [degraded, status(5, 'Degraded changed from True to False ("All is well")')],
      ['OperatorDegraded warning 5', 0],
    ],
    ['it only makes progress', OPERATOR, [status(0, 'Progressing changed from False to True ("1 of 3")')], [0]],
    [
      'an application of Argo CD is degraded, and healthy again',
      APPLICATION,
      [health(0, 'Progressing', 'Degraded'), health(8, 'Degraded', 'Healthy')],
      ['HealthDegraded warning 8', 0],
    ],
    [
      'it is being updated',
      APPLICATION,
      [health(0, 'Healthy', 'Progressing'), health(1, 'Progressing', 'Healthy')],
      [0],
    ],
    [
      'a volume of Longhorn is degraded, faulted and healthy',
      VOLUME,
      [
        normal(0, 'Degraded', 'volume pvc-0444c6bb became degraded'),
        fails(1, 'Faulted', 'volume pvc-0444c6bb became faulted'),
        normal(9, 'Healthy', 'volume pvc-0444c6bb became healthy'),
      ],
      ['VolumeDegraded warning 9', 'Faulted warning 9', 0],
    ],
    [
      'a Service gets its address',
      SERVICE,
      [
        fails(0, 'AllocationFailed', 'Failed to allocate IP for "shop/cart": no available IPs', 4),
        normal(9, 'IPAllocated', 'Assigned IP ["10.10.102.2"]'),
      ],
      ['AllocationFailed warning 9', 0],
    ],
    [
      'a resource of Crossplane is updated',
      BUCKET,
      [
        fails(0, 'CannotObserveExternalResource', 'cannot get bucket: AccessDenied', 40),
        normal(9, 'UpdatedExternalResource', 'Successfully requested update of external resource'),
      ],
      ['CannotObserveExternalResource warning 9', 0],
    ],
    [
      'an order of cert-manager is complete',
      ['Order', 'cart-tls'],
      [
        fails(0, 'Failed', 'Failed to create Order: 429 rateLimited'),
        normal(9, 'Complete', 'Order completed successfully'),
      ],
      ['Failed (Order) warning 9', 0],
    ],
    [
      'a snapshot is ready',
      ['VolumeSnapshot', 'data'],
      [
        fails(0, 'SnapshotContentCreationFailed', 'Failed to create snapshot content'),
        normal(9, 'SnapshotReady', 'Snapshot shop/data is ready to use.'),
      ],
      ['SnapshotContentCreationFailed warning 9', 0],
    ],
    [
      'an Ingress of Google is translated again, after a try',
      ['Ingress', 'cart'],
      [
        fails(0, 'Translate', 'Translation failed: invalid ingress spec: could not find service "shop/cart"', 4),
        normal(5, 'Sync', 'Scheduled for sync'),
        normal(9, 'Sync', 'UrlMap "k8s2-um-x-shop-cart-y" updated'),
      ],
      ['Translate warning 9', 0],
    ],
    [
      'an aborted rollout of Argo is tried again',
      ['Rollout', 'cart'],
      [
        fails(0, 'AnalysisRunFailed', "Step Analysis Run 'cart-98447df77-2-4' Status New: 'Failed'"),
        fails(0, 'RolloutAborted', 'Rollout aborted update to revision 2'),
        normal(9, 'RolloutCompleted', 'Rollout completed update to revision 3 (7bf84f9696)'),
      ],
      ['AnalysisRunFailed warning 9', 'RolloutAborted warning 9', 0],
    ],
    [
      'a snapshot that is only taken is not ready',
      ['VolumeSnapshot', 'data'],
      [
        fails(0, 'SnapshotContentCreationFailed', 'Failed to create snapshot content'),
        normal(9, 'CreatingSnapshot', 'Waiting for a snapshot shop/data to be created by the CSI driver.'),
      ],
      ['SnapshotContentCreationFailed warning', 0],
    ],
  ]
  for (const [title, object, told, expected] of stories)
    test(title, async (t) => assert.deepEqual((await play(t, object, told, 14)).sort(), expected.sort()))

  test('goes on without repeats', async (t) =>
    assert.deepEqual(await play(t, OPERATOR, [degraded], 55), ['OperatorDegraded warning', 0]))
})

describe('what is run again and again', () => {
  const NEXT = { BACKUP: ['Backup', 'pg-20261127000000'], RUN: ['PipelineRun', 'build-x7k2p'] } as const
  const stories: readonly (readonly [string, Object, Told, string, Told, string[]])[] = [
    [
      'the next backup of CloudNativePG is completed',
      NEXT.BACKUP,
      fails(0, 'Error', 'Backup exited with error: exit status 2'),
      'pg-20261128000000',
      normal(9, 'Completed', 'Backup completed'),
      ['Error (Backup) warning 9'],
    ],
    [
      'the next run of a pipeline of Tekton succeeds',
      NEXT.RUN,
      fails(0, 'Failed', 'Tasks Completed: 3 (Failed: 1, Cancelled 0), Skipped: 2'),
      'build-q9w4z',
      normal(9, 'Succeeded', 'Tasks Completed: 5 (Failed: 0, Cancelled 0), Skipped: 0'),
      ['Failed (PipelineRun) warning 9'],
    ],
    [
      'the next run of a workflow of Argo succeeds',
      ['Workflow', 'nightly-1795780000'],
      fails(0, 'WorkflowFailed', "child 'nightly-1795780000-42' failed"),
      'nightly-1795866400',
      normal(9, 'WorkflowSucceeded', 'Workflow completed'),
      ['WorkflowFailed warning 9'],
    ],
    [
      'the next backup only starts',
      NEXT.BACKUP,
      fails(0, 'Error', 'Backup exited with error: exit status 2'),
      'pg-20261128000000',
      normal(9, 'Starting', 'Backup started'),
      ['Error (Backup) warning'],
    ],
  ]
  for (const [title, [kind, name], failure, next, told, expected] of stories)
    test(title, async (t) => {
      const flow = makeFlow(t)
      for (const [object, [minute, reason, message, more]] of [
        [name, failure],
        [next, told],
      ] as const) {
        const at = NOON + minute * MINUTE
        await flow.sweepUntil(at, MINUTE / 2)
        await flow.send('cluster', kubernetesEvent(reason, object, { at, kind, message, ...more }), { at })
      }
      assert.deepEqual(endsOf(flow), expected)
    })
})

describe('a container that starts', () => {
  for (const [reason, message] of [
    ['FailedCreatePodSandBox', 'Failed create pod sandbox: HNS failed with error : Element not found'],
    ['FailedMount', 'MountVolume.SetUp failed for volume "cfg" : configmap "cart" not found'],
    ['FailedAttachVolume', 'AttachVolume.Attach failed for volume "pvc-1" : rpc error'],
  ] as const)
    test(`ends ${reason} of its pod`, async (t) =>
      assert.equal(
        (await play(t, POD, [fails(0, reason, message), fails(2, reason, message, 8), started], 4))[0],
        `${reason} critical 3`,
      ))

  for (const [reason, message, name] of [
    ['BackOff', 'Back-off restarting failed container cart', 'CrashLoopBackOff'],
    ['Failed', 'Error: configmap "cart" not found', 'CreateContainerConfigError'],
    ['BackOff', 'Back-off pulling image "registry/sidecar:2"', 'ImagePullBackOff'],
  ] as const)
    test(`does not end ${name}`, async (t) =>
      assert.equal(
        (await play(t, POD, [fails(0, reason, message), fails(2, reason, message, 8), started], 4))[0],
        `${name} critical`,
      ))
})
