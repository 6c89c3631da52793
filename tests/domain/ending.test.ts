/** How alerts end: recovery, rollout, missed repeats and expiry, and the time of the next check. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Alert, absorb, open, type Signal } from '../../src/domain/alert/alert.ts'
import { settle } from '../../src/domain/alert/ending.ts'
import { type ReceivedEvent, withReceivedEvents } from '../../src/domain/alert/late-events.ts'
import {
  alertOf,
  DAY,
  failedPipeline,
  info,
  MINUTE,
  NOON,
  opened,
  pending,
  rollout,
  SECOND,
  scheduled,
  sighted,
} from '../helpers/signals.ts'

const at = (minutes: number) => NOON + minutes * MINUTE
const SILENT = { delivery: null, metricsFiring: false, repeats: false }
const QUIET = { delivery: null, metricsFiring: false, repeats: true }
type Around = Parameters<typeof settle>[1]
/** A sender that reports no ends, or one that does and delivered something at minute `heard`. */
const delivered = (minutes: number, reportsEnds: boolean, heardAt: number): Around => {
  const delivery = { repeatTimeout: minutes * MINUTE, reportsEnds, heardAt }
  return { delivery, metricsFiring: false, repeats: true }
}
const unreported = (minutes: number) => delivered(minutes, false, NOON)
const reported = (minutes: number, heard: number) => delivered(minutes, true, at(heard))
const ILL = { delivery: null, metricsFiring: true, repeats: true }

/** Returns the alert for a condition with these events, each received when it happened. */
function seen(first: Signal, ...rest: readonly Signal[]): Alert {
  return rest.reduce((held, one) => absorb(held.alert, held.fingerprints, one, one.at), opened(first)).alert
}

/** Returns the alert's state at a minute past noon, after these events were received. */
function end(alert: Alert, received: readonly ReceivedEvent[], minute: number, around: Around = QUIET) {
  const { status, resolution, endsAt } = settle(withReceivedEvents(alert, received), around, at(minute)).alert
  return status === 'firing' ? null : [resolution, endsAt === null ? null : (endsAt - NOON) / MINUTE]
}

describe('the recovery of every object ends a condition', () => {
  const two = seen(pending(at(0), 'a'), pending(at(1), 'b'))
  const job = seen(sighted(at(0), 'backup-1', { name: 'BackoffLimitExceeded', failure: 'job' }))
  const done = (minute: number, name: string) => info('Completed', at(minute), name, 'Job')
  const cases: readonly (readonly [string, Alert, readonly ReceivedEvent[], unknown])[] = [
    ['both pods are scheduled', two, [scheduled(at(2), 'a'), scheduled(at(3), 'b')], ['reported', 3]],
    ['both are, told backwards', two, [scheduled(at(3), 'b'), scheduled(at(2), 'a')], ['reported', 3]],
    [
      'the first time after the trouble counts',
      two,
      [2, 5].flatMap((m) => [scheduled(at(m), 'a'), scheduled(at(m), 'b')]),
      ['reported', 2],
    ],
    ['one pod is still pending', two, [scheduled(at(2), 'a')], null],
    ['another pod is scheduled', two, [scheduled(at(2), 'a'), scheduled(at(2), 'c')], null],
    ['a pod was scheduled before its trouble', two, [scheduled(at(2), 'a'), scheduled(at(0), 'b')], null],
    ['nothing was received', two, [], null],
    ['one later success of a Job is enough', job, [done(60, 'backup-2')], ['reported', 60]],
    ['an earlier success of a Job is not', job, [done(-60, 'backup-0')], null],
  ]
  for (const [title, alert, received, expected] of cases) {
    test(title, () => assert.deepEqual(end(alert, received, 6), expected))
  }

  test('of 40 pods, in reverse order', () => {
    const pods = Array.from({ length: 40 }, (_, i) => `cart-${i}`)
    const [first, ...rest] = pods.map((pod, i) => pending(NOON + i * SECOND, pod))
    const told = pods.reverse().map((pod, i) => scheduled(at(2) + i * SECOND, pod))
    assert.deepEqual(end(seen(first!, ...rest), told, 6), ['reported', 2.65])
  })

  test('fires again when one of them fails again', () => {
    const recovered = withReceivedEvents(two, [scheduled(at(2), 'a'), scheduled(at(2), 'b')])
    const again = absorb(settle(recovered, QUIET, at(2)).alert, [], pending(at(4), 'a'), at(4))
    assert.deepEqual([again.change, settle(again.alert, QUIET, at(4)).alert.status], ['reopened', 'firing'])
  })
})

describe('a new ReplicaSet', () => {
  const crash = seen(sighted(at(0), 'cart-7d9f5b6c8-aaaaa'))
  const fresh = rollout(at(1), '5f6d8c9b7')
  const shown = (minute: number, object: string) => seen(sighted(at(0)), sighted(at(minute), object))
  const cases: readonly (readonly [string, Alert, readonly ReceivedEvent[], number, unknown])[] = [
    ['ends a crash loop after 10 quiet minutes', crash, [fresh], 11, ['inferred', 0]],
    ['ends nothing before', crash, [fresh], 10.9, null],
    ['ends nothing within 10 minutes of an old pod’s trouble', shown(5, 'cart-7d9f5b6c8-bbbbb'), [fresh], 14.9, null],
    ['ends it after that, at its last sight', shown(5, 'cart-7d9f5b6c8-bbbbb'), [fresh], 15, ['inferred', 5]],
    ['ends nothing that its own pods show', shown(5, 'cart-5f6d8c9b7-aaaaa'), [fresh], 19, null],
    ['ends nothing that it shows itself', shown(5, 'cart-5f6d8c9b7'), [fresh], 19, null],
    ['ends nothing that began after it', crash, [rollout(at(-1), '5f6d8c9b7')], 14, null],
    ['is none, when the ill one only grows', crash, [rollout(at(1), '7d9f5b6c8')], 14, null],
    ['has its quiet start anew with the next one', crash, [fresh, rollout(at(5), '6c7d8f9b5')], 12, null],
  ]
  for (const [title, alert, received, minute, expected] of cases) {
    test(title, () => assert.deepEqual(end(alert, received, minute), expected))
  }
})

