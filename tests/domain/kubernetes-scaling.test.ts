/** What a watched cluster tells of scaling, autoscalers and the digests of images. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rolloutsOf } from '../../src/domain/correlation/rollout.ts'
import type { ClusterDraft } from '../../src/domain/event/event.ts'
import { observe } from '../../src/domain/kubernetes/observe.ts'
import { readSeen } from '../../src/domain/kubernetes/parse.ts'
import type { Seen } from '../../src/domain/watch/object.ts'
import { createMemory } from '../../src/kubernetes/memory.ts'
import { autoscaler, deployment, pod, replicaSet } from '../helpers/kubernetes/objects.ts'
import type { KubeObject } from '../helpers/kubernetes/storage.ts'

const NOON = Date.UTC(2026, 2, 14, 12)

/** Returns a function that observes a version of an object. */
function watch() {
  const known = createMemory([])
  return (object: KubeObject): readonly ClusterDraft[] => {
    const metadata = { uid: `${object.kind}/${object.metadata.name}`, ...object.metadata }
    const seen = readSeen(object.kind as Seen['kind'], { ...object, metadata }, NOON)
    assert.ok(seen)
    const { after, told } = observe(known.get(seen.uid), seen, { known, now: NOON, isFirst: false })
    known.put(after)
    return told
  }
}

const texts = (told: readonly ClusterDraft[]) => told.map(({ reason, message }) => `${reason}: ${message}`)

test('scaling by hand names the client, and scaling by an autoscaler names it with its limits', () => {
  const see = watch()
  see(autoscaler('cart', { least: 2, most: 8 }))
  see(deployment('cart', { replicas: 2 }))
  assert.deepEqual(texts(see(deployment('cart', { replicas: 3, scaledBy: 'kubectl' }))), [
    'WorkloadScaled: Scaled from 2 to 3 replicas; by kubectl',
  ])
  assert.deepEqual(texts(see(deployment('cart', { replicas: 5, scaledBy: 'kube-controller-manager' }))), [
    'WorkloadScaled: Scaled from 3 to 5 replicas; by the autoscaler cart (2 to 8 replicas)',
  ])
})

test('the autoscaler of another workload is not named', () => {
  const see = watch()
  see(autoscaler('mail'))
  see(deployment('cart', { replicas: 2 }))
  const told = texts(see(deployment('cart', { replicas: 5, scaledBy: 'kube-controller-manager' })))
  assert.deepEqual(told, ['WorkloadScaled: Scaled from 2 to 5 replicas; by kube-controller-manager'])
})

test('an autoscaler that cannot scale is a problem of its workload, until it can', () => {
  const see = watch()
  assert.deepEqual(see(autoscaler('cart')), [])
  const [problem] = see(autoscaler('cart', { fails: 'FailedGetResourceMetric' }))
  assert.deepEqual([problem?.type, problem?.object.owners], ['Warning', [{ kind: 'Deployment', name: 'cart' }]])
  assert.deepEqual(see(autoscaler('cart', { fails: 'FailedGetResourceMetric', most: 12 })), [])
  assert.deepEqual(texts(see(autoscaler('cart'))), ['AutoscalerActive: Autoscaler cart can scale again'])
  assert.deepEqual(see(autoscaler('cart', { fails: 'ScalingDisabled' })), [])
})

test('a rollout names the digest of the old image, and its end the digests of the new images', () => {
  const see = watch()
  see(deployment('cart'))
  see(replicaSet('cart', 'aaaaa'))
  see(pod('cart-aaaaa-1', { owner: ['ReplicaSet', 'cart-aaaaa'], image: 'registry.example/shop/cart:1.0' }))
  const next = { revision: 2, image: 'registry.example/shop/cart:2.0' }
  see(deployment('cart', { ...next, ready: 0 }))
  const [rollout] = see(replicaSet('cart', 'bbbbb', next))
  assert.match(rollout?.message ?? '', /app: \S+cart:1\.0@sha256:1+ → \S+cart:2\.0; by/)
  assert.deepEqual(rollout?.images, ['registry.example/shop/cart:2.0'])
  see(pod('cart-bbbbb-1', { owner: ['ReplicaSet', 'cart-bbbbb'], image: next.image }))
  const [end] = see(deployment('cart', next))
  assert.match(end?.message ?? '', /1 of 1 replica available; \S+cart:2\.0@sha256:1+$/)
})

test('the images of a workload that is found are known', () => {
  assert.deepEqual(watch()(deployment('cart'))[0]?.images, ['registry.example/shop/cart:1.0'])
})

const event = (text: string, minute: number, object = 'Deployment/cart') => ({
  ...{ eventId: `e${minute}`, object, text, at: NOON + minute * 60_000 },
})
const changes = (...events: ReturnType<typeof event>[]) =>
  rolloutsOf(events, { id: 's', namespace: 'shop' }).map(({ ref, emptied, template }) => [ref, emptied, template])

test('a scale-down to zero is one change with who did it, whoever reports it first', () => {
  const byController = event('Scaled down replica set cart-7d9f5b6c8 to 0 from 2', 1)
  const byWatch = event('Scaled from 2 to 0 replicas; by kubectl', 0)
  const expected = [['shop/cart@0', 'scaled to zero', 'by kubectl']]
  assert.deepEqual(changes(byController, byWatch), expected)
  assert.deepEqual(changes({ ...byController, at: NOON }, { ...byWatch, at: NOON + 1 }), expected)
})

test('a StatefulSet without replicas is a change, and more or fewer replicas are none', () => {
  const of = (text: string) => changes(event(text, 0, 'StatefulSet/db'))
  assert.deepEqual(of('Scaled from 1 to 0 replicas'), [['shop/db@0', 'scaled to zero', undefined]])
  assert.deepEqual(of('Scaled from 3 to 1 replicas; by kubectl'), [])
  assert.deepEqual(of('Scaled from 0 to 3 replicas; by kubectl'), [])
})

test('a new pod template that is taken back before it replaced the old one is a rollback, not a scale-down to zero', () => {
  const first = event('Scaled up replica set cart-aaaaaaaaa to 3 from 0', 0)
  const second = event('Scaled up replica set cart-bbbbbbbbb to 1 from 0', 10)
  const back = event('Scaled down replica set cart-bbbbbbbbb to 0 from 1', 20)
  const done = event('Scaled down replica set cart-aaaaaaaaa to 0 from 3', 11)
  const rollouts = (...events: ReturnType<typeof event>[]) =>
    rolloutsOf(events, { id: 's', namespace: 'shop' }).map(({ ref, isRollback, emptied }) => [ref, isRollback, emptied])
  const made = [
    ['shop/cart@aaaaaaaaa', false, undefined],
    ['shop/cart@bbbbbbbbb', false, undefined],
  ]
  assert.deepEqual(rollouts(first, second, back), [...made, ['shop/cart@aaaaaaaaa', true, undefined]])
  assert.deepEqual(rollouts(first, second, done, back), [...made, ['shop/cart@0', false, 'scaled to zero']])
})
