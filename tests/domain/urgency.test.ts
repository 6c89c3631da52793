/** The order of incidents on pages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_PROBLEM } from '../../src/domain/incident/problem.ts'
import { mostUrgentFirst } from '../../src/domain/incident/urgency.ts'

const NOW = 1_000_000
const ON = { ...NO_PROBLEM, since: NOW - 1 }

function incident(id: string, more: Partial<Parameters<typeof mostUrgentFirst>[0][number]> = {}) {
  const rated = { origin: 'manual', severity: 'critical', problem: ON } as const
  return { id, ...rated, startedAt: NOW, createdAt: NOW, services: 1, ...more }
}

for (const [statement, first, second] of [
  ['what still burns is above what has healed', incident('b'), incident('a', { problem: NO_PROBLEM, services: 9 })],
  ['critical is above warning', incident('b'), incident('a', { severity: 'warning', services: 9, startedAt: 1 })],
  [
    'a critical alert makes a declared warning critical',
    incident('b', { severity: 'warning', problem: { ...ON, firing: ['Down'] } }),
    incident('a', { severity: 'error', services: 9 }),
  ],
  ['more affected services are above fewer', incident('b', { services: 3 }), incident('a', { startedAt: 1 })],
  ['in a storm, the origin is above its victims', incident('b', { startedAt: 1 }), incident('a')],
  ['incidents of the same moment keep one order', incident('a'), incident('b')],
] as const) {
  test(statement, () => {
    for (const given of [
      [first, second],
      [second, first],
    ])
      assert.deepEqual(
        mostUrgentFirst(given, NOW).map(({ id }) => id),
        [first.id, second.id],
      )
  })
}

test('an incident that has just ended its last condition still counts as burning until it has settled', () => {
  const settling = { ...NO_PROBLEM, endedAt: NOW - 1_000, knownAt: NOW - 1_000 }
  const order = mostUrgentFirst([incident('a', { problem: NO_PROBLEM }), incident('b', { problem: settling })], NOW)
  assert.equal(order[0]?.id, 'b')
})
