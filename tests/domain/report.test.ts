/** Reliability: which incidents are included, what is undefined, and what recurs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ReportedIncident, reliability } from '../../src/domain/report/report.ts'

const NOON = Date.UTC(2026, 2, 14, 12)
const MINUTE = 60_000
const DAY = 1440 * MINUTE
const CART = { uuid: 'c', namespace: 'shop', name: 'cart' }
const SEARCH = { uuid: 's', namespace: 'shop', name: 'search' }

/** Returns an incident that started at `NOON`, opened after 2 minutes, was acknowledged after 5 and ended after 30. */
function incident(more: Partial<ReportedIncident> = {}): ReportedIncident {
  return {
    uuid: 'i',
    service: CART,
    severity: 'critical',
    origin: 'automatic',
    startedAt: NOON,
    firstAlertAt: NOON,
    createdAt: NOON + 2 * MINUTE,
    acknowledgedAt: NOON + 7 * MINUTE,
    resolvedAt: NOON + 30 * MINUTE,
    conditions: ['cluster OOMKilled'],
    ...more,
  }
}

const DURATIONS: readonly (readonly [string, Partial<ReportedIncident>, (number | null)[]])[] = [
  ['all known', {}, [120, 300, 1800]],
  ['never acknowledged', { acknowledgedAt: null }, [120, null, 1800]],
  ['not resolved', { resolvedAt: null }, [120, 300, null]],
  [
    'by hand, without evidence',
    { origin: 'manual', startedAt: NOON + 2 * MINUTE, firstAlertAt: null },
    [null, 300, 1680],
  ],
  [
    'by hand, evidence later',
    { origin: 'manual', startedAt: NOON + 2 * MINUTE, firstAlertAt: NOON + 9 * MINUTE },
    [null, 300, 1680],
  ],
  ['opened with its first alert', { startedAt: NOON + 2 * MINUTE, firstAlertAt: NOON + 2 * MINUTE }, [0, 300, 1680]],
  ['opened long after its first alert, which became critical then', { startedAt: NOON + 2 * MINUTE }, [0, 300, 1680]],
  ['acknowledged before its opening', { acknowledgedAt: NOON }, [120, null, 1800]],
  ['over before it began', { resolvedAt: NOON - 1 }, [120, 300, null]],
  ['resolved after the clock was set back', { resolvedAt: NOON - DAY }, [null, null, null]],
  ['over before a report of it arrived', { startedAt: NOON - DAY, resolvedAt: NOON - DAY }, [86520, 300, 0]],
]

for (const [name, more, [mttd, mtta, mttr]] of DURATIONS) {
  test(`reliability: ${name}`, () => {
    const { organization } = reliability([incident(more)], NOON, NOON + DAY)
    assert.deepEqual([organization.mttd.mean, organization.mtta.mean, organization.mttr.mean], [mttd, mtta, mttr])
  })
}

test('reliability: without incidents there are no figures instead of zeros', () => {
  const { organization, services } = reliability([], NOON, NOON + DAY)
  assert.deepEqual(organization.mttr, { mean: null, median: null, of: 0 })
  assert.deepEqual([organization.incidents, services], [0, []])
})

test('reliability: one very long incident affects the mean but not the median', () => {
  const long = [10, 20, 30, 1000].map((minutes) => incident({ resolvedAt: NOON + minutes * MINUTE }))
  assert.deepEqual(reliability(long, NOON, NOON + DAY).organization.mttr, { mean: 15_900, median: 1500, of: 4 })
})

test('reliability: incidents opened outside the period are not counted', () => {
  const at = (createdAt: number) => incident({ createdAt })
  const { organization } = reliability([at(NOON - 1), at(NOON), at(NOON + DAY)], NOON, NOON + DAY)
  assert.equal(organization.incidents, 1)
})

test('reliability: services are evaluated separately, the worst first', () => {
  const { organization, services } = reliability(
    [incident(), incident({ service: SEARCH, severity: 'error' }), incident({ service: SEARCH })],
    NOON,
    NOON + DAY,
  )
  assert.deepEqual(
    services.map(({ service, incidents }) => [service.name, incidents]),
    [
      ['search', 2],
      ['cart', 1],
    ],
  )
  assert.deepEqual(organization.bySeverity, { critical: 2, error: 1, warning: 0, info: 0 })
})

for (const [name, before, count] of [
  ['the same condition 30 days before', { createdAt: NOON + 2 * MINUTE - 30 * DAY }, 1],
  ['the same condition 31 days before', { createdAt: NOON + 2 * MINUTE - 31 * DAY }, 0],
  ['another condition', { createdAt: NOON - DAY, conditions: ['metrics Other'] }, 0],
  ['another service', { createdAt: NOON - DAY, service: SEARCH }, 0],
  ['the same time', {}, 0],
] as readonly (readonly [string, Partial<ReportedIncident>, number])[]) {
  test(`reliability: ${name} ${count === 1 ? 'recurs' : 'is no recurrence'}`, () => {
    assert.equal(reliability([incident(), incident(before)], NOON, NOON + DAY).organization.recurrences, count)
  })
}

for (const [name, minutes, first] of [
  ['a long incident is worse than two short ones', [10, 10, 60], 'search'],
  ['two incidents are worse than a shorter one', [40, 40, 60], 'cart'],
  ['an incident that goes on lasts until now', [10, 10, null], 'search'],
] as const) {
  test(`reliability: ${name}`, () => {
    const incidents = minutes.map((length, index) => {
      const resolvedAt = length === null ? null : NOON + length * MINUTE
      return incident({ resolvedAt, service: index === 2 ? SEARCH : CART })
    })
    assert.equal(reliability(incidents, NOON, NOON + DAY).services[0]?.service.name, first)
  })
}

test('reliability: a problem that came back before the resolution recurred', () => {
  const { organization } = reliability([incident({ cameBack: true }), incident({ cameBack: false })], NOON, NOON + DAY)
  assert.equal(organization.recurrences, 1)
})

test('reliability: durations are never negative, and the order does not matter', () => {
  const time = fc.integer({ min: NOON, max: NOON + DAY })
  const drawn = fc.record({
    startedAt: time,
    createdAt: time,
    acknowledgedAt: fc.option(time),
    resolvedAt: fc.option(time),
    firstAlertAt: fc.option(time),
  })
  const property = fc.property(fc.array(drawn, { maxLength: 5 }), (all) => {
    const incidents = all.map(incident)
    const report = reliability(incidents, NOON, NOON + DAY)
    for (const { mean, median } of [report.organization.mttd, report.organization.mtta, report.organization.mttr]) {
      assert.ok((mean === null) === (median === null) && (mean ?? 0) >= 0 && (median ?? 0) >= 0)
    }
    assert.deepEqual(reliability(incidents.toReversed(), NOON, NOON + DAY), report)
  })
  fc.assert(property, { numRuns: 100 })
})

test('reliability: every figure has a definition if it needs one', () => {
  const { definitions } = reliability([], NOON, NOON + DAY)
  assert.deepEqual(Object.keys(definitions).sort(), ['incidents', 'mtta', 'mttd', 'mttr', 'recurrences'])
})
