/** Incidents: which ones open, change and end automatically. No rule overrides a person's decision. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { healthOf } from '../../src/domain/health/health.ts'
import { decide } from '../../src/domain/incident/incident.ts'
import { NO_PROBLEM, type Problem } from '../../src/domain/incident/problem.ts'
import type { Situation, SituationAlert } from '../../src/domain/incident/situation.ts'
import { incident, MINUTE, NOON, situation, situationAlert } from '../helpers/signals.ts'

const at = (minutes: number) => NOON + minutes * MINUTE
const HELP = {
  seen: [[NOON, 'cart-a', NOON, 1]],
  recovered: [],
  gone: [],
  rollouts: [],
  helped: [[NOON, 'cart-a']],
} as const

/** A problem that recovered at noon. */
const OVER: Problem = { ...NO_PROBLEM, had: ['Down'], endedAt: NOON, knownAt: NOON, isOver: true }
const LAST = { problem: OVER, resolvedAt: null, origin: 'automatic', alertCount: 1 } as const

const outage = (more: Partial<SituationAlert> = {}) => situationAlert({ uuid: 'outage', severity: 'critical', ...more })
const events = (more: Partial<SituationAlert> = {}) =>
  situationAlert({
    uuid: 'e',
    source: 'cluster',
    name: 'CrashLoopBackOff',
    failure: 'crash',
    severity: 'critical',
    ...more,
  })
const looping = situationAlert({ uuid: 'loop', name: 'KubePodCrashLooping', failure: 'crash' })
const pendingPod = (more: Partial<SituationAlert> = {}) =>
  events({ name: 'FailedScheduling', failure: 'scheduling', ...more })
const nodeDown = events({ name: 'NodeNotReady', failure: 'node' })
const cordon = situationAlert({ uuid: 'cordon', source: 'cluster', name: 'NodeNotSchedulable', failure: 'node' })

/** Returns the steps taken at a minute past noon. */
function steps(alerts: readonly SituationAlert[], minute = 0, more: Partial<Situation> = {}): readonly string[] {
  return decide(situation(alerts, { now: at(minute), ...more })).steps.map((step) => step.do)
}

describe('an incident opens', () => {
  const cases: readonly (readonly [string, readonly SituationAlert[], number])[] = [
    ['at once, when a sender says critical', [outage()], 0],
    ['at once, though the sender lives an hour ahead', [outage({ startsAt: at(60) })], 0],
    ['at once, when an event and an alert agree', [events({ severity: 'error' }), looping], 0],
    ['when a crash loop has lasted a minute, though it was seen once', [events()], 1],
    ['when a node has been down for a minute', [nodeDown], 1],
    [
      'when a Job has failed for a minute, since nothing repeats it',
      [events({ name: 'BackoffLimitExceeded', failure: 'job' })],
      1,
    ],
    ['when a pod has waited 15 minutes for the node that the autoscaler adds', [pendingPod({ evidence: HELP })], 15],
    [
      'when a crash loop has lasted a minute, while another pod waits for a new node',
      [events(), pendingPod({ uuid: 'pending', evidence: HELP })],
      1,
    ],
    ['when a cordoned node has been down for 15 minutes', [nodeDown, cordon], 15],
  ]
  for (const [title, alerts, minute] of cases) {
    test(title, () => {
      assert.deepEqual(steps(alerts, minute), ['open'])
      if (minute > 0) assert.deepEqual(steps(alerts, minute - 0.01), [])
    })
  }

  test('with the oldest cause as its title and start, and all firing alerts', () => {
    const alerts = [
      outage(),
      outage({ uuid: 'b', name: 'Down', startsAt: at(-5) }),
      looping,
      outage({ uuid: 'i', severity: 'info' }),
    ]
    const [step, ...more] = decide(situation(alerts)).steps
    assert.ok(step?.do === 'open' && more.length === 0)
    assert.deepEqual([step.title, step.startedAt, step.alertIds], ['cart: Down', at(-5), ['outage', 'b', 'loop']])
  })

  test('with the first name as its title, if two causes began together, however they arrived', () => {
    for (const alerts of [
      [outage({ name: 'B' }), outage({ uuid: 'a', name: 'A' })],
      [outage({ name: 'A' }), outage({ uuid: 'a', name: 'B' })],
    ]) {
      const [step] = decide(situation(alerts)).steps
      assert.equal(step?.do === 'open' && step.title, 'cart: A')
    }
  })

  test('by bringing the last one back, within 30 minutes of its recovery', () => {
    assert.deepEqual(steps([outage()], 30, { last: LAST }), ['return'])
    assert.deepEqual(steps([outage()], 30.01, { last: LAST }), ['open'])
  })

  test('anew, if a user declared the last one, or merged its alerts into another', () => {
    assert.deepEqual(steps([outage()], 30, { last: { ...LAST, origin: 'manual' } }), ['open'])
    assert.deepEqual(steps([outage()], 30, { last: { ...LAST, alertCount: 0 } }), ['open'])
  })

  test('for an alert without a service, titled with its name and summary', () => {
    const nameless = outage({ name: 'EtcdDown', summary: 'etcd is down' })
    const [step] = decide(situation([nameless], { about: 'EtcdDown' })).steps
    assert.equal(step?.do === 'open' && step.title, 'EtcdDown: etcd is down')
  })
})