describe('missed repeats and expiry', () => {
  const crash = seen(sighted(at(0)))
  const evicted = seen(sighted(at(0), 'cart-1', { name: 'TaintManagerEviction', failure: null }))
  const receivedLate = open(sighted(at(-30)), at(0))
  const metrics = alertOf({ lastSeenAt: at(4), receivedAt: at(5) })
  const often = seen(sighted(at(0), 'cart-1', { sighting: { object: 'cart-1', count: 20, escalates: false } }))
  const cases: readonly (readonly [string, Alert, number, Around, unknown])[] = [
    ['a condition expires 15 minutes after it was seen', crash, 15, QUIET, ['expired', 0]],
    ['not a moment before', crash, 14.99, QUIET, null],
    ['it expires by its own time, however late it arrived', receivedLate, 0, QUIET, ['expired', -30]],
    ['after an hour, where the sender reports no repeats', crash, 60, SILENT, ['expired', 0]],
    ['not before, where the sender reports no repeats', crash, 59.99, SILENT, null],
    ['not while a metrics alert of the service fires, if it was counted 20 times', often, 300, ILL, null],
    ['a metrics alert keeps nothing that was counted less often', crash, 300, ILL, ['expired', 0]],
    ['while it fires, an eviction expires, because its pod is gone', evicted, 10, ILL, ['expired', 0]],
    ['a failed pipeline expires after 24 hours', open(failedPipeline(NOON), NOON), 1440, ILL, ['expired', 0]],
    ['not before', open(failedPipeline(NOON), NOON), 1439, QUIET, null],
    ['an alert without repeats ends at the time of its last one', metrics, 35, unreported(30), ['inferred', 4]],
    ['an alert does not end before that time', metrics, 34.9, unreported(30), null],
    ['not by silence, where ends are reported', metrics, 1444, reported(30, 1000), null],
    [
      'after 24 hours without a repeat, where other alerts are delivered',
      metrics,
      1445,
      reported(30, 65),
      ['expired', 4],
    ],
    ['not if the sender delivers nothing at all', metrics, 9000, reported(30, 64), null],
    ['nor before three intervals of two days', metrics, 4000, reported(3 * 2880, 5000), null],
    ['a dashboard’s alert likewise', { ...metrics, source: 'dashboard' }, 35, unreported(30), ['inferred', 4]],
    ['an end is never before its start', { ...metrics, startsAt: at(60) }, 90, unreported(30), ['inferred', 60]],
  ]
  for (const [title, alert, minute, around, expected] of cases) {
    test(title, () => assert.deepEqual(end(alert, [], minute, around), expected))
  }
})

describe('the next time that changes an alert is', () => {
  const crash = seen(sighted(at(0)))
  const due = (alert: Alert, minute: number, around: Around = QUIET) =>
    (settle(alert, around, at(minute)).dueAt - NOON) / MINUTE
  const mended = withReceivedEvents(crash, [rollout(at(1), '5f6d8c9b7')])

  test('when an event expires', () => assert.equal(due(crash, 3), 15))
  test('when a rollout has been quiet for 10 minutes', () => assert.equal(due(mended, 3), 11))
  test('every 5 minutes, while a metrics alert keeps an expired event firing', () =>
    assert.equal(
      due(seen(sighted(at(0), 'cart-1', { sighting: { object: 'cart-1', count: 20, escalates: false } })), 70, ILL),
      75,
    ))
  test('when a pipeline expires', () => assert.equal(due(open(failedPipeline(NOON), NOON), 0), 1440))
  test('when the time without repeats ends', () => assert.equal(due(alertOf(), 0, unreported(30)), 30))
  test('a day later if its end will be reported', () => assert.equal(due(alertOf(), 0, reported(30, 0)), 1440))
  test('every hour after that day', () => assert.equal(due(alertOf(), 2000, reported(30, 0)), 2060))
  test('never without a sender', () => assert.ok(settle(alertOf(), QUIET, NOON).dueAt > NOON + 1e6 * DAY))
  test('a day after its end, when nothing can reopen it any more', () =>
    assert.equal(due(alertOf({ status: 'resolved', endsAt: at(5), endedAt: at(6) }), 7), 1446))
  test('immediately if that day is over', () =>
    assert.equal(due(alertOf({ status: 'resolved', endsAt: at(5), endedAt: at(6) }), 2000), 2000))

  for (const around of [QUIET, ILL, unreported(60), reported(60, 2000)]) {
    test(`a check at the due time ends it or is rescheduled: ${JSON.stringify(around)}`, () => {
      for (const alert of [crash, mended, open(failedPipeline(NOON), NOON), alertOf()]) {
        let { alert: held, dueAt } = settle(alert, around, NOON)
        for (let looks = 0; looks < 50 && held.status === 'firing' && dueAt < NOON + 9 * DAY; looks++) {
          const next = settle(held, around, dueAt)
          assert.ok(next.alert.status === 'resolved' || next.dueAt > dueAt)
          held = next.alert
          dueAt = next.dueAt
        }
      }
    })
  }
})
