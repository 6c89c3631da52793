/** Which conditions keep a pod from serving, when they start and when they end. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NO_EVIDENCE, type Observation, repetitionOf } from '../../src/domain/alert/evidence.ts'
import { firingPeriodsOf, ongoing } from '../../src/domain/alert/firing-period.ts'
import { incidentDueAt, unavailable } from '../../src/domain/alert/unavailable.ts'
import { deletedObjectOf } from '../../src/domain/event/reason.ts'
import { delayOf, withLag } from '../../src/domain/sender/sender.ts'
import { condition, MINUTE, NOON, SECOND } from '../helpers/signals.ts'

const POD = 'cart-7d9f5b6c8-aaaaa'
const AROUND = { repeats: true, planned: false, lag: 0 }
/** Observed from `from` to `to` seconds after noon, `count` times. */
const seen = (from: number, to: number, count = 1): Observation => [
  NOON + to * SECOND,
  POD,
  NOON + from * SECOND,
  count,
]

function watched(name: string, ...sightings: readonly Observation[]) {
  const lastSeenAt = Math.max(...sightings.map(([at]) => at))
  return condition({ source: 'cluster', name, lastSeenAt, evidence: { ...NO_EVIDENCE, seen: sightings } })
}

describe('seconds after noon at which a condition makes its pod unavailable', () => {
  const cases: readonly (readonly [string, string, readonly Observation[], number | null])[] = [
    ['a crash loop seen once: after a minute', 'CrashLoopBackOff', [seen(0, 0)], 60],
    ['a crash loop counted four times', 'CrashLoopBackOff', [seen(0, 40, 4)], 40],
    ['four counts within a second are one attempt', 'CrashLoopBackOff', [seen(0, 1, 4)], 60],
    ['a pod that cannot be scheduled', 'FailedScheduling', [seen(0, 0)], 60],
    ['a volume that moves to another node: after two minutes', 'FailedAttachVolume', [seen(0, 0)], 120],
    ['such a volume that failed four times', 'FailedAttachVolume', [seen(0, 54, 4)], 54],
    ['a probe that fails three times over 45 seconds', 'Unhealthy (readiness)', [seen(0, 45, 3)], 45],
    ['a probe of a slow start', 'Unhealthy (readiness)', [seen(0, 20, 3)], null],
    ['a probe that failed twice', 'Unhealthy (liveness)', [seen(0, 60, 2)], null],
    ['a liveness probe that fails again after the restart', 'Unhealthy (liveness)', [seen(0, 42, 4)], 42],
    ['such a probe in single events', 'Unhealthy (liveness)', [0, 10, 20, 42].map((at) => seen(at, at)), 42],
    ['a liveness probe until the restart', 'Unhealthy (liveness)', [seen(0, 20, 3)], null],
    ['four failures within ten seconds', 'Unhealthy (liveness)', [seen(0, 9, 4)], null],
    ['a readiness probe of a slow start', 'Unhealthy (readiness)', [seen(0, 42, 4)], null],
    ['a startup probe', 'Unhealthy (startup)', [seen(0, 42, 4)], null],
    ['a startup probe of a container that starts slowly', 'Unhealthy (startup)', [seen(0, 290, 30)], null],
    ['a startup probe that fails for five minutes', 'Unhealthy (startup)', [seen(0, 300, 31)], 300],
    ['a container that was killed for memory', 'OOMKilled', [seen(0, 0)], null],
    ['a claim that is not bound', 'FailedBinding', [seen(0, 0)], null],
  ]
  for (const [title, name, sightings, expected] of cases) {
    test(title, () => {
      const found = unavailable(watched(name, ...sightings), NOON + MINUTE, AROUND)
      assert.equal(found && (found.at - NOON) / SECOND, expected)
    })
  }

  test('waits 15 minutes while a node is being drained or added', () => {
    const pending = watched('FailedScheduling', seen(0, 60, 9))
    assert.equal(unavailable(pending, NOON + MINUTE, { ...AROUND, planned: true })?.at, NOON + 15 * MINUTE)
  })

  const killed = (name: string, ...times: readonly number[]) => {
    const of = times.map((at, pod): Observation => [NOON + at * SECOND, `cart-${pod}`, NOON + at * SECOND, 1])
    const at = incidentDueAt(watched(name, ...of), NOON + 3 * MINUTE, AROUND)
    return at === null ? null : (at - NOON) / SECOND
  }

  test('a moment of four pods counts as four repeats', () => {
    assert.equal(killed('OOMKilled', 0, 15, 30, 45, 60), 45)
    assert.equal(killed('Evicted', 10, 0, 30, 20), 30)
    assert.equal(killed('OOMKilled', 0, 15, 30), null)
    assert.equal(killed('FailedDaemonPod', 0, 15, 30, 45), 45)
    assert.equal(killed('FailedDaemonPod', 0), null)
  })

  test('a moment that is over does not count', () => {
    assert.equal(killed('OOMKilled', -600, -590, 100, 110), null)
  })

  test('a probe that fails once in each of four pods keeps none from serving', () => {
    assert.equal(killed('Unhealthy (readiness)', 0, 15, 30, 45), null)
  })

  test('waits two seconds for the rest of a backlog', () => {
    const late = { ...watched('FailedCreate', seen(0, 0)), receivedAt: NOON + 3 * MINUTE }
    assert.equal(incidentDueAt(late, NOON + 3 * MINUTE, AROUND), NOON + 3 * MINUTE + 2 * SECOND)
  })
})

