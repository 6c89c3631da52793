/** Alerts: whether another signal repeats, reopens or ends an alert, or changes nothing. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Alert, absorb, belongsTo, open, type Signal } from '../../src/domain/alert/alert.ts'
import { fingerprintsOf } from '../../src/domain/alert/fingerprints.ts'
import {
  alertOf,
  failedPipeline,
  firing,
  type Held,
  MINUTE,
  NOON,
  opened,
  resolved,
  SECOND,
  sighted,
  succeededPipeline,
} from '../helpers/signals.ts'

const at = (minutes: number) => NOON + minutes * MINUTE

/** Returns the alert after further signals, each with the minute of its receipt. */
function after(held: Held, ...signals: readonly (readonly [Signal, number])[]): Held & { change: string } {
  return signals.reduce<Held & { change: string }>(
    (before, [signal, minute]) => absorb(before.alert, before.fingerprints, signal, at(minute)),
    { ...held, change: 'opened' },
  )
}

function says({ alert, change }: Held & { change: string }) {
  return [alert.status, change, alert.occurrences]
}

describe('a repeat', () => {
  test('increases the count, and updates the last time and the last receipt', () => {
    const { alert, change } = after(opened(firing()), [firing(), 4])
    assert.deepEqual([change, alert.occurrences, alert.lastSeenAt, alert.receivedAt], ['repeated', 2, at(4), at(4)])
  })

  for (const [severity, left] of [
    ['info', 'info'],
    ['critical', 'critical'],
  ] as const) {
    test(`of the same fingerprint that says ${severity} makes an error ${left}`, () =>
      assert.equal(after(opened(firing({ severity: 'error' })), [firing({ severity }), 1]).alert.severity, left))
  }

  test('that is late moves the start back and does not change the text', () => {
    const early = firing({ startsAt: at(-5), summary: 'old words' })
    const { alert } = after(opened(firing()), [early, 1])
    assert.deepEqual([alert.startsAt, alert.summary], [at(-5), 'cart is ill'])
  })

  test('of a Kubernetes event uses the time when it happened, not when it arrived', () =>
    assert.equal(after(opened(sighted(at(0))), [sighted(at(1)), 30]).alert.lastSeenAt, at(1)))

  test('of a Kubernetes event counts what its sender counted, in whatever order the events arrive', () => {
    const seen = (minute: number, count: number) => sighted(at(minute), 'cart-a', { startsAt: at(0), count })
    const [first, ...others] = [seen(9, 23), seen(4, 19), seen(2, 7), seen(1, 4)]
    assert.ok(first)
    const late = after(opened(first), ...others.map((one) => [one, 30] as const))
    assert.equal(late.alert.occurrences, 23)
    assert.equal(after(late, [seen(12, 30), 31]).alert.occurrences, 30)
    assert.equal(after(late, [first, 31]).alert.occurrences, 24)
  })

  test('never changes the name or the fingerprint of the alert', () => {
    const { alert } = after(opened(firing()), [firing({ name: 'Other', fingerprint: 'f2', labels: { a: 'b' } }), 1])
    assert.deepEqual([alert.name, alert.fingerprint], ['HighLatency', 'f1'])
  })
})

describe('an end', () => {
  const held = opened(firing())

  test("ends the alert at the sender's time, and is not an occurrence", () => {
    const { resolution, endsAt, endedAt, occurrences } = after(held, [resolved(at(5)), 6]).alert
    assert.deepEqual([resolution, endsAt, endedAt, occurrences], ['reported', at(5), at(6), 1])
  })

  test('before the latest start ends nothing', () => {
    const again = firing({ startsAt: at(8) })
    assert.deepEqual(says(after(held, [again, 8], [resolved(at(5)), 9])), ['firing', 'kept', 2])
  })

  test('of the latest start ends it, even if the clock went backward in between', () => {
    const { alert } = after(held, [resolved(at(-60)), 5])
    assert.deepEqual([alert.status, alert.endsAt], ['resolved', NOON])
  })

  test('without a firing item creates a resolved alert', () => {
    const { status, resolution, endsAt, lastSeenAt } = opened(resolved(at(5)), at(6)).alert
    assert.deepEqual([status, resolution, endsAt, lastSeenAt], ['resolved', 'reported', at(5), at(5)])
  })

  test('before its own start creates an alert that ends at its start', () => {
    const { startsAt, endsAt } = open(resolved(at(-5)), at(6))
    assert.deepEqual([startsAt, endsAt], [NOON, NOON])
  })

  test('that is repeated does not change the first one', () => {
    const { alert, change } = after(held, [resolved(at(5)), 5], [resolved(at(7)), 8])
    assert.deepEqual([change, alert.endsAt, alert.endedAt], ['kept', at(5), at(5)])
  })

  test('that is reported replaces an inferred one', () => {
    const guessed = alertOf({ status: 'resolved', resolution: 'inferred', endsAt: at(3), endedAt: at(20) })
    const { alert, change } = after({ ...held, alert: guessed }, [resolved(at(5)), 30])
    assert.deepEqual([change, alert.resolution, alert.endsAt, alert.endedAt], ['kept', 'reported', at(5), at(30)])
  })

  test('does not move the start of an alert back, however often it is repeated', () => {
    const earlier = resolved(at(10), { fingerprint: 'f2', startsAt: NOON })
    const { alert } = after(opened(firing({ startsAt: at(10) }), at(21)), [earlier, 21], [earlier, 22], [earlier, 23])
    assert.deepEqual([alert.status, alert.startsAt], ['firing', at(10)])
  })

  test('never reopens an alert that a person resolved', () => {
    const settled = alertOf({ status: 'resolved', resolution: 'manual', endsAt: at(3), endedAt: at(3) })
    assert.equal(after({ ...held, alert: settled }, [resolved(at(5)), 5]).alert, settled)
  })

  for (const [minute, status] of [
    [9, 'resolved'],
    [-9, 'firing'],
  ] as const) {
    test(`of a pipeline is a success after it: ${minute} minutes later it is ${status}`, () =>
      assert.equal(after(opened(failedPipeline(NOON)), [succeededPipeline(at(minute)), 9]).alert.status, status))
  }
})

