/** Similar alerts: evaluating a few of them gives the same result as evaluating all. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { withoutAlike } from '../../src/domain/health/alike.ts'
import { healthOf } from '../../src/domain/health/health.ts'
import { explainedByNodes } from '../../src/domain/health/node-trouble.ts'
import { decide } from '../../src/domain/incident/incident.ts'
import type { SituationAlert } from '../../src/domain/incident/situation.ts'
import { SEVERITIES } from '../../src/domain/severity.ts'
import { crashing, incident, MINUTE, NOON, situation, situationAlert } from '../helpers/signals.ts'

type OnNode = SituationAlert & { readonly node: string | null }

const one = (more: Partial<OnNode> = {}): OnNode => ({ ...situationAlert(more), node: null, ...more })
const event = (more: Partial<OnNode> = {}) => one({ ...crashing(more), ...more })
const uuidsOf = (alerts: readonly OnNode[], nodes: readonly string[] = []) =>
  withoutAlike(alerts, new Set(nodes)).map(({ uuid }) => uuid)
const crowd = Array.from({ length: 10_000 }, (_, n) => one({ uuid: `u${n}`, startsAt: NOON - n, lastSeenAt: NOON }))

describe('of similar alerts', () => {
  test('the earliest is kept of 10,000', () => assert.deepEqual(uuidsOf(crowd), ['u9999']))
  test('at most three are kept next to an event, because it agrees with some of them', () => {
    const old = crowd.map((alert, n) => ({ ...alert, startsAt: NOON - n * MINUTE, lastSeenAt: NOON - n * MINUTE }))
    assert.deepEqual(uuidsOf([event(), ...old]), ['crash', 'u30', 'u9999'])
  })
  test('the first UUID is kept if starts are equal', () =>
    assert.deepEqual(uuidsOf([one({ uuid: 'b' }), one({ uuid: 'a' }), one({ uuid: 'c' })]), ['a']))
})

describe('of many names', () => {
  const names = crowd.map((alert, n) => ({ ...alert, name: `Alert${n}` }))
  test('the earliest 100 are kept', () =>
    assert.deepEqual(
      uuidsOf(names),
      crowd.slice(-100).map(({ uuid }) => uuid),
    ))
  test('100 or fewer are all kept', () => assert.equal(uuidsOf(names.slice(0, 100)).length, 100))
  test('one more is kept if it has the first name among equal starts', () => {
    const equal = names.map((alert, n) => ({ ...alert, startsAt: NOON, name: n === 9_000 ? 'Aaa' : alert.name }))
    const uuids = uuidsOf(equal)
    assert.deepEqual([uuids.length, uuids.includes('u9000')], [101, true])
  })
  test('100 are kept that agree with an event, and 100 that do not', () => {
    const failing = crowd
      .slice(0, 300)
      .map((alert, n) => ({ ...alert, uuid: `f${n}`, name: `KubePodCrashLooping${n}` }))
    assert.equal(uuidsOf([event(), ...names.slice(0, 300), ...failing]).length, 201)
  })
  test('a cordoned node is kept', () => {
    const cordon = one({ uuid: 'cordon', name: 'NodeNotSchedulable', startsAt: NOON + MINUTE })
    assert.ok(uuidsOf([...names, cordon]).includes('cordon'))
  })
})

describe('alerts are all kept', () => {
  const cases: readonly (readonly [string, Partial<OnNode>, Partial<OnNode>])[] = [
    ['of different names', {}, { name: 'Other' }],
    ['of different severities', {}, { severity: 'critical' }],
    ['of different sources', {}, { source: 'dashboard' }],
    ['of different failures', {}, { failure: 'image' }],
    ['that ended', { status: 'resolved', endsAt: NOON }, { status: 'resolved', endsAt: NOON }],
    ['on a node with problems', { node: 'worker-1' }, { node: 'worker-1' }],
    ['if only one of them lasts', {}, { lastSeenAt: NOON + 15 * MINUTE }],
    ['if only one of them names its node', {}, { node: 'worker-2' }],
    ['from Kubernetes events', { source: 'cluster' }, { source: 'cluster' }],
  ]
  for (const [title, a, b] of cases)
    test(title, () => {
      assert.deepEqual(uuidsOf([one({ uuid: 'a', ...a }), one({ uuid: 'b', ...b })], ['worker-1']), ['a', 'b'])
    })
})

const someTime = fc.integer({ min: -50, max: 50 }).map((n) => NOON + (n * MINUTE) / 2)
const someAlert = fc
  .record({
    uuid: fc.uuid(),
    source: fc.constantFrom('metrics', 'metrics', 'dashboard', 'cluster', 'ci'),
    name: fc.constantFrom('KubePodCrashLooping', 'BackOff (restarting)', 'NodeNotReady (pod)', 'NodeNotSchedulable'),
    severity: fc.constantFrom(...SEVERITIES),
    failure: fc.constantFrom('crash', 'other', null),
    startsAt: someTime,
    lastSeenAt: someTime,
    node: fc.constantFrom(null, null, 'worker-1', 'worker-2'),
    endsAt: fc.option(someTime, { freq: 1 }),
    inIncident: fc.boolean(),
  })
  .map((found) => one({ ...found, status: found.endsAt === null ? 'firing' : 'resolved' } as Partial<OnNode>))
const someAlerts = fc.uniqueArray(someAlert, { maxLength: 30, selector: ({ uuid }) => uuid })

/** Returns what `evaluate` finds in these alerts if all of them are candidates. */
function verdictOf(alerts: readonly OnNode[], candidates: readonly OnNode[], isOpen: boolean) {
  const explained = explainedByNodes(alerts, [{ node: 'worker-1', startsAt: NOON, endsAt: null }], { now: NOON })
  const { critical, ...health } = healthOf(alerts, NOON)
  const current = isOpen ? incident() : null
  // The problem lists the names of all conditions, of which the reduced alerts contain only some.
  const { problem: _, steps, ...decision } = decide(situation(alerts, { candidates, current, explained }))
  const deeds = steps.map((step) => (step.do === 'worsen' ? step.do : { ...step, problem: null }))
  const causes = new Set(critical.flatMap(({ alertId }) => (explained.has(alertId) ? [] : [alertId])))
  const starts = alerts.filter(({ uuid }) => causes.has(uuid)).map(({ startsAt }) => startsAt)
  return {
    health,
    decision: { ...decision, steps: deeds },
    isExplained: critical.length > causes.size,
    first: Math.min(...starts),
  }
}

