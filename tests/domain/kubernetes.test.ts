/** What a new version of a Kubernetes object tells: pods, workloads, rollouts and nodes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterDraft } from '../../src/domain/event/event.ts'
import { observe, observeDeleted } from '../../src/domain/kubernetes/observe.ts'
import { readSeen } from '../../src/domain/kubernetes/parse.ts'
import type { Seen } from '../../src/domain/watch/object.ts'
import { createMemory } from '../../src/kubernetes/memory.ts'
import {
  deployment,
  node,
  pendingPod,
  pod,
  replicaSet,
  running,
  terminated,
  waiting,
} from '../helpers/kubernetes/objects.ts'
import type { KubeObject } from '../helpers/kubernetes/storage.ts'

const NOON = Date.UTC(2026, 2, 14, 12)
const SECOND = 1000
const MINUTE = 60 * SECOND

/** Observes versions of objects, each at its time after noon. Returns what each one tells. */
function watch() {
  const memory = createMemory([])
  let version = 0
  const look = (seen: Seen, at: number) => {
    const { after, told, dueAt } = observe(memory.get(seen.uid), seen, {
      known: memory,
      now: NOON + at,
      isFirst: at < 0,
    })
    memory.put(after)
    return { told, dueAt: dueAt === null ? null : dueAt - NOON, text: told.map(({ reason }) => reason).join(' ') }
  }
  const read = (object: KubeObject): Seen => {
    version += 1
    const metadata = {
      creationTimestamp: new Date(NOON - MINUTE).toISOString(),
      uid: `${object.kind}/${object.metadata.name}`,
      ...object.metadata,
      resourceVersion: String(version),
    }
    const seen = readSeen(object.kind as Seen['kind'], { ...object, metadata }, NOON)
    if (!seen) throw new Error('no uid')
    return seen
  }
  return {
    see: (object: KubeObject, at = 0) => look(read(object), at),
    again: (object: KubeObject, at: number) => look(memory.get(`${object.kind}/${object.metadata.name}`) as Seen, at),
    remove: (object: KubeObject) =>
      observeDeleted(read(object), memory, NOON)
        .map(({ reason }) => reason)
        .join(' '),
    memory,
  }
}

const owner = ['ReplicaSet', 'cart-5d4f8c7b9']
const name = 'cart-5d4f8c7b9-x2kqp'

test('a pod that runs tells nothing, and a pod that is ready tells it once', () => {
  const { see } = watch()
  assert.equal(see(pod(name, { owner, at: NOON })).text, '')
  assert.equal(see(pod('other', { ready: false, at: NOON })).text, '')
  assert.equal(see(pod('other', { at: NOON })).text, 'PodReady')
  assert.equal(see(pod('other', { at: NOON, labels: { a: 'b' } })).text, '')
})

for (const [reason, told] of [
  ['CrashLoopBackOff', 'CrashLoopBackOff'],
  ['ImagePullBackOff', 'ImagePullBackOff'],
  ['CreateContainerConfigError', 'CreateContainerConfigError'],
  ['ContainerCreating', ''],
  ['PodInitializing', ''],
] as const) {
  test(`a container that waits for ${reason} tells ${told || 'nothing'}`, () => {
    const { see } = watch()
    see(pod(name, { owner, at: NOON }))
    const state = waiting(reason, 'a message')
    assert.equal(see(pod(name, { owner, state, at: NOON })).text, told)
    assert.equal(see(pod(name, { owner, state, at: NOON, labels: { a: 'b' } })).text, '')
  })
}

test('a loop names the exit code, the signal and the restarts', () => {
  const { see } = watch()
  see(pod(name, { owner }))
  const { told } = see(
    pod(name, {
      owner,
      restarts: 4,
      state: waiting('CrashLoopBackOff'),
      last: terminated(139, NOON - 9 * SECOND, NOON),
    }),
  )
  assert.equal(
    told[0]?.message,
    'Back-off restarting failed container app: it ended with exit code 139 (Error, signal 11) after 9 s; 4 restarts',
  )
  assert.equal(told[0]?.at, NOON)
})

