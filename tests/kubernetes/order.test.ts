/** The order of what several streams of a cluster deliver. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Change, inOrder } from '../../src/kubernetes/changes.ts'
import { type Stream, streamsOf } from '../../src/kubernetes/stream.ts'

const streamOf = (kind: string) => {
  const found = streamsOf([]).find(({ resource }) => resource.kind === kind)
  assert.ok(found)
  return found
}
const [nodes, deployments] = [streamOf('Node'), streamOf('Deployment')]
const [replicaSets, pods] = [streamOf('ReplicaSet'), streamOf('Pod')]

const mark = (stream: Stream, version: string): Change => ({ type: 'bookmark', stream, version })
const listed = (stream: Stream, version: string): Change => ({ type: 'listed', stream, uids: new Set(), version })
const object = (stream: Stream, name: string): Change => ({
  type: 'seen',
  seen: { uid: name, version: '1', namespace: '', name, owner: null, kind: 'Event', facts: null },
  ...{ event: null, stream, version: null, at: 0 },
})
const shown = (changes: readonly Change[]) =>
  changes.map((one) =>
    one.type === 'seen' ? one.seen.name : 'version' in one ? `${one.type} ${one.version}` : one.type,
  )

test('changes of several streams follow each other by their resource versions', () => {
  const changes = [mark(nodes, '7'), mark(nodes, '9'), mark(deployments, '8')]
  assert.deepEqual(shown(inOrder(changes)), ['bookmark 7', 'bookmark 8', 'bookmark 9'])
})

test('versions are compared as numbers', () => {
  assert.deepEqual(shown(inOrder([mark(nodes, '10'), mark(deployments, '9')])), ['bookmark 9', 'bookmark 10'])
})

test('the end of a list stays behind the objects of the list, however new the other changes are', () => {
  const changes = [object(deployments, 'a'), mark(nodes, '900'), object(deployments, 'b'), listed(deployments, '5')]
  assert.deepEqual(shown(inOrder(changes)), ['a', 'b', 'listed 5', 'bookmark 900'])
})

test('the objects of a list follow what arrived before it', () => {
  const changes = [mark(deployments, '900'), object(nodes, 'a'), listed(nodes, '950'), mark(deployments, '901')]
  assert.deepEqual(shown(inOrder(changes)), ['bookmark 900', 'a', 'bookmark 901', 'listed 950'])
})

test('of two lists that arrive together, owners come before what they own', () => {
  const changes = [object(pods, 'pod'), object(replicaSets, 'replica set'), object(deployments, 'deployment')]
  assert.deepEqual(shown(inOrder(changes)), ['deployment', 'replica set', 'pod'])
})

test('the changes of a stream whose versions are no numbers keep the order of arrival', () => {
  assert.deepEqual(shown(inOrder([mark(nodes, 'z'), mark(nodes, 'a')])), ['bookmark z', 'bookmark a'])
})