describe('no incident opens', () => {
  const errors = ['a', 'b', 'c', 'd'].map((name) => situationAlert({ uuid: name, name, severity: 'error' }))
  const pipeline = situationAlert({ uuid: 'ci', source: 'ci', name: 'PipelineFailed', lastSeenAt: at(600) })
  const cases: readonly (readonly [string, readonly SituationAlert[], Partial<Situation>])[] = [
    ['where nothing is wrong', [], {}],
    ['for a score alone', errors, {}],
    ['for a pipeline', [pipeline], {}],
    ['for a container that was killed once', [events({ name: 'OOMKilled', failure: 'memory' })], {}],
    ['for a crash loop of ten hours ago that nothing repeated', [events()], {}],
    ['for an alert that has ended', [outage({ status: 'resolved', endsAt: NOON })], {}],
    ['where the setting is off', [outage()], { opens: false }],
    ['for what a node in trouble accounts for', [outage()], { explained: new Set(['outage']) }],
    ['when a person resolved the incident of its alerts', [outage({ hasIncident: true })], { suppressed: true }],
    [
      'for an event or an agreement without a service',
      [looping, events({ severity: 'error' })],
      { critical: healthOf([looping, events({ severity: 'error' })], NOON, { trusts: 'sender' }).critical },
    ],
    ['for the pods of CI jobs', [outage()], { critical: healthOf([outage()], NOON, { trusts: 'nothing' }).critical }],
  ]
  for (const [title, alerts, more] of cases) test(title, () => assert.deepEqual(steps(alerts, 600, more), []))
})

describe('a manual resolve while alerts are firing', () => {
  const suppressed = true
  const known = outage({ hasIncident: true })
  test('is effective while they are firing', () =>
    assert.equal(decide(situation([known], { suppressed })).suppressed, true))

  test('does not keep another critical alert from opening an incident, which then covers all', () => {
    const { steps, suppressed: afterwards } = decide(
      situation([known, outage({ uuid: 'b', name: 'Down' })], { suppressed }),
    )
    const [step] = steps
    assert.ok(step?.do === 'open')
    assert.deepEqual([step.title, step.alertIds], ['cart: Down', ['outage', 'b']])
    assert.equal(afterwards, false)
  })

  test('is effective although a failed node explains the alerts for a while', () => {
    const explained = new Set(['outage'])
    assert.equal(decide(situation([known], { suppressed, explained })).suppressed, true)
  })

  test('is effective until they have ended once; the next problem opens an incident', () => {
    const cleared = decide(situation([], { suppressed })).suppressed
    assert.equal(cleared, false)
    assert.deepEqual(steps([outage()], 40, { suppressed: cleared, last: LAST }), ['open'])
  })
})

describe('alerts join', () => {
  const current = incident()
  const joined = (alerts: readonly SituationAlert[], more: Partial<Situation> = {}) =>
    decide(situation(alerts, { current, ...more })).steps.flatMap((step) => (step.do === 'join' ? step.alertIds : []))

  test('the oldest open incident instead of opening another', () =>
    assert.deepEqual(joined([outage(), looping]), ['outage', 'loop']))
  test('a manual one as well', () =>
    assert.deepEqual(joined([looping], { current: incident({ origin: 'manual' }) }), ['loop']))
  test('only once', () => assert.deepEqual(joined([outage({ inIncident: true })]), []))
  test('unless it is only info', () => assert.deepEqual(joined([outage({ severity: 'info' })]), []))
  test('unless it has ended', () => assert.deepEqual(joined([outage({ status: 'resolved', endsAt: NOON })]), []))
})