test('a container that was killed for its memory tells it once', () => {
  const { see } = watch()
  see(pod(name, { owner, at: NOON }))
  const killed = {
    owner,
    restarts: 1,
    last: terminated(137, NOON, NOON + 1, 'OOMKilled'),
    state: running(NOON + 2),
    at: NOON,
  }
  assert.equal(see(pod(name, killed)).text, 'OOMKilled')
  assert.equal(see(pod(name, { ...killed, labels: { a: 'b' } })).text, '')
})

test('a container that looped has recovered once it runs longer than its last run', () => {
  const { see, again } = watch()
  see(pod(name, { owner, at: NOON }))
  const last = terminated(1, NOON, NOON + 30 * SECOND)
  see(pod(name, { owner, restarts: 2, state: waiting('CrashLoopBackOff'), last }), 30 * SECOND)
  const runs = pod(name, { owner, restarts: 3, state: running(NOON + 40 * SECOND), last, at: NOON + 41 * SECOND })
  const started = see(runs, 41 * SECOND)
  assert.deepEqual([started.text, started.dueAt], ['', 75 * SECOND])
  assert.equal(again(runs, 75 * SECOND).text, 'PodReady')
  assert.equal(again(runs, 90 * SECOND).text, '')
})

test('a pod without a node tells the scheduler’s message, and again if it changes', () => {
  const { see } = watch()
  const first = see(pendingPod(name, '0/3 nodes are available: 3 Insufficient cpu.', { at: NOON }))
  assert.deepEqual(
    [first.text, first.told[0]?.message],
    ['FailedScheduling', '0/3 nodes are available: 3 Insufficient cpu.'],
  )
  assert.equal(see(pendingPod(name, '0/3 nodes are available: 3 Insufficient cpu.', { at: NOON })).text, '')
  assert.equal(see(pendingPod(name, '0/4 nodes are available.', { at: NOON })).text, 'FailedScheduling')
})

test('a pod ends when its deletion begins, when it ends, or when it is gone, and only once', () => {
  const { see, remove } = watch()
  see(pod(name, { owner, at: NOON }))
  const stopping = pod(name, { owner, metadata: { deletionTimestamp: new Date(NOON).toISOString() } })
  assert.equal(see(stopping).text, 'PodDeleted')
  assert.equal(remove(stopping), '')
  see(pod('job', { at: NOON }))
  assert.equal(see(pod('job', { phase: 'Succeeded', ready: false })).text, 'PodFinished')
  assert.equal(remove(pod('other')), 'PodDeleted')
})

test('an evicted pod says why', () => {
  const { see } = watch()
  see(pod(name, { owner, at: NOON }))
  assert.equal(see(pod(name, { owner, phase: 'Failed', reason: 'Evicted', ready: false })).text, 'Evicted PodFinished')
})

test('the workload is the owner of the owner, whatever the pod is called', () => {
  const { see } = watch()
  see(replicaSet('cart', '5d4f8c7b9'), -1)
  const odd = pod('a-very-odd-name', { owner, state: waiting('ImagePullBackOff') })
  assert.deepEqual(see(odd).told[0]?.object.owners, [{ kind: 'Deployment', name: 'cart' }])
})

test('no available replica is told after a minute, too few after five, and both ends', () => {
  const { see, again } = watch()
  const none = deployment('cart', { replicas: 3, ready: 0 })
  const few = deployment('cart', { replicas: 3, ready: 2 })
  see(deployment('cart', { replicas: 3 }))
  assert.deepEqual([see(none).text, again(none, 59 * SECOND).text], ['', ''])
  const told = again(none, MINUTE).told[0]
  assert.deepEqual(
    [told?.reason, told?.message, told?.startsAt],
    ['WorkloadUnavailable', '0 of 3 replicas available for more than 1 min', NOON],
  )
  assert.equal(see(few, 2 * MINUTE).text, 'WorkloadAvailable WorkloadIncomplete')
  assert.equal(see(deployment('cart', { replicas: 3 }), 3 * MINUTE).text, 'RolloutFinished WorkloadComplete')
})

test('a workload that was scaled to zero is not unavailable', () => {
  const { see, again } = watch()
  see(deployment('cart', { replicas: 2 }))
  const zero = deployment('cart', { replicas: 0 })
  assert.match(
    see(zero)
      .told.map(({ message }) => message)
      .join(),
    /Scaled from 2 to 0 replicas/,
  )
  assert.equal(again(zero, 10 * MINUTE).text, '')
})

