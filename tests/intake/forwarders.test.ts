/** Programs that forward Kubernetes events in their own wrapping. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCluster } from '../../src/intake/cluster.ts'
import { NOON } from '../helpers/factory.ts'

const EVENT = {
  involvedObject: { kind: 'Pod', namespace: 'shop', name: 'cart-1' },
  reason: 'BackOff',
  message: 'Back-off restarting failed container',
  count: 4,
}
const meta = (kind: string, name: string, reason = 'updated') => ({
  eventmeta: { kind, name, namespace: 'shop', reason },
  text: `A ${kind} has been ${reason}`,
  time: '2026-03-14T12:00:00Z',
})

function only(body: unknown) {
  const { accepted } = readCluster(body, NOON)
  const draft = accepted[0]?.draft
  if (draft?.source !== 'cluster') return null
  const { kind, namespace, name } = draft.object
  return [draft.reason, kind, namespace, name]
}

for (const wrapped of [
  { verb: 'ADDED', event: EVENT },
  { type: 'MODIFIED', object: EVENT },
  { specversion: '1.0', type: 'dev.knative.apiserver.resource.add', data: EVENT },
  { context: { id: '1' }, body: EVENT },
])
  test(`the event in ${Object.keys(wrapped)} is read`, () => {
    assert.deepEqual(only(wrapped), ['BackOff', 'Pod', 'shop', 'cart-1'])
  })

for (const [body, expected] of [
  [meta('deployment', 'shop/cart'), ['updated', 'Deployment', 'shop', 'cart']],
  [meta('Backoff', 'cart-1'), ['BackOff', 'Pod', 'shop', 'cart-1']],
  [meta('NodeNotReady', 'worker-1'), ['NodeNotReady', 'Node', '', 'worker-1']],
  [meta('statefulsets', 'db', 'deleted'), ['deleted', 'StatefulSet', 'shop', 'db']],
] as const)
  test(`kubewatch's ${body.eventmeta.kind} is read`, () => assert.deepEqual(only(body), expected))

const LAYOUT = { kind: 'Node', name: 'worker-1', namespace: 'default', reason: 'NodeNotReady', message: 'm', host: 'w' }
for (const field of ['details', 'detail', 'fields'])
  test(`the event that a layout describes in ${field} is read`, () => {
    const body = { region: 'us-west-2', eventType: 'kube-event', createdAt: '2026-03-14T12:00:00Z', [field]: LAYOUT }
    assert.deepEqual(only(body), ['NodeNotReady', 'Node', '', 'worker-1'])
  })

test('a layout that names no kind is read as a pod, and so is an event of Kubernetes', () => {
  const { kind: _, ...flat } = { ...LAYOUT, podName: 'cart-1' }
  assert.deepEqual(only(flat), ['NodeNotReady', 'Pod', 'default', 'cart-1'])
  assert.deepEqual(only({ ...flat, kind: 'Event' }), ['NodeNotReady', 'Pod', 'default', 'cart-1'])
})

test('a layout without an object is refused', () => {
  for (const details of [{ reason: 'BackOff' }, { reason: 'BackOff', name: 'cart-1' }, 'BackOff'])
    assert.equal(only({ details }), null)
})

test('a wrapper without an event is refused', () => {
  for (const body of [{ eventmeta: {} }, { eventmeta: 'x' }, { data: {} }, { body: [] }]) assert.equal(only(body), null)
})
