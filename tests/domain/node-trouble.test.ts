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
    node: 'worker-1',
    ...more,
  }
}

const explained = (conditions: readonly ConditionOnNode[], minute = 0) =>
  [...explainedByNodes(conditions, [{ node: 'worker-1', startsAt: NOON + minute * MINUTE, endsAt: null }])].sort()

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
    assert.equal(explained([condition], minute).length === 1, expected)
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
