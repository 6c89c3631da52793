/**
 * Delivery intervals: which pauses between deliveries are learned, and how long a silence must last to end an alert.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  type DeliveryInterval,
  type Group,
  repeatTimeoutOf,
  withDelivery,
  withReceiverInterval,
} from '../../src/domain/sender/delivery-interval.ts'
import { HOUR, MINUTE, NOON, SECOND } from '../helpers/signals.ts'

const NONE = { longestGap: 0, gaps: 0 }

/** Returns the group after deliveries, each with its members and its milliseconds past noon. */
function after(...deliveries: readonly (readonly [string, number])[]): Group {
  const groups = deliveries.reduce<Group | null>(
    (group, [members, past]) => withDelivery(group, { members, at: NOON + past }).group,
    null,
  )
  return groups!
}

/** Returns a group whose deliveries were this far apart. */
function paused(gaps: readonly number[]): Group {
  const sum = (some: readonly number[]) => some.reduce((before, gap) => before + gap, 0)
  return after(['a', 0], ...gaps.map((_, index) => ['a', sum(gaps.slice(0, index + 1))] as const))
}

describe('a pause', () => {
  const cases: readonly (readonly [string, readonly (readonly [string, number])[], number, number])[] = [
    [
      'with the same members teaches',
      [
        ['a', 0],
        ['a', 2 * MINUTE],
      ],
      2 * MINUTE,
      1,
    ],
    [
      'after a change counts from the change',
      [
        ['a', 0],
        ['ab', HOUR],
        ['ab', 3 * HOUR],
      ],
      2 * HOUR,
      1,
    ],
    [
      'that is longer than the longest becomes it',
      [
        ['a', 0],
        ['a', MINUTE],
        ['a', 6 * MINUTE],
      ],
      5 * MINUTE,
      2,
    ],
    [
      'that is shorter leaves the longest',
      [
        ['a', 0],
        ['a', 5 * MINUTE],
        ['a', 6 * MINUTE],
      ],
      5 * MINUTE,
      2,
    ],
    [
      'that is shorter takes an eighth of the difference, once the rhythm is known',
      [
        ['a', 0],
        ['a', 10 * MINUTE],
        ['a', 20 * MINUTE],
        ['a', 22 * MINUTE],
      ],
      9 * MINUTE,
      3,
    ],
    [
      'before a change teaches nothing',
      [
        ['a', 0],
        ['ab', HOUR],
      ],
      0,
      0,
    ],
    [
      'of a storm, whose members change each time, teaches nothing',
      [
        ['a', 0],
        ['ab', 30 * SECOND],
        ['abc', MINUTE],
      ],
      0,
      0,
    ],
    [
      'to the copy of a second Alertmanager teaches nothing',
      [
        ['a', 0],
        ['a', 15 * SECOND],
        ['a', 20 * SECOND],
      ],
      0,
      0,
    ],
    [
      'between copies does not hide the rhythm',
      [
        ['a', 0],
        ['a', 15 * SECOND],
        ['a', HOUR],
        ['a', HOUR + 15_000],
      ],
      HOUR,
      1,
    ],
    [
      'of 15 seconds each time teaches the shortest interval',
      [0, 15, 30, 45, 60].map((seconds) => ['a', seconds * SECOND] as const),
      30 * SECOND,
      2,
    ],
    [
      'backwards teaches nothing',
      [
        ['a', HOUR],
        ['a', 0],
      ],
      0,
      0,
    ],
  ]
  for (const [title, deliveries, longestGap, gaps] of cases) {
    test(title, () => {
      const group = after(...deliveries)
      assert.deepEqual([group.longestGap, group.gaps], [longestGap, gaps])
    })
  }

  test('of a clock going backward does not make the group younger', () =>
    assert.equal(after(['a', HOUR], ['a', 0]).deliveredAt, NOON + HOUR))

  test('is stored with the group, null if it is unknown', () => {
    const group = after(['a', 0])
    assert.equal(withDelivery(group, { members: 'a', at: NOON + HOUR }).gap, HOUR)
    assert.equal(withDelivery(group, { members: 'b', at: NOON + HOUR }).gap, null)
  })
})

