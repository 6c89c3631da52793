/** Objects with fields of any type and with any names are read, or left out, and keep no other object from being read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { observe } from '../../src/domain/kubernetes/observe.ts'
import { readSeen } from '../../src/domain/kubernetes/parse.ts'
import type { Kind } from '../../src/domain/watch/object.ts'
import { prepare } from '../../src/kubernetes/intake.ts'
import { createMemory } from '../../src/kubernetes/memory.ts'
import { streamsOf } from '../../src/kubernetes/stream.ts'
import { deployment, node, pod, replicaSet } from '../helpers/kubernetes/objects.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const odd: readonly unknown[] = [
  null,
  0,
  -1,
  1e308,
  '',
  'x'.repeat(9_000),
  [],
  {},
  [null],
  [[]],
  true,
  { toString: 1 },
  '__proto__',
  '2026-13-45',
]

/** Returns the object again and again, each time with another value in another place. */
function* variants(object: unknown): Generator<unknown> {
  for (const value of odd) yield value
  if (typeof object !== 'object' || object === null) return
  for (const [name, own] of Object.entries(object))
    for (const value of variants(own)) yield Array.isArray(object) ? [value] : { ...object, [name]: value }
}

const objects = [
  node('n'),
  deployment('cart', { conditions: [{ type: 'Progressing', reason: 'ProgressDeadlineExceeded', message: 'm' }] }),
  replicaSet('cart', '5d4f8c7b9'),
  pod('cart-5d4f8c7b9-x2kqp', { owner: ['ReplicaSet', 'cart-5d4f8c7b9'], node: 'n' }),
]

for (const object of objects) {
  test(`a ${object.kind} with an odd value in any place is read or left out`, () => {
    const kind = object.kind as Kind
    const metadata = { ...object.metadata, uid: 'u', resourceVersion: '1' }
    const before = readSeen(kind, { ...object, metadata }, NOW)
    assert.ok(before)
    const memory = createMemory([before])
    let read = 0
    for (const variant of variants({ ...object, metadata })) {
      const seen = readSeen(kind, variant, NOW)
      if (!seen) continue
      read += 1
      for (const last of [before, null]) observe(last, seen, { known: memory, now: NOW, isFirst: false })
    }
    assert.ok(read > 100, `${read} were read`)
  })
}

const named = (name: string, image: string) => ({
  metadata: { uid: 'u', name: 'cart', namespace: 'shop', resourceVersion: image },
  spec: { replicas: 1, template: { spec: { containers: [{ name, image }] } } },
  status: { updateRevision: image },
})

for (const name of ['constructor', '__proto__', 'toString', 'app']) {
  test(`a rollout of a container named ${name} is told with its images`, () => {
    const [before, next] = ['a:1', 'a:2'].map((image) => readSeen('StatefulSet', named(name, image), NOW))
    const other = readSeen('StatefulSet', named('other', 'b:1'), NOW)
    assert.ok(before && next && other)
    const told = (last: typeof before) =>
      observe(last, next, { known: createMemory([last]), now: NOW, isFirst: false }).told.map(({ message }) => message)
    assert.match(told(before).join(), new RegExp(`${name}: a:1 → a:2`))
    assert.match(told(other).join(), new RegExp(`${name}: a:2`))
  })
}

test('an object that cannot be understood is reported, and the next one is saved', () => {
  const [stream] = streamsOf([]).filter(({ resource }) => resource.kind === 'Node')
  const [good, bad] = [
    readSeen('Node', { ...node('n'), metadata: { name: 'n', uid: 'n' } }, NOW),
    { kind: 'Node', uid: 'b', version: '1' },
  ]
  assert.ok(stream && good)
  const changes = [bad as typeof good, good].map((seen) => ({
    ...({ type: 'seen', seen, event: null, stream, version: '7', at: 0 } as const),
  }))
  const problems: string[] = []
  const { update } = prepare(changes, {
    ...{ cluster: 'c', memory: createMemory([]), now: NOW, ahead: 0, isFirst: () => false, isFollowed: () => true },
    warn: (problem) => void problems.push(problem),
  })
  assert.match(problems.join(), /^an object cannot be understood: TypeError/)
  assert.deepEqual(
    update.saved.map(({ name }) => name),
    ['n'],
  )
})
