/** Incidents: which ones open, change and end automatically. No rule overrides a person's decision. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { healthOf } from '../../src/domain/health/health.ts'
import {
  type CurrentIncident,
  decide,
  type Situation,
  type SituationAlert,
} from '../../src/domain/incident/incident.ts'
import { DAY, HOUR, incident, MINUTE, NOON, situation, situationAlert } from '../helpers/signals.ts'

const at = (minutes: number) => NOON + minutes * MINUTE
const HELP = {
  seen: [[NOON, 'cart-a', NOON, 1]],
  recovered: [],
  gone: [],
  rollouts: [],
  helped: [[NOON, 'cart-a']],
} as const

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
    ['at once, when event and alert agree', [events({ severity: 'error' }), looping], 0],
    ['when a crash loop has lasted a minute, though it was seen once', [events()], 1],
    ['when a node has been down for a minute', [nodeDown], 1],
    [
      'when a Job has failed for a minute, since nothing repeats it',
      [events({ name: 'BackoffLimitExceeded', failure: 'job' })],
      1,
    ],
    ['when a pod has waited 15 minutes for the node that the autoscaler adds', [pendingPod({ evidence: HELP })], 15],
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
    assert.deepEqual(decide(situation(alerts)).steps, [
      { do: 'open', title: 'cart: Down', startedAt: at(-5), alertIds: ['outage', 'b', 'loop'] },
    ])
  })

  test('by reopening the last one, within 30 minutes of its end', () => {
    assert.deepEqual(steps([outage()], 30, { lastResolvedAt: NOON }), ['reopen'])
    assert.deepEqual(steps([outage()], 30.01, { lastResolvedAt: NOON }), ['open'])
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
    ['for unattributed', [outage()], { health: healthOf([outage()], NOON, { neverCritical: true }) }],
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
    assert.deepEqual(steps, [{ do: 'open', title: 'cart: Down', startedAt: NOON, alertIds: ['outage', 'b'] }])
    assert.equal(afterwards, false)
  })

  test('is effective although a failed node explains the alerts for a while', () => {
    const explained = new Set(['outage'])
    assert.equal(decide(situation([known], { suppressed, explained })).suppressed, true)
  })

  test('is effective until they have ended once; the next problem opens an incident', () => {
    const cleared = decide(situation([], { suppressed })).suppressed
    assert.equal(cleared, false)
    assert.deepEqual(steps([outage()], 40, { suppressed: cleared, lastResolvedAt: NOON }), ['open'])
  })

  test('is not revoked when health returns from monitoring', () => {
    const current = incident({ status: 'monitoring' })
    assert.deepEqual(steps([outage({ inIncident: true })], 0, { suppressed, current }), [])
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

describe('an open incident', () => {
  const told = outage({ inIncident: true })
  const watched = incident({ status: 'monitoring' })
  /** Returns the steps for a healthy service, some minutes after it recovered at noon. */
  const healthy = (minute: number, current: CurrentIncident, more: Partial<Situation> = {}) =>
    steps([], minute, { healthySince: NOON, current, ...more })
  const DAY_LATER = 30 + 24 * 60

  test('changes to monitoring after 30 healthy minutes', () => {
    assert.deepEqual(
      [29.9, 30].map((minute) => healthy(minute, incident())),
      [[], ['move']],
    )
  })

  test('changes to monitoring only once', () => assert.deepEqual(healthy(31, watched), []))

  test('does not change to monitoring while the service is degraded', () =>
    assert.deepEqual(steps([looping], 600, { current: incident() }), ['join']))

  for (const [acknowledged, to] of [
    [true, 'investigating'],
    [false, 'open'],
  ] as const) {
    test(`returns to ${to} when the service is critical again`, () => {
      const { steps } = decide(
        situation([told], { current: { ...watched, acknowledgedAt: acknowledged ? NOON : null } }),
      )
      assert.deepEqual(steps, [{ do: 'move', to, text: 'the service became critical again' }])
    })
  }

  test('stays in monitoring while the service is degraded', () =>
    assert.deepEqual(steps([{ ...looping, inIncident: true }], 0, { current: watched }), []))

  test('is resolved 24 hours later, as of the time of recovery', () => {
    assert.deepEqual(healthy(DAY_LATER - 1, watched), [])
    const { steps } = decide(situation([], { now: at(DAY_LATER), healthySince: NOON, current: watched }))
    assert.deepEqual(steps, [{ do: 'resolve', at: NOON, text: 'healthy for 24 hours with no changes to the incident' }])
  })

  test('waits 24 hours after the last action by a person', () => {
    const touched = incident({ status: 'monitoring', touchedAt: NOON + 5 * HOUR })
    assert.deepEqual(
      [29 * 60 - 1, 29 * 60].map((minute) => healthy(minute, touched)),
      [[], ['resolve']],
    )
  })

  test('changes to monitoring and is resolved immediately after incmon was down for long', () =>
    assert.deepEqual(healthy(DAY_LATER, incident()), ['move', 'resolve']))

  test('is never resolved automatically if the setting is off', () =>
    assert.deepEqual(healthy(99 * 1440, watched, { resolves: false }), []))

  test('never changes automatically if a person opened it', () => {
    const manual = incident({ origin: 'manual', status: 'monitoring' })
    assert.deepEqual([healthy(99 * 1440, manual), steps([told], 0, { current: manual })], [[], []])
  })
})

describe('the next time that changes an incident is', () => {
  const due = (alerts: readonly SituationAlert[], more: Partial<Situation> = {}) =>
    decide(situation(alerts, more)).changesAt
  const healthy = { healthySince: NOON, current: incident() }

  test('never without a problem', () => assert.equal(due([]), null))
  test('never for an event that is not repeated', () => assert.equal(due([events({ name: 'OOMKilled' })]), null))
  test('when a lone condition has lasted a minute', () => assert.equal(due([nodeDown]), at(1)))
  test('when a cordon has lasted 15 minutes', () => assert.equal(due([nodeDown, cordon]), at(15)))
  test('when health has lasted 30 minutes', () => assert.equal(due([], healthy), at(30)))
  test('a day after that', () => assert.equal(due([], { ...healthy, now: at(31) }), at(30) + DAY))
  test('immediately after the end of an incident, because the service might have another one', () =>
    assert.equal(due([], { ...healthy, now: at(30) + DAY }), at(30) + DAY))
  test('never if the setting is off', () => assert.equal(due([], { ...healthy, now: at(31), resolves: false }), null))
})
