/** Retention: which records have expired, what a kept incident references, and when deletion needs confirmation. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_SETTINGS } from '../../src/domain/organization.ts'
import {
  type AgedIncident,
  cutoffsAt,
  type IncidentReferences,
  isEventDue,
  isIncidentDue,
  isTooMuch,
  referencesAlert,
  referencesEvent,
  referencesPipeline,
} from '../../src/domain/retention.ts'

const cutoffs = { now: 1000, events: 900, alerts: 500, incidents: 150 }

test('by default events are kept for 30 days, alerts for 400, and postmortems for 730', () => {
  const day = 86_400_000
  const found = cutoffsAt(DEFAULT_SETTINGS, 0)
  assert.deepEqual(found, { now: 0, events: -30 * day, alerts: -400 * day, incidents: -730 * day })
})

for (const [days, cutoff] of [
  [0, Number.NEGATIVE_INFINITY],
  [1, -400 * 86_400_000],
  [3650, -3650 * 86_400_000],
] as const) {
  test(`with retention-incidents-days ${days}, a postmortem is kept as long as its alerts or longer`, () =>
    assert.equal(cutoffsAt({ ...DEFAULT_SETTINGS, 'retention-incidents-days': days }, 0).incidents, cutoff))
}

for (const [at, receivedAt, due] of [
  [900, 900, true],
  [900, 901, false],
  [901, 900, false],
  [0, 1000, false],
] as const) {
  test(`an event of ${at}, received at ${receivedAt}, has ${due ? '' : 'not '}expired at 900`, () =>
    assert.equal(isEventDue({ at, receivedAt }, cutoffs), due))
}

const old: AgedIncident = {
  ...{ status: 'resolved', createdAt: 100, startedAt: 90, resolvedAt: 200, touchedAt: null, hasPostmortem: false },
  hasLiveAlert: false,
}
for (const [what, change, due] of [
  ['old and resolved', {}, true],
  ['not resolved', { status: 'monitoring', resolvedAt: null }, false],
  ['with a postmortem', { hasPostmortem: true }, false],
  ['with an older postmortem', { hasPostmortem: true, resolvedAt: 150 }, true],
  ['whose alert still fires', { hasLiveAlert: true }, false],
  ['touched lately', { touchedAt: 501 }, false],
  ['resolved lately', { resolvedAt: 501 }, false],
  ['resolved at the limit', { resolvedAt: 500 }, true],
] as const) {
  test(`an incident ${what} has ${due ? '' : 'not '}expired`, () =>
    assert.equal(isIncidentDue({ ...old, ...change }, cutoffs), due))
}

const reach: IncidentReferences = {
  ...{ from: 100, to: 200, changesFrom: 50, troublesFrom: 120, scalingsFrom: 60, alertsFrom: 0 },
  services: new Map([[7, { eventsTo: 150, scalingsFrom: 55 }]]),
}
for (const [what, event, reached] of [
  ['trouble of the cluster', { at: 120, kind: 'firing' }, true],
  ['trouble before the newest that are read', { at: 119, kind: 'firing' }, false],
  ['a scaling before it', { at: 60, kind: 'change' }, true],
  ['a scaling of its service', { at: 55, kind: 'change', serviceId: 7 }, true],
  ['a scaling long before it', { at: 49, kind: 'change', serviceId: 7 }, false],
  ['what came later', { at: 201, kind: 'firing' }, false],
  ['routine of its service', { at: 100, kind: 'info', serviceId: 7 }, true],
  ['routine behind the earliest that are read', { at: 151, kind: 'info', serviceId: 7 }, false],
  ['routine of another service', { at: 130, kind: 'info', serviceId: 8 }, false],
  ['a repeat of Alertmanager for its service', { at: 130, kind: 'firing', source: 'metrics', serviceId: 7 }, true],
  ['a repeat of Alertmanager for another', { at: 130, kind: 'firing', source: 'metrics' }, false],
  ['an end of its service', { at: 130, kind: 'resolved', serviceId: 7 }, true],
  ['an end of another service', { at: 130, kind: 'resolved', serviceId: 8 }, false],
  ['the start of a kubelet', { at: 100, kind: 'info', name: 'Starting' }, true],
  ['the start of a kubelet long before', { at: 99, kind: 'info', name: 'Starting' }, false],
] as const) {
  test(`a kept incident ${reached ? 'reaches' : 'does not reach'} ${what}`, () =>
    assert.equal(referencesEvent({ source: 'cluster', name: 'BackOff', serviceId: null, ...event }, reach), reached))
}

test('a kept incident references alerts that last into it, and pipelines from the day before', () => {
  const alerts = [
    { startsAt: 10, lastSeenAt: 100 },
    { startsAt: 10, lastSeenAt: 99 },
    { startsAt: 201, lastSeenAt: 300 },
  ]
  assert.deepEqual(
    alerts.map((alert) => referencesAlert(alert, reach)),
    [true, false, false],
  )
  assert.deepEqual(
    [49, 50, 200, 201].map((startsAt) => referencesPipeline({ startsAt }, reach)),
    [false, true, true, false],
  )
})

test('deleting half needs no confirmation, deleting more does', () => {
  const shares = [
    { due: 5, total: 10 },
    { due: 6, total: 10 },
    { due: 0, total: 0 },
  ]
  assert.deepEqual(shares.map(isTooMuch), [false, true, false])
})
