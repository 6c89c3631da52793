/** Heartbeats: when a missing heartbeat is a problem. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Heartbeat, withHeartbeat } from '../../src/domain/sender/sender.ts'
import { HOUR, MINUTE, NOON, SECOND } from '../helpers/signals.ts'

const NEVER: Heartbeat = { heartbeatAt: null, heartbeatGap: 0, heartbeatDueAt: null }
const UNKNOWN = { longestGap: 0, gaps: 0 }

/**
 * Returns the state after heartbeats at these milliseconds past noon: the last one, the usual interval, and when
 * silence becomes a problem.
 */
function after(pasts: readonly number[], receiver = UNKNOWN, before = NEVER) {
  const heart = pasts.reduce((held, past, count) => withHeartbeat(held, NOON + past, receiver, { count }), before)
  return [heart.heartbeatAt! - NOON, heart.heartbeatGap, heart.heartbeatDueAt! - heart.heartbeatAt!]
}

describe('a heartbeat', () => {
  const cases: readonly (readonly [string, readonly number[], typeof UNKNOWN, readonly number[]])[] = [
    ['is waited for 12 hours after the first beat', [0], UNKNOWN, [0, 0, 12 * HOUR]],
    [
      'is waited for by its receiver’s rhythm until it has its own',
      [0],
      { longestGap: HOUR, gaps: 2 },
      [0, 0, 3 * HOUR],
    ],
    ['is waited for three pauses after the second', [0, 10 * MINUTE], UNKNOWN, [10 * MINUTE, 10 * MINUTE, 30 * MINUTE]],
    ['is waited for 5 minutes at least', [0, MINUTE], UNKNOWN, [MINUTE, MINUTE, 5 * MINUTE]],
    ['keeps its longest pause', [0, HOUR, HOUR + MINUTE], UNKNOWN, [HOUR + MINUTE, HOUR, 3 * HOUR]],
    ['learns nothing from the copy of a second Alertmanager', [0, 15 * SECOND], UNKNOWN, [15_000, 15_000, 12 * HOUR]],
    [
      'learns a short interval that has lasted',
      [0, 15, 30, 45, 60, 75, 90].map((seconds) => seconds * SECOND),
      UNKNOWN,
      [90_000, 15_000, 5 * MINUTE],
    ],
    ['grows no younger by a beat that comes late', [HOUR, 0], UNKNOWN, [HOUR, 0, 12 * HOUR]],
  ]
  for (const [title, pasts, receiver, expected] of cases) {
    test(title, () => assert.deepEqual(after(pasts, receiver), expected))
  }

  test('learns nothing from its own outage', () => {
    const silent = { heartbeatAt: NOON, heartbeatGap: 5 * MINUTE, heartbeatDueAt: null }
    assert.deepEqual(after([9 * HOUR], UNKNOWN, silent), [9 * HOUR, 5 * MINUTE, 15 * MINUTE])
  })

  /** A heartbeat every 150 s, a pause, and what it teaches. */
  const pauses: [string, number, { before?: number; stoppedFor?: number }, number][] = [
    ['a pause that is a little longer', 225, { before: 150 }, 225],
    ['an outage of less than an interval', 285, { before: 150 }, 150],
    ['a second pause of two intervals', 300, { before: 300 }, 300],
    ['an outage that is noticed too late', 435, { before: 150 }, 150],
    ['an outage after another one', 430, { before: 330 }, 150],
    ['an outage that is as long as an earlier one', 430, { before: 150 }, 150],
    ['a second pause of the same length', 435, { before: 435 }, 435],
    ['a pause in which incmon was stopped', 300, { before: 300, stoppedFor: 1 }, 150],
  ]
  for (const [title, pause, { before: pauseBefore = 0, stoppedFor = 0 }, gap] of pauses) {
    test(`${gap === 150 ? 'learns nothing' : 'learns'} from ${title}`, () => {
      const before = { heartbeatAt: NOON, heartbeatGap: 150 * SECOND, heartbeatDueAt: NOON + HOUR }
      const past = {
        pause: pauseBefore * SECOND,
        awaited: { since: stoppedFor && NOON + stoppedFor, until: NOON + stoppedFor, from: NOON },
      }
      const after = withHeartbeat(before, NOON + pause * SECOND, { longestGap: 150 * SECOND, gaps: 9 }, past)
      assert.equal(after.heartbeatGap, gap * SECOND)
      assert.equal(after.heartbeatDueAt, NOON + (pause + 3 * gap) * SECOND)
    })
  }
})