describe('the longest pause of a group', () => {
  const pause = fc.integer({ min: 30 * SECOND, max: 30 * 24 * HOUR })
  const pauses = fc.array(pause, { minLength: 1, maxLength: 50 })

  test('is never below the last one or above all of them', () => {
    fc.assert(
      fc.property(pauses, (gaps) => {
        const { longestGap } = paused(gaps)
        return longestGap >= (gaps.at(-1) ?? 0) && longestGap <= Math.max(...gaps)
      }),
    )
  })

  test('expires after a hundred repeats', () => {
    fc.assert(
      fc.property(pauses, pause, (before, cadence) => {
        const after = paused([...before, ...Array<number>(100).fill(cadence)])
        return Math.abs(after.longestGap - cadence) <= cadence
      }),
    )
  })

  test('is not an end if it occurs every ninth time', () => {
    const round = fc.array(fc.integer({ min: 30 * SECOND, max: HOUR }), { maxLength: 8 })
    fc.assert(
      fc.property(
        fc.array(round, { minLength: 2, maxLength: 9 }),
        fc.integer({ min: HOUR, max: 24 * HOUR }),
        (rounds, longest) => {
          const after = paused([longest, longest, ...rounds.flatMap((short) => [longest, ...short])])
          return repeatTimeoutOf(after, NONE) > longest
        },
      ),
    )
  })
})

describe('the longest pause of a receiver', () => {
  const DAY = 24 * HOUR
  /** Returns the receiver of a known group after this many more repeats. */
  const repeated = (receiver: DeliveryInterval, known: Group, cadence: number, times: number) => {
    let [before, rhythm] = [known, receiver]
    for (let time = 0; time < times; time += 1) {
      const delivered = withDelivery(before, { members: before.members, at: before.deliveredAt + cadence })
      rhythm = withReceiverInterval(rhythm, before, delivered)
      before = delivered.group
    }
    return { rhythm, group: before }
  }
  const group = (longestGap: number): Group => ({ longestGap, gaps: 9, members: 'a', deliveredAt: NOON })

  test('is the longest of any group', () =>
    assert.deepEqual(repeated({ longestGap: HOUR, gaps: 9 }, group(MINUTE), 2 * HOUR, 1).rhythm, {
      longestGap: 2 * HOUR,
      gaps: 10,
    }))

  test('is not changed by a pause that is ignored', () =>
    assert.deepEqual(withReceiverInterval(NONE, null, withDelivery(null, { members: 'a', at: NOON })), NONE))

  test('is independent of shorter pauses in another group', () =>
    assert.equal(repeated({ longestGap: DAY, gaps: 9 }, group(5 * MINUTE), 5 * MINUTE, 99).rhythm.longestGap, DAY))

  test('decays with its group to the default', () => {
    const outage = repeated({ longestGap: HOUR, gaps: 9 }, group(5 * MINUTE), DAY, 1)
    assert.equal(outage.rhythm.longestGap, DAY)
    const { longestGap } = repeated(outage.rhythm, outage.group, 5 * MINUTE, 1).rhythm
    assert.equal(longestGap, DAY - (DAY - 5 * MINUTE) / 8)
    assert.equal(repeated(outage.rhythm, outage.group, 5 * MINUTE, 99).rhythm.longestGap, 4 * HOUR)
  })

  test('is learned again after it decayed, by a group with that interval', () => {
    const faded = repeated({ longestGap: DAY, gaps: 9 }, group(DAY), 5 * MINUTE, 99).rhythm
    assert.equal(repeated(faded, group(12 * HOUR), 12 * HOUR, 1).rhythm.longestGap, 12 * HOUR)
  })

  test('does not decay below the default', () =>
    assert.equal(repeated({ longestGap: 4 * HOUR, gaps: 9 }, group(4 * HOUR), MINUTE, 99).rhythm.longestGap, 4 * HOUR))
})

describe('the time without repeats after which an alert ends', () => {
  const rhythm = (longestGap: number, gaps = 2) => ({ longestGap, gaps })
  const cases: readonly (readonly [string, ReturnType<typeof rhythm> | null, ReturnType<typeof rhythm>, number])[] = [
    ['is three missed deliveries', rhythm(4 * HOUR), NONE, 12 * HOUR],
    ['is at least 5 minutes', rhythm(MINUTE), NONE, 5 * MINUTE],
    ['of a cadence of 12 hours is 36 hours', rhythm(12 * HOUR), rhythm(MINUTE), 36 * HOUR],
    ['is the receiver’s after one pause only', rhythm(MINUTE, 1), rhythm(HOUR), 3 * HOUR],
    ['is the receiver’s before the group is known', null, rhythm(HOUR), 3 * HOUR],
    ['is four and a half hours before anything is known', null, NONE, 4.5 * HOUR],
    ['is the same after one pause of each', rhythm(MINUTE, 1), rhythm(MINUTE, 1), 4.5 * HOUR],
  ]
  for (const [title, group, receiver, expected] of cases) {
    test(title, () => assert.equal(repeatTimeoutOf(group, receiver), expected))
  }
})
