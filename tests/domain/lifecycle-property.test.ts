/** Properties that hold for any order of arrival: the same events produce the same alerts and the same health. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Alert, Signal } from '../../src/domain/alert/alert.ts'
import { settle } from '../../src/domain/alert/ending.ts'
import type { ReceivedEvent } from '../../src/domain/alert/late-events.ts'
import { healthOf } from '../../src/domain/health/health.ts'
import {
  alertOf,
  DAY,
  failedPipeline,
  firing,
  foldItems,
  HOUR,
  MINUTE,
  NOON,
  pending,
  resolved,
  rollout,
  SECOND,
  scheduled,
  sighted,
  succeededPipeline,
} from '../helpers/signals.ts'

const RUNS = { numRuns: 1000 }
type Item = Signal | ReceivedEvent

/** Returns what people see of the alerts, independent of the order in which they were created. */
function seenOf(alerts: readonly Alert[]) {
  return alerts
    .map(({ fingerprint, name, status, severity, startsAt, endsAt, resolution }) => ({
      condition: name === 'HighLatency' ? 'latency' : fingerprint,
      status,
      severity,
      startsAt,
      endsAt,
      resolution,
    }))
    .sort((a, b) => (a.condition < b.condition ? -1 : 1))
}

function healthAt(alerts: readonly Alert[], now: number) {
  const conditions = alerts.map((alert) => ({ ...alert, uuid: alert.source + alert.name }))
  return healthOf(conditions, now)
}

function assertSame(items: readonly Item[], others: readonly Item[], now: number): void {
  const [one, other] = [foldItems(items, now), foldItems(others, now)]
  assert.deepEqual(seenOf(other), seenOf(one))
  assert.deepEqual(healthAt(other, now), healthAt(one, now))
}

/** Generates alternating starts and ends of one fingerprint, a few seconds apart. */
function turns(fingerprint: string, name: string, logicalKey: string): fc.Arbitrary<Signal[]> {
  const severity = fc.constantFrom('critical', 'error', 'warning', 'info')
  return fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), severity), { maxLength: 5 }).map((steps) => {
    let at = NOON
    let startsAt = NOON
    return steps.map(([wait, worth], index) => {
      at += wait * SECOND
      if (index % 2 === 1) return resolved(at, { fingerprint, name, logicalKey, severity: worth, startsAt })
      startsAt = at
      return firing({ fingerprint, name, logicalKey, severity: worth, startsAt })
    })
  })
}

const pods = ['cart-7d9f5b6c8-aaaaa', 'cart-7d9f5b6c8-bbbbb', 'cart-5f6d8c9b7-aaaaa']
const crashes = fc
  .array(fc.tuple(fc.nat(600), fc.constantFrom(...pods), fc.integer({ min: 1, max: 6 })), { maxLength: 5 })
  .map((all) => all.map(([second, pod, count]) => sighted(NOON + second * SECOND, pod, { count })))
const pipelines = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 4 }).map((waits) => {
  let at = NOON
  return waits.map((wait, index) => {
    at += wait * SECOND
    return index % 2 === 0 ? failedPipeline(at) : succeededPipeline(at)
  })
})
const sequences = fc.tuple(
  turns('f1', 'HighErrors', 'errors'),
  turns('f2', 'KubePodCrashLooping', 'loop'),
  turns('f3', 'Down', 'down'),
  crashes,
  pipelines,
)

/** Interleaves sequences while preserving the order within each. `picks` selects whose turn it is. */
function interleaved<T>(lists: readonly (readonly T[])[], picks: readonly number[]): T[] {
  const rest = lists.map((list) => [...list])
  const out: T[] = []
  for (let turn = 0; rest.some((list) => list.length > 0); turn++) {
    const open = rest.filter((list) => list.length > 0)
    out.push(open[(picks[turn] ?? 0) % open.length]!.shift()!)
  }
  return out
}

/** Repeats some of the items a few positions after their first occurrence. */
function duplicated<T>(items: readonly T[], copies: readonly (readonly [number, number])[]): T[] {
  const placed = items.map((item, index) => ({ item, place: index }))
  const more = copies.flatMap(([of, later]) => {
    const index = of % Math.max(1, items.length)
    return items[index] === undefined ? [] : [{ item: items[index], place: index + later + 0.5 }]
  })
  return [...placed, ...more].sort((a, b) => a.place - b.place).map(({ item }) => item)
}

const picks = fc.array(fc.nat(20), { maxLength: 25 })
const copies = fc.array(fc.tuple(fc.nat(25), fc.nat(25)), { maxLength: 8 })
const delay = fc.integer({ min: 11, max: 40 })

