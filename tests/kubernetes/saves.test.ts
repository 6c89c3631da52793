/** What a watch saves at once, later, or not at all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joined, type WatchUpdate } from '../../src/domain/watch/object.ts'
import { type Change, changeOf } from '../../src/kubernetes/changes.ts'
import { prepare } from '../../src/kubernetes/intake.ts'
import { createMemory } from '../../src/kubernetes/memory.ts'
import { streamsOf } from '../../src/kubernetes/stream.ts'
import { deployment, event, pod, replicaSet, terminated, waiting } from '../helpers/kubernetes/objects.ts'
import type { KubeObject } from '../helpers/kubernetes/storage.ts'

const streamOf = (kind: string) => {
  const found = streamsOf([]).find(({ resource }) => resource.kind === kind)
  assert.ok(found)
  return found
}

const NOW = 1_000_000
const COMMON = {
  ...{ cluster: 'c', now: NOW, ahead: 0, isFirst: () => false, isFollowed: () => true },
  warn: (problem: string) => assert.fail(problem),
}

/** `at`: when it arrived; long ago, so that nothing waits for another object. */
function seen(object: KubeObject, version: number, at = 0): Change {
  const metadata = { uid: object.metadata.name, ...object.metadata, resourceVersion: String(version) }
  const stream = streamOf(object.kind)
  const change = changeOf({ type: 'object', object: { ...object, metadata }, version: String(version) }, stream, at)
  assert.ok(change)
  return change
}

/** Returns a function that applies changes to one memory. */
function watched() {
  const memory = createMemory([])
  return (...changes: Change[]) => prepare(changes, { ...COMMON, memory })
}

const podWith = (annotation: string, more = {}) =>
  pod('cart-1', { metadata: { annotations: { a: annotation } }, ...more })

test('a version that changes nothing that is remembered moves only the position', () => {
  const apply = watched()
  apply(seen(podWith('1'), 1))
  const { update, isNews } = apply(seen(podWith('2'), 2))
  assert.deepEqual([update.saved, isNews, update.positions], [[], false, [{ resource: 'pods', version: '2' }]])
})

test('a change that tells nothing is saved later', () => {
  const apply = watched()
  apply(seen(deployment('cart', { replicas: 2, ready: 2 }), 1))
  const { update, isNews } = apply(seen(deployment('cart', { replicas: 2, ready: 1 }), 2))
  assert.deepEqual([update.saved.length, isNews], [1, false])
})

test('a problem, an event and the end of a list are saved at once', () => {
  const apply = watched()
  apply(seen(podWith('1'), 1))
  const loop = { state: waiting('CrashLoopBackOff'), last: terminated(1, 1, 2), restarts: 1 }
  assert.ok(apply(seen(podWith('1', loop), 2)).isNews)
  assert.ok(apply(seen(event('e', 'Pod', 'cart-1', 'Unhealthy', 'probe failed'), 3)).isNews)
  assert.ok(apply({ type: 'listed', stream: streamOf('Node'), uids: new Set(), version: '4' }).isNews)
})

test('every version of an event is an occurrence', () => {
  const apply = watched()
  apply(seen(podWith('1'), 1))
  const failed = (count: number) => event('e', 'Pod', 'cart-1', 'Unhealthy', 'probe failed', { count })
  apply(seen(failed(1), 2))
  assert.equal(apply(seen(failed(2), 3)).intake.accepted.length, 1)
  assert.equal(apply(seen(failed(2), 3)).intake.accepted.length, 0)
})

test('two updates are saved as if they were one', () => {
  const apply = watched()
  const first = apply(seen(podWith('1'), 1), seen(pod('mail-1'), 2)).update
  const second = apply({ type: 'deleted', uid: 'cart-1', stream: streamOf('Pod'), version: '3' }).update
  const third = apply(seen(podWith('1'), 4)).update
  const shown = ({ saved, deleted, positions }: WatchUpdate) => [
    saved.map(({ uid }) => uid),
    deleted,
    positions.map(({ version }) => version),
  ]
  assert.deepEqual(shown(joined(first, second)), [['mail-1'], ['cart-1'], ['3']])
  assert.deepEqual(shown(joined(joined(first, second), third)), [['mail-1', 'cart-1'], [], ['4']])
})

