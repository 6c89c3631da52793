/** Fingerprints: derived from the alert if possible, and the severity of an alert as the worst that still fires. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Alert, absorb, open, type Signal } from '../../src/domain/alert/alert.ts'
import { firingAgainSince, settleAll } from '../../src/domain/alert/ending.ts'
import { type Fingerprint, fingerprintsOf, withoutDerived, worseEndOf } from '../../src/domain/alert/fingerprints.ts'
import type { Severity } from '../../src/domain/severity.ts'
import { alertOf, firing, type Held, HOUR, MINUTE, NOON, opened, resolved, sighted } from '../helpers/signals.ts'

const at = (minutes: number) => NOON + minutes * MINUTE
const alert = alertOf({ said: 'warning' })
const [first] = fingerprintsOf(alert, null) as [Fingerprint]

test('an alert with only its first fingerprint needs no list', () => {
  assert.deepEqual(first, {
    ...{ fingerprint: 'f1', severity: 'warning', said: 'warning', startedAt: NOON, ended: false, seenAt: NOON },
    ...{ changedAt: null, expiresAt: null },
  })
  assert.equal(withoutDerived(alert, [{ ...first }]), null)
})

test('an alert that ended as reported needs no list either', () => {
  const { alert: over, fingerprints } = absorb(alert, [first], resolved(at(5), { said: 'warning' }), at(6))
  assert.equal(withoutDerived(over, fingerprints), null)
  assert.deepEqual(fingerprintsOf(over, null), fingerprints)
})

test('a Kubernetes condition that turned critical needs no list', () => {
  const held = opened(sighted(NOON))
  assert.equal(withoutDerived({ ...held.alert, severity: 'critical' }, held.fingerprints), null)
})

const listed: readonly (readonly [why: string, fingerprints: readonly Fingerprint[]])[] = [
  ['that has ended', [{ ...first, ended: true }]],
  ['that started at another time than the alert', [{ ...first, startedAt: 7 }]],
  ['with an end time from its sender', [{ ...first, expiresAt: at(5) }]],
  ['whose severity changed', [{ ...first, changedAt: at(5) }]],
  ['of a restarted exporter', [{ ...first, fingerprint: 'f2' }]],
  ['that is followed by another one', [first, { ...first, fingerprint: 'f2' }]],
]
for (const [why, fingerprints] of listed) {
  test(`a fingerprint ${why} is kept in a list`, () => {
    assert.equal(withoutDerived(alert, fingerprints), fingerprints)
    assert.equal(fingerprintsOf(alert, fingerprints), fingerprints)
  })
}

/** The warning and the critical variant of one condition, which Alertmanager sends with different fingerprints. */
const warning = (more: Partial<Signal> = {}) => firing({ fingerprint: 'w', severity: 'warning', ...more })
const critical = (more: Partial<Signal> = {}) => firing({ fingerprint: 'c', severity: 'critical', ...more })
const over = (end: number, signal: Signal) => resolved(at(end), { ...signal, status: 'resolved', endsAt: at(end) })

function after(signals: readonly (readonly [Signal, number])[]): Held {
  const [[signal, minute] = [warning(), 0], ...rest] = signals
  return rest.reduce(
    (held, [next, later]) => absorb(held.alert, held.fingerprints, next, at(later)),
    opened(signal, at(minute)),
  )
}

const severities = (signals: readonly (readonly [Signal, number])[]) =>
  signals.map((_, index) => after(signals.slice(0, index + 1)).alert.severity)

describe('the severity of an alert', () => {
  test('falls when the critical fingerprint ends and the warning still fires', () => {
    const story = [
      [warning(), 0],
      [critical(), 1],
      [over(30, critical()), 30],
      [warning(), 30],
    ] as const
    assert.deepEqual(severities(story), ['warning', 'critical', 'warning', 'warning'])
  })

  test('does not fall when a fingerprint ends that is not the worst', () =>
    assert.equal(
      after([
        [critical(), 0],
        [warning(), 1],
        [over(5, warning()), 5],
      ]).alert.severity,
      'critical',
    ))

  test('after the end is that of the fingerprint that ended last', () => {
    const ends = [
      [over(9, warning()), 10],
      [over(5, critical()), 10],
    ] as const
    for (const order of [ends, ends.toReversed()]) {
      const { alert } = after([[warning(), 0], [critical(), 0], ...order])
      assert.deepEqual([alert.status, alert.severity, alert.endsAt], ['resolved', 'warning', at(9)])
    }
  })

  test('does not count a critical fingerprint whose end was inferred before a warning reopened the alert', () => {
    const ended: Partial<Alert> = { status: 'resolved', resolution: 'inferred', endsAt: at(5), endedAt: at(9) }
    const both = after([
      [critical(), 0],
      [warning(), 1],
    ])
    const { alert, fingerprints } = absorb({ ...both.alert, ...ended }, both.fingerprints, warning(), at(12))
    assert.deepEqual([alert.status, alert.severity, fingerprints.length], ['firing', 'warning', 1])
    assert.equal(absorb(alert, fingerprints, critical(), at(13)).alert.severity, 'critical')
  })

  test('of a Kubernetes condition never falls while the condition lasts', () =>
    assert.equal(
      after([
        [sighted(NOON), 0],
        [sighted(at(1), undefined, { severity: 'warning' }), 1],
      ]).alert.severity,
      'error',
    ))

  test('does not depend on the order in which the fingerprints arrive', () => {
    const level = fc.constantFrom<Severity[]>('critical', 'error', 'warning', 'info')
    const one = fc.record({ severity: level, start: fc.nat(30), end: fc.option(fc.integer({ min: 31, max: 60 })) })
    const conditions = fc.array(one, { minLength: 2, maxLength: 5 })
    const items = conditions.chain((all) => {
      const signals = all.flatMap(({ severity, start, end }, index) => {
        const own = firing({ fingerprint: `f${index}`, severity, said: severity, startsAt: at(start) })
        return end === null ? [own] : [own, over(end, own)]
      })
      return fc.tuple(fc.constant(signals), fc.shuffledSubarray(signals, { minLength: signals.length }))
    })
    const seen = (signals: readonly Signal[]) => {
      const { alert } = after([
        [firing({ fingerprint: 'f', startsAt: NOON }), 60],
        ...signals.map((own) => [own, 60] as const),
      ])
      return [alert.status, alert.severity, alert.startsAt]
    }
    fc.assert(fc.property(items, ([one, other]) => assert.deepEqual(seen(other), seen(one))))
  })
})

