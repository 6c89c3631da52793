/** Health: the penalty of each alert, combinations of alerts, and changes over time. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { NO_EVIDENCE } from '../../src/domain/alert/evidence.ts'
import { type HealthCondition, healthOf } from '../../src/domain/health/health.ts'
import { reasonText } from '../../src/domain/health/penalty-text.ts'
import { SEVERITIES } from '../../src/domain/severity.ts'
import { condition, crashing, HOUR, MINUTE, NOON } from '../helpers/signals.ts'

const RUNS = { numRuns: 1000 }
const at = (minutes: number) => NOON + minutes * MINUTE
const ended = (endsAt: number, more: Partial<HealthCondition> = {}) =>
  condition({ status: 'resolved', severity: 'critical', endsAt, ...more })
const history = (more: Partial<HealthCondition> = {}) =>
  ended(at(0), { lastSeenAt: at(0), resolution: 'reported', ...more })
const lasting = (minutes: number, more: Partial<HealthCondition> = {}) =>
  condition({ lastSeenAt: at(minutes), ...more })
const loop = condition({ uuid: 'loop', name: 'KubePodCrashLooping', failure: 'crash' })
const names = (count: number, more: Partial<HealthCondition>) =>
  Array.from({ length: count }, (_, i) => condition({ uuid: `u${i}`, name: `Alert${i}`, ...more }))

describe('the score and status of a service', () => {
  const cases: readonly (readonly [string, readonly HealthCondition[], number, number, string])[] = [
    ['without alerts', [], 0, 100, 'healthy'],
    ['a critical costs 40', [condition({ severity: 'critical' })], 0, 60, 'critical'],
    ['an error costs 25', [condition({ severity: 'error' })], 0, 75, 'degraded'],
    ['a warning costs 12', [condition()], 0, 88, 'degraded'],
    ['an info costs nothing', [condition({ severity: 'info' })], 0, 100, 'healthy'],
    ['two conditions cost both', names(2, { severity: 'error' }), 0, 50, 'degraded'],
    [
      '200 pods are one condition',
      Array.from({ length: 200 }, (_, i) => condition({ uuid: `u${i}` })),
      0,
      88,
      'degraded',
    ],
    ['its heaviest pod counts', [condition(), condition({ uuid: 'b', severity: 'error' })], 0, 75, 'degraded'],
    [
      'the same name of two sources is two conditions',
      [condition(), condition({ uuid: 'b', source: 'dashboard' })],
      0,
      76,
      'degraded',
    ],
    ['three errors are critical by the score', names(3, { severity: 'error' }), 0, 25, 'critical'],
    ['ten criticals cost no more than all', names(10, { severity: 'critical' }), 0, 0, 'critical'],
    [
      'a score under 40 is critical while a warning fires',
      [...names(1, { severity: 'error' }), ...names(4, {}).slice(1), condition({ severity: 'info' })],
      0,
      39,
      'critical',
    ],
    ['a fresh end costs all', [ended(at(0))], 0, 60, 'degraded'],
    ['after 15 minutes half', [ended(at(0))], 15, 80, 'healthy'],
    ['after 30 minutes nothing', [ended(at(0))], 30, 100, 'healthy'],
    ['an end in the future costs no more', [ended(at(60))], 0, 60, 'degraded'],
    ['an end that was reported before any firing costs nothing', [history()], 0, 100, 'healthy'],
    ['nor does one of Grafana', [history({ source: 'dashboard' })], 0, 100, 'healthy'],
    ['an end that was inferred from silence costs all', [history({ resolution: 'inferred' })], 0, 60, 'degraded'],
    ['a pipeline that ended when it was last seen does, too', [history({ source: 'ci' })], 0, 60, 'degraded'],
    [
      'decay alone is never critical',
      names(4, { status: 'resolved', severity: 'critical', endsAt: NOON }),
      0,
      0,
      'degraded',
    ],
    [
      'nor with an info that fires',
      [...names(4, { status: 'resolved', severity: 'critical', endsAt: NOON }), condition({ severity: 'info' })],
      0,
      0,
      'degraded',
    ],
    ['a warning for 14 minutes stays one', [lasting(14)], 20, 88, 'degraded'],
    ['a warning seen for 15 minutes is an error', [lasting(15)], 15, 75, 'degraded'],
    ['and never more', [lasting(60 * 24 * 7)], 60 * 24 * 7, 75, 'degraded'],
    ['an error does not grow with time', [lasting(600, { severity: 'error' })], 600, 75, 'degraded'],
    ['an info does not either', [lasting(600, { severity: 'info' })], 600, 100, 'healthy'],
    ['a warning once seen does not grow by waiting', [condition()], 600, 88, 'degraded'],
  ]
  for (const [title, alerts, minute, score, status] of cases) {
    test(title, () => {
      const health = healthOf(alerts, at(minute))
      assert.deepEqual([health.score, health.status], [score, status])
    })
  }
})

describe('an event and an alert of one service', () => {
  const both = {
    score: 20,
    critical: [
      { alertId: 'crash', by: 'agreement', rule: { code: 'agreement' } },
      { alertId: 'loop', by: 'agreement', rule: { code: 'agreement' } },
    ],
  }
  test('that agree are critical together', () => {
    const { score, critical } = healthOf([loop, crashing()], NOON)
    assert.deepEqual({ score, critical }, both)
  })

  const cases: readonly (readonly [string, readonly HealthCondition[]])[] = [
    ['of another failure', [{ ...loop, name: 'KubeJobFailed', failure: 'job' }, crashing()]],
    ['of which the event is a warning only', [loop, crashing({ severity: 'warning' })]],
    ['of which the alert is info', [{ ...loop, severity: 'info' }, crashing()]],
    ['of which the alert has ended', [{ ...loop, status: 'resolved', endsAt: NOON }, crashing()]],
    ['of which the event has ended', [loop, crashing({ status: 'resolved', endsAt: NOON })]],
    ['of which the alert only misses its data', [{ ...loop, source: 'dashboard', failure: null }, crashing()]],
    ['of which the alert is a pipeline’s', [{ ...loop, source: 'ci' }, crashing()]],
    ['that are two events', [crashing(), crashing({ uuid: 'b', name: 'Other' })]],
  ]
  for (const [title, alerts] of cases) {
    test(`do not agree: ${title}`, () => assert.deepEqual(healthOf(alerts, NOON).critical, []))
  }

  test('agree if the sender gives its alert the severity error', () =>
    assert.equal(healthOf([condition({ severity: 'error' }), crashing()], NOON).status, 'critical'))
})

describe('an explanation', () => {
  test('lists each alert and rule, the most severe first', () => {
    const { penalties } = healthOf([condition({ uuid: 'w' }), crashing()], NOON)
    assert.deepEqual(penalties, [
      { alertId: 'crash', name: 'BackOff (restarting)', rule: { code: 'severity', severity: 'error' }, penalty: 25 },
      { alertId: 'w', name: 'HighLatency', rule: { code: 'severity', severity: 'warning' }, penalty: 12 },
    ])
    assert.deepEqual(penalties.map(reasonText), ['BackOff (restarting): error', 'HighLatency: warning'])
  })

  test('distinguishes critical alerts from critical events', () => {
    const alerts = [
      condition({ uuid: 'a', severity: 'critical', source: 'dashboard' }),
      crashing({ severity: 'critical', failure: 'job', startsAt: at(1) }),
    ]
    assert.deepEqual(healthOf([alerts[1]!], NOON).critical, [
      { alertId: 'crash', by: 'events', rule: { code: 'severity', severity: 'critical' } },
    ])
    assert.deepEqual(healthOf([alerts[0]!], NOON).critical, [
      { alertId: 'a', by: 'sender', rule: { code: 'severity', severity: 'critical' } },
    ])
  })

  test('of unattributed alerts is never critical, but names what its sender called critical', () => {
    const crash = crashing({ severity: 'critical', failure: 'job', startsAt: at(1) })
    assert.deepEqual(healthOf([crash], NOON, { trusts: 'sender' }).critical, [])
    const health = healthOf(names(10, { severity: 'critical' }), NOON, { trusts: 'sender' })
    assert.deepEqual([health.status, health.score, health.critical.length], ['degraded', 0, 10])
  })

  test('of CI jobs is never critical', () => {
    const health = healthOf(names(10, { severity: 'critical' }), NOON, { trusts: 'nothing' })
    assert.deepEqual([health.status, health.score, health.critical], ['degraded', 0, []])
  })

  test('counts all failures of the monitoring itself once, however long they last', () => {
    const rules = names(10, { severity: 'warning', failure: 'monitoring', startsAt: at(-60), lastSeenAt: NOON })
    assert.deepEqual([healthOf(rules, NOON).status, healthOf(rules, NOON).score], ['degraded', 88])
  })

  test('takes no failure of the monitoring as evidence for a crash', () => {
    const rule = condition({ uuid: 'r', name: 'KubePodCrashLooping', severity: 'warning', failure: 'monitoring' })
    assert.deepEqual(healthOf([crashing({ startsAt: at(0) }), rule], NOON).critical, [])
  })
})

describe('health over time', () => {
  const cases: readonly (readonly [string, readonly HealthCondition[], number | null])[] = [
    ['never, while all fires', [condition()], null],
    ['never, after an end of an info', [ended(NOON, { severity: 'info' })], null],
    ['never, after an end that was reported first', [history()], null],
    ['never, once an end weighs nothing', [ended(NOON - HOUR)], null],
    ['as a critical’s end loses half a point', [ended(NOON)], 22_501],
    ['as the first of several does', [ended(NOON), ended(NOON, { severity: 'warning' })], 22_501],
    ['as an end in the future begins to decay', [ended(at(60))], 60 * MINUTE + 22_501],
  ]
  for (const [title, alerts, wait] of cases) {
    test(title, () => assert.equal(healthOf(alerts, NOON).changesAt, wait === null ? null : NOON + wait))
  }
})

const someMinute = fc.integer({ min: -40 * MINUTE, max: 40 * MINUTE }).map((past) => NOON + past)
const someCondition: fc.Arbitrary<HealthCondition> = fc
  .record({
    uuid: fc.uuid(),
    source: fc.constantFrom('cluster', 'metrics', 'dashboard', 'ci'),
    name: fc.constantFrom('KubePodCrashLooping', 'BackOff (restarting)', 'HighLatency', 'KubeJobFailed'),
    severity: fc.constantFrom(...SEVERITIES),
    failure: fc.constantFrom('crash', 'job', 'other', null),
    startsAt: someMinute,
    lastSeenAt: someMinute,
    endsAt: fc.option(someMinute),
    resolution: fc.constantFrom('reported', 'inferred', 'expired', 'manual', null),
  })
  .map((one) => ({
    ...one,
    status: one.endsAt === null ? 'firing' : 'resolved',
    receivedAt: one.lastSeenAt,
    evidence: NO_EVIDENCE,
  }))
const someConditions = fc.uniqueArray(someCondition, { maxLength: 8, selector: ({ uuid }) => uuid })

describe('of every service', () => {
  test('the score is an integer from 0 to 100: 100 minus the penalties', () =>
    fc.assert(
      fc.property(someConditions, fc.constantFrom('all', 'sender', 'nothing'), (alerts, trusts) => {
        const { score, penalties } = healthOf(alerts, NOON, { trusts })
        assert.ok(Number.isInteger(score))
        assert.equal(score, Math.max(0, 100 - penalties.reduce((sum, { penalty }) => sum + penalty, 0)))
      }),
      RUNS,
    ))

  test('one more firing alert never raises the score', () =>
    fc.assert(
      fc.property(someConditions, someCondition, (alerts, more) => {
        const firing = { ...more, status: 'firing', endsAt: null } as const
        assert.ok(healthOf([...alerts, firing], NOON).score <= healthOf(alerts, NOON).score)
      }),
      RUNS,
    ))

  test('the order of the alerts does not matter', () =>
    fc.assert(
      fc.property(
        someConditions.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([a, b]) => assert.deepEqual(healthOf(a, NOON), healthOf(b, NOON)),
      ),
      RUNS,
    ))

  test('health changes at the predicted time and not before', () =>
    fc.assert(
      fc.property(someConditions, fc.double({ min: 0, max: 1, noNaN: true }), (alerts, share) => {
        const { changesAt, ...health } = healthOf(alerts, NOON)
        const last = changesAt === null ? NOON + 2 * HOUR : changesAt - 1
        assert.ok(last >= NOON)
        const { changesAt: _, ...between } = healthOf(alerts, NOON + Math.floor((last - NOON) * share))
        assert.deepEqual(between, health)
        assert.ok(changesAt === null || healthOf(alerts, changesAt).changesAt !== changesAt)
      }),
      RUNS,
    ))

  test('a critical status requires a firing alert', () =>
    fc.assert(
      fc.property(someConditions, (alerts) => {
        const firing = alerts.some(({ status, severity }) => status === 'firing' && severity !== 'info')
        assert.ok(firing || healthOf(alerts, NOON).status !== 'critical')
      }),
      RUNS,
    ))
})
