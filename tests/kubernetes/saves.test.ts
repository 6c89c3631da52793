/** What a watch saves at once, later, or not at all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WatchUpdate } from '../../src/domain/watch/object.ts'
import { type Change, changeOf, joined, prepare } from '../../src/kubernetes/intake.ts'
import { createMemory } from '../../src/kubernetes/memory.ts'
import { streamsOf } from '../../src/kubernetes/stream.ts'
import { deployment, event, pod, terminated, waiting } from '../helpers/kubernetes/objects.ts'
import type { KubeObject } from '../helpers/kubernetes/storage.ts'

const streamOf = (kind: string) => {
  const found = streamsOf([]).find(({ resource }) => resource.kind === kind)
  assert.ok(found)
  return found
}

function seen(object: KubeObject, version: number): Change {
  const metadata = { uid: object.metadata.name, ...object.metadata, resourceVersion: String(version) }
  const stream = streamOf(object.kind)
  const change = changeOf({ type: 'object', object: { ...object, metadata }, version: String(version) }, stream, 0)
  assert.ok(change)
  return change
}

/** Returns a function that applies changes to one memory. */
function watched() {
  const memory = createMemory([])
  return (...changes: Change[]) => prepare(changes, { cluster: 'c', memory, now: 1_000_000, isFirst: () => false })
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
  const failed = (count: number) => event('e', 'Pod', 'cart-1', 'Unhealthy', 'probe failed', { count })
  apply(seen(failed(1), 1))
  assert.equal(apply(seen(failed(2), 2)).intake.accepted.length, 1)
  assert.equal(apply(seen(failed(2), 2)).intake.accepted.length, 0)
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
  const told = (change: Change, arePodsListed = true) => {
    const { intake } = prepare([change], { cluster: 'c', memory, now: 1_000_000, isFirst: () => true, arePodsListed })
    return intake.accepted.map(({ draft }) => (draft.source === 'cluster' ? draft.reason : ''))
  }
  prepare([seen(podWith('1'), 1)], { cluster: 'c', memory, now: 1_000_000, isFirst: () => true })
  const about = (pod: string) => event(`of-${pod}`, 'Pod', pod, 'BackOff', 'Back-off restarting failed container app')
  assert.deepEqual(told(listed(about('gone'))), ['BackOff', 'PodDeleted'])
  assert.deepEqual(told(listed(about('cart-1'))), ['BackOff'])
  assert.deepEqual(told(listed(about('unlisted')), false), ['BackOff'])
})

test('the problem of a pod that does not become known after its event ends, and says that its workload is a guess', () => {
  const memory = createMemory([])
  const apply = (...changes: Change[]) =>
    prepare(changes, { cluster: 'c', memory, now: 1_000_000, isFirst: () => false, arePodsListed: true })
  const failed = (pod: string) => event(`of-${pod}`, 'Pod', pod, 'BackOff', 'Back-off restarting failed container app')
  const { intake, unseen } = apply(seen(failed('cart-5d4f8c7b9-x2kqp'), 1), seen(failed('cart-1'), 2))
  assert.deepEqual([intake.accepted.length, unseen.length], [2, 2])
  apply(seen(podWith('1'), 3))
  const told = apply(...unseen.map((draft): Change => ({ type: 'unseen', draft }))).intake.accepted
  assert.deepEqual(
    told.map(({ draft }) => draft.source === 'cluster' && [draft.object.name, draft.reason, draft.message]),
    [['cart-5d4f8c7b9-x2kqp', 'PodDeleted', 'Pod does not exist any more; its workload was guessed from its name']],
  )
})
