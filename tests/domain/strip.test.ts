/** A service's strip, and the headline for all services. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headlineOf } from '../../src/domain/health/headline.ts'
import { type StatusChange, sinceStart, stripOf, stripText } from '../../src/domain/health/strip.ts'

const MINUTE = 60_000
const at = (minutes: number, status: StatusChange['status'], score: number) => ({ at: minutes * MINUTE, status, score })

test('a bin has its worst status and its largest loss of points', () => {
  const changes = [at(-10, 'healthy', 100), at(21, 'degraded', 63), at(25, 'critical', 8), at(30, 'healthy', 95)]
  assert.deepEqual(stripOf(changes, 0, 60 * MINUTE, 3), [
    { status: 'healthy', lost: 0 },
    { status: 'critical', lost: 92 },
    { status: 'healthy', lost: 5 },
  ])
})

test('the time before the first entry is unknown', () => {
  const bins = stripOf([at(40, 'healthy', 100)], 0, 60 * MINUTE, 3)
  assert.deepEqual(
    bins.map(({ status }) => status),
    ['unknown', 'unknown', 'healthy'],
  )
})

test('a change on the boundary of two bins belongs to the later one', () => {
  const bins = stripOf([at(0, 'critical', 0), at(20, 'healthy', 100)], 0, 60 * MINUTE, 3)
  assert.deepEqual(
    bins.map(({ status }) => status),
    ['critical', 'healthy', 'healthy'],
  )
})

test('a day without data has 72 unknown bins', () => {
  const bins = stripOf([], 0, 24 * 60 * MINUTE)
  assert.deepEqual([bins.length, new Set(bins.map(({ status }) => status)).size, bins[0]?.status], [72, 1, 'unknown'])
})

for (const [what, changes, expected] of [
  ['begins at the start of the incident', [at(0, 'healthy', 100), at(9, 'critical', 8)], [0, 4]],
  ['replaces the states after the start', [at(0, 'healthy', 100), at(6, 'degraded', 70), at(9, 'critical', 8)], [0, 4]],
  ['keeps the states after the opening', [at(9, 'critical', 8), at(12, 'degraded', 70)], [4, 12]],
  ['is degraded if the alerts name no service', [at(0, 'healthy', 100), at(9, 'degraded', 60)], [0, 4]],
  ['is unchanged if it is older', [at(2, 'critical', 8)], [2]],
  ['is unchanged if a person opened the incident of a healthy service', [at(0, 'healthy', 100)], [0]],
  ['is unchanged without data', [], []],
] as const) {
  test(`the state at the opening of an incident ${what}`, () => {
    const found = sinceStart(changes, { startedAt: 4 * MINUTE, createdAt: 9 * MINUTE })
    assert.deepEqual(
      found.map((one) => one.at / MINUTE),
      expected,
    )
  })
}

for (const [changes, text] of [
  [[], 'no data'],
  [[at(-5, 'unknown', 100)], 'no data'],
  [[at(-5, 'healthy', 100)], 'healthy for the whole period'],
  [[at(-5, 'degraded', 70), at(31, 'critical', 8), at(40, 'healthy', 100)], 'critical for 9 min, degraded for 31 min'],
  [[at(30, 'healthy', 100)], 'unknown for 30 min'],
] as const) {
  test(`${changes.length} changes are described as “${text}”`, () =>
    assert.equal(stripText(changes, 0, 60 * MINUTE), text))
}

for (const [critical, degraded, recovering, unknown, healthy, names, lead, rest] of [
  [1, 3, 0, 0, 12, ['checkout'], '1 service is critical: checkout.', '3 are degraded, 12 are healthy.'],
  [2, 8, 0, 2, 500, ['a', 'b'], '2 services are critical: a and b.', '8 are degraded, 2 are unknown, 500 are healthy.'],
  [9, 0, 0, 0, 1, Array(9).fill('x'), '9 services are critical.', '1 is healthy.'],
  [0, 1, 0, 0, 0, [], '1 service is degraded: d.', ''],
  [1, 2, 39, 0, 5, ['a'], '1 service is critical: a.', '2 are degraded, 39 are recovering, 5 are healthy.'],
  [0, 0, 39, 0, 5, [], '39 services are recovering.', '5 are healthy.'],
  [0, 0, 1, 0, 0, [], '1 service is recovering: r.', ''],
  [0, 0, 0, 1, 4, [], 'The status of 1 service is unknown: the sender is silent.', '4 are healthy.'],
  [0, 0, 0, 0, 16, [], 'All 16 services are healthy.', ''],
  [0, 0, 0, 0, 1, [], 'The only service is healthy.', ''],
  [0, 0, 0, 0, 0, [], 'There are no services yet.', ''],
] as const) {
  test(`${critical} critical of ${critical + degraded + recovering + unknown + healthy}: ${lead} ${rest}`, () => {
    const counts = { critical, degraded, recovering, unknown, healthy }
    const shown = (state: string) => (state === 'critical' ? names : Array(5).fill(state[0]))
    const headline = headlineOf({ counts, names: (state) => shown(state).slice(0, counts[state]), unresolved: 0 })
    assert.deepEqual([headline.lead, headline.rest], [lead, rest])
  })
}

test('a name of 253 characters is shortened in the headline', () => {
  const counts = { critical: 1, degraded: 0, recovering: 0, unknown: 0, healthy: 0 }
  const { lead } = headlineOf({ counts, names: () => ['x'.repeat(253)], unresolved: 0 })
  assert.equal(lead, `1 service is critical: ${'x'.repeat(62)}….`)
})