describe('minutes after which a condition is over if it is not repeated', () => {
  const cases: readonly (readonly [string, string, Observation, boolean, number])[] = [
    ['a crash loop seen once', 'CrashLoopBackOff', seen(0, 0), true, 5],
    ['a crash loop that repeated', 'CrashLoopBackOff', seen(-60, 0, 3), true, 15],
    ['a crash loop that is 30 seconds old', 'CrashLoopBackOff', seen(-30, 0, 5), true, 5],
    ['a crash loop that is a minute old', 'CrashLoopBackOff', seen(-55, 0, 9), true, 15],
    ['a crash loop of unknown age', 'CrashLoopBackOff', seen(0, 0, 5), true, 15],
    ['an image that could not be pulled for 30 seconds', 'ImagePullBackOff', seen(-30, 0, 4), true, 15],
    ['an image that cannot be pulled, once', 'ImagePullBackOff', seen(0, 0), true, 5],
    ['a liveness probe before the third restart', 'Unhealthy (liveness)', seen(-75, 0, 8), true, 2.5],
    ['a liveness probe after three restarts', 'Unhealthy (liveness)', seen(-80, 0, 9), true, 15],
    ['a liveness probe after many restarts', 'Unhealthy (liveness)', seen(-900, 0, 40), true, 30],
    ['a startup probe, which may fail often before a restart', 'Unhealthy (startup)', seen(-80, 0, 9), true, 2.5],
    ['a pod that cannot be scheduled', 'FailedScheduling', seen(0, 0), true, 60],
    ['a probe', 'Unhealthy (readiness)', seen(-60, 0, 7), true, 2.5],
    ['a probe that failed 20 times, since the spam filter hides repeats', 'Unhealthy', seen(-300, 0, 20), true, 6],
    [
      'a crash loop that repeated 25 times, since the spam filter hides repeats',
      'BackOff',
      seen(-600, 0, 25),
      true,
      30,
    ],
    ['pods that cannot be created', 'FailedCreate', seen(0, 0), true, 5],
    ['pods that could not be created 6 times, since the wait doubles', 'FailedCreate', seen(-60, 0, 6), true, 20],
    ['a mount', 'FailedMount', seen(0, 0), true, 15],
    ['a moment', 'OOMKilled', seen(0, 0), true, 10],
    ['a node that rebooted', 'Rebooted', seen(0, 0), true, 10],
    ['a crash loop of a sender that reports no repeats', 'CrashLoopBackOff', seen(0, 0), false, 60],
    ['a moment of such a sender', 'OOMKilled', seen(0, 0), false, 10],
  ]
  for (const [title, name, sighting, repeats, minutes] of cases) {
    test(title, () => {
      const periods = firingPeriodsOf({ ...NO_EVIDENCE, seen: [sighting] }, { name, repeats })
      assert.equal(ongoing(periods, NOON + minutes * MINUTE - 1).length, 1)
      assert.equal(ongoing(periods, NOON + minutes * MINUTE).length, 0)
    })
  }
})

