/** Node failures: a node explains problems that started on its pods at the same time, and nothing else. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { type ConditionOnNode, explainedByNodes } from '../../src/domain/health/node-trouble.ts'

const NOON = Date.UTC(2026, 2, 14, 12)
const MINUTE = 60_000

function onNode(more: Partial<ConditionOnNode> = {}): ConditionOnNode {
  return {
    uuid: 'a',
    source: 'cluster',
    name: 'FailedMount',
    severity: 'error',
    status: 'firing',
    failure: 'volume',
    startsAt: NOON,
    endsAt: null,
    lastSeenAt: NOON,
    receivedAt: NOON,
    node: 'worker-1',
    ...more,
  }
}

type Node = { minute?: number; until?: number | null; now?: number; counted?: readonly string[] }
const explained = (
  conditions: readonly ConditionOnNode[],
  { minute = 0, until = null, now = 0, counted = [] }: Node = {},
) => {
  const [startsAt, endsAt] = [NOON + minute * MINUTE, until === null ? null : NOON + until * MINUTE]
  const troubles = [{ node: 'worker-1', startsAt, endsAt }]
  return [...explainedByNodes(conditions, troubles, { now: NOON + now * MINUTE, counted })].sort()
}

const CASES: [string, ConditionOnNode, number, boolean][] = [
  ['at the same time', onNode(), 0, true],
  ['ten minutes before the node’s', onNode(), 10, true],
  ['eleven minutes before the node’s', onNode(), 11, false],
  ['of a pod on another node', onNode({ node: 'worker-2' }), 0, false],
  ['of a pod whose node is not told', onNode({ node: null }), 0, false],
  ['of many pods, last seen on this node', onNode({ startsAt: NOON - 60 * MINUTE }), 0, true],
  ['an alert that began an hour before', onNode({ source: 'metrics', startsAt: NOON - 60 * MINUTE }), 0, false],
]
for (const [name, condition, minute, expected] of CASES) {
  test(`A problem ${name} is ${expected ? '' : 'not '}the node’s`, () => {
    assert.equal(explained([condition], { minute }).length === 1, expected)
  })
}

test('A warning without a node is explained if all events are', () => {
  const warning = onNode({
    uuid: 'b',
    source: 'metrics',
    severity: 'warning',
    node: null,
    startsAt: NOON + 15 * MINUTE,
  })
  assert.deepEqual(explained([onNode(), warning]), ['a', 'b'])
  assert.deepEqual(explained([onNode(), onNode({ uuid: 'c', node: 'worker-2' }), warning]), ['a'])
  assert.deepEqual(explained([onNode(), { ...warning, severity: 'critical' }]), ['a'])
  assert.deepEqual(explained([warning]), [])
})

test('After the node’s recovery, events of its pods are explained for an hour', () => {
  assert.deepEqual(explained([onNode()], { until: 2, now: 61 }), ['a'])
  assert.deepEqual(explained([onNode()], { until: 2, now: 62 }), [])
})

for (const source of ['metrics', 'dashboard'] as const) {
  const alert = (receivedAt: number) => onNode({ source, receivedAt: NOON + receivedAt * MINUTE })
  test(`After the node’s recovery, an alert from ${source} counts as soon as it is delivered again, or in 5 minutes`, () => {
    assert.deepEqual(explained([alert(0)], { until: 2, now: 6.9 }), ['a'])
    assert.deepEqual(explained([alert(0)], { until: 2, now: 7 }), [])
    // A delivery in the first minute can be from before the sender noticed the recovery.
    assert.deepEqual(explained([alert(2.9)], { until: 2, now: 3 }), ['a'])
    assert.deepEqual(explained([alert(3)], { until: 2, now: 3 }), [])
    assert.deepEqual(explained([alert(30)], { now: 30 }), ['a'])
  })
}

test('What an incident of the service counts as going on is not explained by a later node failure', () => {
  assert.deepEqual(explained([onNode({ source: 'metrics' })], { counted: ['FailedMount'] }), [])
  assert.deepEqual(explained([onNode({ source: 'metrics' })], { counted: ['Other'] }), ['a'])
  assert.deepEqual(explained([onNode({ name: 'NodeNotReady (pod)' })], { counted: ['NodeNotReady (pod)'] }), ['a'])
})

test('Only the node controller says that a pod’s node is lost', () => {
  const named = { name: 'NodeNotReady (pod)', startsAt: NOON - 60 * MINUTE, lastSeenAt: NOON - 60 * MINUTE }
  assert.deepEqual(explained([onNode(named)]), ['a'])
  for (const source of ['metrics', 'dashboard', 'ci'] as const)
    assert.deepEqual(explained([onNode({ ...named, source })]), [])
})