describe('a fingerprint that is not repeated', () => {
  const context = { metricsFiring: false, repeats: true }
  const by = (repeatTimeout: number, reportsEnds = false) => ({
    ...context,
    delivery: { repeatTimeout, reportsEnds, heardAt: null },
  })
  const settled = ({ alert, fingerprints }: Held, delivery: ReturnType<typeof by>, minute: number) =>
    settleAll(alert, fingerprints, delivery, at(minute))

  test('no longer counts after the repeat timeout of a sender that reports no ends', () => {
    const { alert, fingerprints } = settled(
      after([
        [critical(), 0],
        [warning(), 4],
        [warning(), 9],
      ]),
      by(5 * MINUTE),
      9,
    )
    const going = fingerprints?.filter(({ ended }) => !ended).map(({ fingerprint }) => fingerprint)
    assert.deepEqual([alert.severity, going], ['warning', ['w']])
    assert.deepEqual(worseEndOf(alert, fingerprints), { endsAt: at(0), isGuess: true })
  })

  test('counts as long as its sender reports ends', () =>
    assert.equal(
      settled(
        after([
          [critical(), 0],
          [warning(), 4],
        ]),
        by(HOUR, true),
        600,
      ).alert.severity,
      'critical',
    ))

  test('ends when the time that its sender gave is over, and the alert with its last report', () => {
    const both = after([
      [warning({ expiry: { at: at(4) } }), 0],
      [critical({ expiry: { at: at(6) } }), 1],
    ])
    assert.deepEqual([settled(both, by(HOUR), 3).dueAt, settled(both, by(HOUR), 4).alert.severity], [at(4), 'critical'])
    const { status, resolution, endsAt } = settled(both, by(HOUR), 7).alert
    assert.deepEqual([status, resolution, endsAt], ['resolved', 'inferred', at(1)])
  })

  test('and has a late end time outlives the delivery interval', () => {
    const { alert, fingerprints } = after([
      [warning({ expiry: { at: at(999) } }), 0],
      [warning({ expiry: { at: at(999) } }), 1],
    ])
    assert.equal(settleAll(alert, fingerprints, by(HOUR), at(900)).alert.status, 'firing')
  })

  test('fires again with its next item', () => {
    const only = open(warning({ expiry: { at: at(4) } }), NOON)
    const list = [{ ...first, fingerprint: 'w', expiresAt: at(4) }]
    const ended = settleAll(only, list, by(HOUR), at(5))
    assert.equal(
      absorb(ended.alert, ended.fingerprints ?? [], warning({ expiry: { at: at(9) } }), at(6)).change,
      'reopened',
    )
  })
})

test('an alert fires again since the start that its sender reports', () => {
  const fingerprint = { severity: 'critical', said: null, changedAt: null, seenAt: 50, expiresAt: null } as const
  const alert = {
    ...{ ...fingerprint, fingerprint: 'a', source: 'metrics' as const, startsAt: 10, endsAt: null },
    ...{ resolution: null, receivedAt: 50 },
  } as const
  const again = (startedAt: number) => [{ ...fingerprint, fingerprint: 'a', startedAt, ended: false }]
  assert.equal(firingAgainSince(alert, again(40), 30), 40)
  assert.equal(firingAgainSince(alert, again(20), 30), null)
  assert.equal(firingAgainSince(alert, null, 30), null)
})

for (const [what, before, sent, minutes, start] of [
  ['goes on if it overlaps what Prometheus sent before its restart', [3], 3, 2, 0],
  ['counts if what was sent before had expired', [3], 9, 4, 4],
  ['counts after a reported end', [3, 'end'], 3, 2, 2],
  ['counts if the sender does not say until when it is valid', [null], null, 2, 2],
] as const) {
  test(`a new start of an alert ${what}`, () => {
    const [expiry, end] = before
    const expiring = (minute: number | null) => ({ expiry: minute === null ? null : { at: at(minute) } })
    const one = open(firing(expiring(expiry)), NOON)
    const known = end
      ? absorb(one, fingerprintsOf(one, null), resolved(at(1)), at(1))
      : { alert: one, fingerprints: fingerprintsOf(one, null) }
    const again = firing({ startsAt: at(minutes), ...expiring(sent) })
    const { fingerprints } = absorb(known.alert, known.fingerprints, again, at(minutes))
    assert.deepEqual(
      fingerprints.map(({ startedAt }) => startedAt),
      [at(start)],
    )
  })
}