test('health, incidents and the first cause are the same without similar alerts', () =>
  fc.assert(
    fc.property(someAlerts, fc.boolean(), (all, isOpen) => {
      const reduced = withoutAlike(all, new Set(['worker-1']))
      assert.deepEqual(verdictOf(reduced, all, isOpen), verdictOf(all, all, isOpen))
    }),
    { numRuns: 3000 },
  ))

const ownName = fc
  .record({
    uuid: fc.uuid(),
    severity: fc.constantFrom('error', 'warning'),
    startsAt: someTime,
    n: fc.nat({ max: 350 }),
  })
  .map(({ n, ...found }) => one({ ...found, lastSeenAt: found.startsAt, name: `Alert${n}`, failure: null }))
test('health and the first cause are the same with hundreds of names', () =>
  fc.assert(
    fc.property(fc.array(ownName, { minLength: 500, maxLength: 500 }), someAlerts, (many, some) => {
      const unique = [...new Map([...some, ...many].map((alert) => [alert.uuid, alert])).values()]
      const reduced = withoutAlike(unique, new Set(['worker-1']))
      if (some.length === 0) assert.ok(reduced.length <= 202)
      assert.deepEqual(verdictOf(reduced, unique, false), verdictOf(unique, unique, false))
    }),
    { numRuns: 40 },
  ))

test('a service has at most 100 penalties, which lower the score as much as all of them would', () => {
  const names = crowd.slice(0, 500).map((alert, n) => ({ ...alert, name: `Alert${n}`, severity: 'error' as const }))
  const { score, penalties } = healthOf(names, NOON)
  assert.deepEqual([score, penalties.length], [0, 100])
})