test('the problem of a pod that was gone when the events were listed ends at once', () => {
  const memory = createMemory([])
  const listed = (object: KubeObject): Change => ({ ...seen(object, 1), version: null }) as Change
  const told = (change: Change, isListed = true) => {
    const { intake } = prepare([change], { ...COMMON, memory, isFirst: () => true, isFollowed: () => isListed })
    return intake.accepted.map(({ draft }) => (draft.source === 'cluster' ? draft.reason : ''))
  }
  prepare([seen(podWith('1'), 1)], { ...COMMON, memory, isFirst: () => true })
  const about = (pod: string) => event(`of-${pod}`, 'Pod', pod, 'BackOff', 'Back-off restarting failed container app')
  assert.deepEqual(told(listed(about('gone'))), ['BackOff', 'PodDeleted'])
  assert.deepEqual(told(listed(about('cart-1'))), ['BackOff'])
  assert.deepEqual(told(listed(about('unlisted')), false), ['BackOff'])
})

const shownOf = ({ intake, rest }: ReturnType<typeof prepare>) => ({
  told: intake.accepted.flatMap(({ draft }) => (draft.source === 'cluster' ? `${draft.reason} ${draft.message}` : [])),
  waiting: rest.length,
})

test('a rollout waits for the version of its Deployment that shows who made it', () => {
  const apply = watched()
  const made = { image: 'cart:2', revision: 2, by: 'kubectl-edit' }
  apply(
    seen(deployment('cart', { image: 'cart:1', by: 'helm' }), 1),
    seen(replicaSet('cart', 'a', { image: 'cart:1' }), 2),
  )
  const early = apply(seen(replicaSet('cart', 'b', made), 5, NOW), seen(replicaSet('mail', 'a'), 6, NOW))
  assert.deepEqual([shownOf(early), early.update.positions], [{ told: [], waiting: 2 }, []])
  const { told, waiting } = shownOf(apply(...early.rest, seen(deployment('cart', made), 4, NOW)))
  assert.deepEqual(
    [told.length, waiting],
    [0, 2],
    'the Deployment is read after the ReplicaSet, which is prepared again',
  )
  const text = 'RolloutStarted Rollout of cart-b (revision 2): app: cart:1 → cart:2; by kubectl-edit'
  assert.deepEqual(shownOf(apply(early.rest[0] as Change)), { told: [text], waiting: 0 })
})

test('a pod and an event wait for the object they belong to, but not for ever, nor for what is not followed', () => {
  const early = [
    seen(pod('cart-1', { owner: ['ReplicaSet', 'cart-a'], state: waiting('ErrImagePull') }), 3, NOW),
    seen(event('e', 'Pod', 'cart-1', 'Unhealthy', 'probe failed'), 4, NOW),
  ]
  const memory = createMemory([])
  const told = (circumstances: object, ...changes: Change[]) => {
    const { intake, rest } = prepare(changes, { ...COMMON, memory, ...circumstances })
    return [rest.length, ...intake.accepted.map(({ draft }) => draft.source === 'cluster' && draft.object.owners)]
  }
  assert.deepEqual(told({}, ...early), [2])
  assert.deepEqual(told({ now: NOW + 2_999 }, ...early), [2])
  const workload = [{ kind: 'Deployment', name: 'cart' }]
  const known = [seen(deployment('cart'), 1), seen(replicaSet('cart', 'a'), 2)]
  assert.deepEqual(told({}, ...known, ...early).slice(-2), [workload, workload])
  const guessed = [{ kind: 'ReplicaSet', name: 'cart-a' }]
  for (const other of [{ now: NOW + 3_000 }, { now: NOW - 3_600_000 }, { isFollowed: () => false }])
    assert.deepEqual(told({ memory: createMemory([]), ...other }, ...early), [0, guessed, guessed])
})

test('the problem of a pod that does not become known after its event ends, and says that its workload is a guess', () => {
  const apply = watched()
  const failed = (pod: string) => event(`of-${pod}`, 'Pod', pod, 'BackOff', 'Back-off restarting failed container app')
  const { intake } = apply(seen(failed('cart-5d4f8c7b9-x2kqp'), 1), seen(podWith('1'), 2), seen(failed('cart-1'), 3))
  assert.deepEqual(
    intake.accepted.map(({ draft }) => draft.source === 'cluster' && [draft.object.name, draft.reason]),
    [
      ['cart-5d4f8c7b9-x2kqp', 'BackOff'],
      ['cart-5d4f8c7b9-x2kqp', 'PodDeleted'],
      ['cart-1', 'BackOff'],
    ],
  )
  const end = intake.accepted[1]?.draft
  assert.ok(end?.source === 'cluster')
  assert.equal(end.message, 'Pod does not exist any more; its workload was guessed from its name')
})