describe('an alert with two fingerprints', () => {
  const second = firing({ fingerprint: 'f2', startsAt: at(1) })
  const both = after(opened(firing()), [second, 1])

  test('has the first one, and is still firing after one of them has ended', () => {
    const { alert } = after(both, [resolved(at(5)), 5])
    assert.deepEqual([alert.fingerprint, alert.status], ['f1', 'firing'])
  })

  for (const order of [['f1', 'f2'] as const, ['f2', 'f1'] as const]) {
    test(`ends when the last one has ended, in any order: ${order.join(', ')}`, () => {
      const ends = { f1: resolved(at(5)), f2: resolved(at(7), { fingerprint: 'f2', startsAt: at(1) }) }
      const { alert } = after(both, [ends[order[0]], 8], [ends[order[1]], 8])
      assert.deepEqual([alert.status, alert.endsAt], ['resolved', at(7)])
    })
  }

  test('ends even if a late copy of the first arrives between the ends', () => {
    const ended = resolved(at(7), { fingerprint: 'f2', startsAt: at(1) })
    assert.equal(after(both, [resolved(at(5)), 5], [firing(), 6], [ended, 7]).alert.status, 'resolved')
  })

  test('is still firing for a fingerprint that starts again', () => {
    const ended = resolved(at(7), { fingerprint: 'f2', startsAt: at(1) })
    assert.equal(after(both, [resolved(at(5)), 5], [firing({ startsAt: at(6) }), 6], [ended, 7]).alert.status, 'firing')
  })

  test('fires again for a restarted exporter that started before the old one ended', () =>
    assert.deepEqual(says(after(opened(firing()), [resolved(at(5)), 5], [second, 5])), ['firing', 'reopened', 2]))

  test('is not over if only one end is reported after an inferred one', () => {
    const guessed: Alert = { ...both.alert, status: 'resolved', resolution: 'inferred', endsAt: at(1), endedAt: at(20) }
    assert.equal(after({ ...both, alert: guessed }, [resolved(at(5)), 25]).alert.resolution, 'inferred')
  })
})

describe('a firing item after a reported end at 12:05', () => {
  const ended = after(opened(firing()), [resolved(at(5)), 5])
  const cases: readonly (readonly [string, Signal, number, boolean, string | null])[] = [
    ['at once is a late copy', firing(), 5, true, 'kept'],
    ['10 minutes later is a late copy of another replica', firing(), 15, true, 'kept'],
    ['more than 10 minutes later reopens', firing(), 15.1, true, 'reopened'],
    ['that started at the very end fired again', firing({ startsAt: at(5) }), 5, true, 'reopened'],
    ['with another start before the end is a late copy for 2 minutes', firing({ startsAt: at(4) }), 7, true, 'kept'],
    ['with another start before the end reopens after that', firing({ startsAt: at(4) }), 7.1, true, 'reopened'],
    ['with a new start reopens at once', firing({ startsAt: at(5.5) }), 5.5, true, 'reopened'],
    ['with a new start within 10 minutes reopens', firing({ startsAt: at(14) }), 15, true, 'reopened'],
    [
      'with a new start within 10 minutes reopens, however late it comes',
      firing({ startsAt: at(14) }),
      90,
      true,
      'reopened',
    ],
    ['with a new start after that is another alert', firing({ startsAt: at(15.1) }), 15.2, false, null],
    ['with the old start an hour later shows that it never ended', firing(), 65, true, 'reopened'],
  ]
  for (const [title, signal, minute, belongs, change] of cases) {
    test(title, () => {
      assert.equal(belongsTo(ended.alert, signal), belongs)
      if (belongs) assert.equal(after(ended, [signal, minute]).change, change)
    })
  }

  test('that came before its start is a late copy too', () => {
    const first = opened(resolved(at(5)), at(6))
    assert.deepEqual(says(after(first, [firing(), 7])), ['resolved', 'kept', 1])
  })

  test('that reopened it is not ended by a copy of an old end', () => {
    const again = after(ended, [firing({ startsAt: at(6) }), 6])
    assert.deepEqual(says(after(again, [resolved(at(5)), 7], [resolved(at(4)), 7])), ['firing', 'kept', 2])
  })

  test('is also a copy if the alert ended when it started', () =>
    assert.equal(after(opened(resolved(NOON), NOON), [firing(), 0.5]).change, 'kept'))
})