test('a new ReplicaSet is a rollout with its images, and an old one that comes back is a rollback', () => {
  const { see } = watch()
  see(deployment('cart'), -1)
  const first = see(replicaSet('cart', '5d4f8c7b9', { revision: 1, image: 'cart:1' }), -1)
  see(deployment('cart', { revision: 2, by: 'kubectl-edit' }))
  const next = see(replicaSet('cart', '7d9f5b6c8', { revision: 2, image: 'cart:2' }))
  const back = see(replicaSet('cart', '5d4f8c7b9', { revision: 3, image: 'cart:1' }))
  assert.equal(first.text, '')
  assert.equal(next.told[0]?.message, 'Rollout of cart-7d9f5b6c8 (revision 2): app: cart:1 → cart:2; by kubectl-edit')
  assert.equal(back.told[0]?.message, 'Rollback to cart-5d4f8c7b9 (revision 3): app: cart:2 → cart:1; by kubectl-edit')
})

const LOST = { ready: 'Unknown', at: NOON, heardAt: NOON - 40 * SECOND }
const LOST_TOLD = [
  ['NodeNotReady', 'node-1', 40 * SECOND],
  ['NodeNotReady', name, 40 * SECOND],
]
const toldOf = (...seen: { told: readonly ClusterDraft[] }[]) =>
  seen.flatMap(({ told }) => told.map(({ reason, object, startsAt }) => [reason, object.name, NOON - startsAt]))

test('a lost node is told since it last reported, and so is each pod that Kubernetes marks because of it', () => {
  const { see } = watch()
  see(pod(name, { owner }))
  see(node('node-1'))
  const lost = see(node('node-1', LOST))
  assert.deepEqual(toldOf(lost, see(pod(name, { owner, ready: false, at: NOON }))), LOST_TOLD)
  assert.equal(see(node('node-1', { at: NOON })).text, 'NodeReady')
})

test('a pod that was marked before its node is told when the node is lost, and once', () => {
  const { see } = watch()
  see(pod(name, { owner }))
  see(node('node-1'))
  const marked = see(pod(name, { owner, ready: false, at: NOON }))
  const lost = see(node('node-1', LOST))
  assert.deepEqual(toldOf(marked, lost, see(pod(name, { owner, ready: false, at: NOON, restarts: 1 }))), LOST_TOLD)
})

test('a lost node does not take along pods of a DaemonSet, pods that ended, and pods that are ready or were ill before or after', () => {
  const { see } = watch()
  see(pod('agent-x2kqp', { owner: ['DaemonSet', 'agent'], ready: false, at: NOON }))
  see(pod('ready', {}))
  see(pod('later', { ready: false, at: NOON + MINUTE }))
  see(pod('ill', { ready: false, at: NOON - MINUTE }))
  see(pod('done', { phase: 'Succeeded', ready: false, at: NOON }))
  see(pod('elsewhere', { node: 'node-2', ready: false, at: NOON }))
  see(node('node-1'))
  assert.deepEqual(toldOf(see(node('node-1', LOST))), LOST_TOLD.slice(0, 1))
})

test('a cordoned node and a removed node are no problem', () => {
  const { see, remove } = watch()
  see(node('node-1'))
  const { told } = see(node('node-1', { cordoned: true }))
  assert.deepEqual(
    told.map(({ reason, type }) => [reason, type]),
    [['NodeCordoned', 'Normal']],
  )
  assert.equal(remove(node('node-1')), 'RemovingNode')
})

test('a number that is no number, such as an annotation that somebody has edited, is 0', () => {
  const annotations = { 'deployment.kubernetes.io/revision': 'two' }
  const set = readSeen('ReplicaSet', { metadata: { uid: 'a', annotations } }, NOON)
  const pods = {
    containerStatuses: [{ name: 'app', restartCount: 'NaN', lastState: { terminated: { exitCode: {} } } }],
  }
  const seen = readSeen('Pod', { metadata: { uid: 'b', deletionGracePeriodSeconds: 'x' }, status: pods }, NOON)
  assert.equal(set?.kind === 'ReplicaSet' && set.facts.revision, 0)
  const [app] = seen?.kind === 'Pod' ? seen.facts.containers : []
  assert.deepEqual([app?.restarts, app?.last?.exitCode], [0, 0])
})