describe('different conditions of a service', () => {
  test('can arrive interleaved in any way, twice, and late', () =>
    fc.assert(
      fc.property(sequences, picks, copies, delay, (lists, order, again, minutes) =>
        assertSame(lists.flat(), duplicated(interleaved<Item>(lists, order), again), NOON + minutes * MINUTE),
      ),
      RUNS,
    ))

  test('with the two fingerprints of a restarted exporter: firing items arrive before ends', () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(300), copies, fc.boolean(), (one, two, again, swapped) => {
        const starts = [firing(), firing({ fingerprint: 'f2', startsAt: NOON + SECOND })]
        // An item that starts at the moment of the reported end fires again, so each problem lasts for a while.
        const second = resolved(NOON + (two + 2) * SECOND, { fingerprint: 'f2', startsAt: NOON + SECOND })
        const ends = [resolved(NOON + one * SECOND), second]
        const other = swapped ? [...starts.toReversed(), ...ends.toReversed()] : [...starts, ...ends]
        assertSame([...starts, ...ends], duplicated(other, again), NOON + 11 * MINUTE)
      }),
      RUNS,
    ))
})

/** For each pod, problems and recoveries alternate, each event at a different second. */
const troubles = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 50 })), { maxLength: 9 })
const recoveries: fc.Arbitrary<Item[]> = troubles.map((steps) => {
  let at = NOON
  const ill = new Map<string, boolean>()
  return steps.map(([pod, wait]) => {
    at += wait * SECOND
    ill.set(pod, !ill.get(pod))
    return ill.get(pod) ? pending(at, pod) : scheduled(at, pod)
  })
})

describe('Kubernetes conditions and what ends them', () => {
  const shuffled = recoveries.chain((items) =>
    fc.tuple(fc.constant(items), fc.shuffledSubarray(items, { minLength: items.length })),
  )

  test('can arrive in any order', () =>
    fc.assert(
      fc.property(shuffled, delay, ([items, any], minutes) => assertSame(items, any, NOON + minutes * MINUTE)),
      RUNS,
    ))

  test('can arrive twice', () =>
    fc.assert(
      fc.property(shuffled, copies, ([items, any], again) =>
        assertSame(items, duplicated(any, again), NOON + 11 * MINUTE),
      ),
      RUNS,
    ))

  test('can arrive in any order with a rollout that fixes a crash loop', () => {
    const crash = (second: number) => sighted(NOON + second * SECOND, 'cart-7d9f5b6c8-aaaaa')
    const all = [crash(0), crash(9), rollout(NOON + 10 * SECOND, '5f6d8c9b7'), crash(20), scheduled(NOON, 'x')]
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (any) =>
        assertSame(all, any, NOON + 10 * MINUTE),
      ),
      RUNS,
    )
  })
})

describe('every alert', () => {
  const silence = fc.option(fc.integer({ min: 5 * MINUTE, max: 40 * HOUR }))
  const someAlert = fc.record({
    source: fc.constantFrom('cluster', 'metrics', 'dashboard', 'ci'),
    startsAt: fc.integer({ min: NOON - DAY, max: NOON + HOUR }),
    receivedAt: fc.integer({ min: NOON - 2 * DAY, max: NOON }),
    hash: fc.constantFrom('7d9f5b6c8', '5f6d8c9b7'),
    rolledAt: fc.integer({ min: NOON - DAY, max: NOON }),
  })

  test('is never due in the past or twice at one time, and never ends before it started', () =>
    fc.assert(
      fc.property(someAlert, silence, fc.boolean(), (some, quiet, metricsFiring) => {
        const { hash, rolledAt, ...times } = some
        const seen = [[times.startsAt, pods[0]!, times.startsAt, 1]] as const
        const evidence = { seen, recovered: [], gone: [], rollouts: [[rolledAt, hash]] as const, helped: [] }
        const delivery =
          quiet === null ? null : { repeatTimeout: quiet, reportsEnds: metricsFiring, heardAt: NOON + DAY }
        const around = { delivery, metricsFiring, repeats: true }
        let step = settle(alertOf({ ...times, lastSeenAt: times.startsAt, evidence }), around, NOON)
        for (let looks = 0; looks < 9 && step.alert.status === 'firing' && step.dueAt < NOON + 9 * DAY; looks++) {
          const dueAt = step.dueAt
          assert.ok(dueAt > NOON)
          step = settle(step.alert, around, dueAt)
          assert.ok(step.alert.status === 'resolved' || step.dueAt > dueAt)
        }
        assert.ok(step.alert.endsAt === null || step.alert.endsAt >= step.alert.startsAt)
      }),
      RUNS,
    ))
})