describe('after an inferred end', () => {
  const over = (more: Partial<Alert>) => alertOf({ status: 'resolved', endsAt: at(5), endedAt: at(5), ...more })

  test('a new start after more than 10 minutes is another alert', () =>
    assert.equal(belongsTo(over({ resolution: 'inferred' }), firing({ startsAt: at(16) })), false))

  test('any repeat revokes the inferred end', () =>
    assert.equal(belongsTo(over({ resolution: 'inferred' }), firing()), true))

  test('an event long after the rollout that fixed it starts another alert', () =>
    assert.equal(belongsTo(over({ resolution: 'inferred' }), sighted(at(20 * 60))), false))

  test('an event within 10 minutes of the last sign reopens it, however late the expiry was noticed', () => {
    const expired = open(sighted(NOON), NOON)
    const alert = { ...expired, status: 'resolved', resolution: 'expired', endsAt: at(60), endedAt: at(75) } as const
    assert.deepEqual(
      [70, 71].map((minute) => belongsTo(alert, sighted(at(minute)))),
      [true, false],
    )
  })

  const alert = over({ resolution: 'manual' })
  const manual = { alert, fingerprints: fingerprintsOf(alert, null) }

  test('an alert that a person resolved stays resolved for earlier starts for half an hour', () => {
    assert.equal(belongsTo(manual.alert, firing()), true)
    assert.deepEqual(says(after(manual, [firing(), 30])), ['resolved', 'kept', 1])
    assert.deepEqual(says(after(manual, [firing(), 300])), ['firing', 'reopened', 2])
  })

  test('a new start within 10 minutes reopens it, a later one is another alert', () => {
    assert.deepEqual(says(after(manual, [firing({ startsAt: at(6) }), 6])), ['firing', 'reopened', 2])
    assert.equal(belongsTo(manual.alert, firing({ startsAt: at(20) })), false)
  })
})

describe('an escalating event becomes critical if repeated', () => {
  const pod = (name: string) => `cart-7d9f5b6c8-${name}`
  const cases: readonly (readonly [string, readonly Signal[], string])[] = [
    ['a count of 4: error', [sighted(NOON, pod('a'), { count: 4 })], 'error'],
    ['a count of 5: critical', [sighted(NOON, pod('a'), { count: 5 })], 'critical'],
    ['two pods: critical', [sighted(NOON, pod('a')), sighted(at(60), pod('b'))], 'critical'],
    ['twice in 10 minutes: error', [sighted(NOON), sighted(at(5))], 'error'],
    ['three times in 10 minutes: critical', [sighted(NOON), sighted(at(5)), sighted(at(10))], 'critical'],
    ['three times in 11 minutes: error', [sighted(NOON), sighted(at(5)), sighted(at(11))], 'error'],
    ['three times, the first arriving last: critical', [sighted(at(10)), sighted(at(5)), sighted(NOON)], 'critical'],
    ['the same event delivered five times: error', [...'12345'].map(() => sighted(NOON)), 'error'],
  ]
  for (const [title, [first, ...rest], severity] of cases) {
    test(title, () =>
      assert.equal(after(opened(first!), ...rest.map((one) => [one, 61] as const)).alert.severity, severity),
    )
  }

  test('a warning does not escalate, however often it repeats', () => {
    const sighting = { object: 'cart-1', count: 99, escalates: false }
    assert.equal(open(sighted(NOON, 'cart-1', { severity: 'warning', sighting }), NOON).severity, 'warning')
  })

  test('all of 200 pods are kept, and the last 32 of 100 events of one pod', () => {
    const pods = Array.from({ length: 200 }, (_, i) => [sighted(NOON + i * SECOND, pod(`${i}`)), 5] as const)
    const times = Array.from({ length: 100 }, (_, i) => [sighted(NOON + i * SECOND), 5] as const)
    assert.equal(after(opened(sighted(NOON, pod('0'))), ...pods).alert.evidence.seen.length, 200)
    assert.equal(after(opened(sighted(NOON)), ...times).alert.evidence.seen.length, 32)
  })
})