describe('a period', () => {
  const rules = { name: 'Unhealthy (liveness)', repeats: true }
  const latest = (...sightings: readonly Observation[]) =>
    firingPeriodsOf({ ...NO_EVIDENCE, seen: sightings }, rules)[0]

  test('starts with the first time of an event that repeats steadily', () =>
    assert.equal(latest(seen(-600, 0, 60))?.since, NOON - 10 * MINUTE))
  test('starts again if the counted repeats are far apart', () => {
    const period = latest(seen(-72 * 3600, 0, 5))
    assert.deepEqual([period?.since, period?.count], [NOON, 1])
  })
  test('counts only what follows a pause', () => {
    const period = latest(seen(-3600, -3500, 11), seen(-3600, 0, 12), seen(-3600, 10, 13))
    assert.deepEqual([period?.since, period?.count], [NOON, 2])
  })
  test('of a deleted pod is over, even if its probes fail while it shuts down', () => {
    const evidence = { ...NO_EVIDENCE, seen: [seen(0, 0), seen(20, 20)], gone: [[NOON + 5 * SECOND, POD] as const] }
    const periods = firingPeriodsOf(evidence, rules)
    assert.deepEqual(ongoing(periods, NOON + MINUTE), [])
    // An end before the last report would be wrong.
    assert.equal(periods[0]?.recoveredAt, NOON + 20 * SECOND)
  })
  test('continues if the pod fails long after an event reported its deletion', () => {
    const evidence = { ...NO_EVIDENCE, seen: [seen(0, 0), seen(90, 90)], gone: [[NOON + 5 * SECOND, POD] as const] }
    assert.equal(ongoing(firingPeriodsOf(evidence, rules), NOON + 2 * MINUTE).length, 1)
  })
  test('is over for all pods of a ReplicaSet that was scaled to zero', () => {
    const evidence = { ...NO_EVIDENCE, seen: [seen(0, 0)], gone: [[NOON + SECOND, 'cart-7d9f5b6c8-*'] as const] }
    assert.deepEqual(ongoing(firingPeriodsOf(evidence, rules), NOON + MINUTE), [])
  })
})

describe('how often a condition is seen within 10 minutes', () => {
  const cases: readonly (readonly [string, readonly Observation[], number])[] = [
    ['in three events', [seen(0, 0), seen(60, 60), seen(500, 500)], 3],
    ['by the count of one event', [seen(0, 180, 4)], 4],
    ['not by attempts within a minute', [seen(0, 40, 4)], 1],
    ['not by a count over an hour', [seen(0, 3600, 4)], 1],
  ]
  for (const [title, sightings, expected] of cases)
    test(title, () => assert.equal(repetitionOf({ ...NO_EVIDENCE, seen: sightings }).inTenMinutes, expected))
})

describe('the object that an event says is deleted', () => {
  const cases: readonly (readonly [string, string, string, string | null])[] = [
    ['Killing', 'Pod', 'Stopping container app', 'cart-1'],
    ['Killing', 'Pod', 'Container app failed liveness probe, will be restarted', null],
    ['SuccessfulDelete', 'ReplicaSet', 'Deleted pod: cart-7d9f5b6c8-aaaaa', 'cart-7d9f5b6c8-aaaaa'],
    ['SuccessfulDelete', 'StatefulSet', 'delete Pod db-0 in StatefulSet db successful', 'db-0'],
    ['SuccessfulDelete', 'CronJob', 'Deleted job report-1', null],
    ['FailedScheduling', 'Pod', 'skip schedule deleting pod: shop/cart-1', 'cart-1'],
    ['FailedScheduling', 'Pod', '0/4 nodes are available: 3 Insufficient cpu.', null],
    ['ScalingReplicaSet', 'Deployment', 'Scaled down replica set cart-7d9f5b6c8 to 0', 'cart-7d9f5b6c8-*'],
    ['ScalingReplicaSet', 'Deployment', 'Scaled down replica set cart-7d9f5b6c8 to 1', null],
  ]
  for (const [reason, kind, message, expected] of cases) {
    test(`${reason}: ${message}`, () =>
      assert.equal(deletedObjectOf({ reason, kind, message, object: 'cart-1' }), expected))
  }
})

describe('the lag of a sender', () => {
  const HOUR = 60 * MINUTE
  const lagAfter = (...events: readonly (readonly [late: number, minute: number])[]) => {
    const told = events.map(([late, minute]) => ({ receivedAt: NOON + minute * MINUTE, late }))
    const last = told.reduce<ReturnType<typeof withLag> | null>(
      (lag, { receivedAt, late }) => withLag(lag, { at: receivedAt - late, receivedAt }),
      null,
    )
    return delayOf(last ?? null)
  }

  test('is the lag of its fastest event', () => assert.equal(lagAfter([3 * HOUR, 0], [2 * HOUR, 1]), 2 * HOUR))
  test('is zero if it is small', () => assert.equal(lagAfter([3 * HOUR, 0], [4 * MINUTE, 1]), 0))
  test('is zero for an event from the future', () => assert.equal(lagAfter([-HOUR, 0]), 0))
  test('does not grow because of one late event', () => assert.equal(lagAfter([0, 0], [HOUR, 1]), 0))
  test('grows if nothing was timely for ten minutes', () => assert.equal(lagAfter([0, 0], [HOUR, 11]), HOUR))
  test('is zero before its first event', () => assert.equal(delayOf(null), 0))
})
