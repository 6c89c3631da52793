/** Sender clocks: which differences mean a wrong clock, and which a backlog, a late item or one node among many. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterDraft } from '../../src/domain/event/event.ts'
import { type Clock, corrected, withReading } from '../../src/domain/sender/sender.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOON = Date.parse('2026-03-14T12:00:00Z')

/**
 * Returns the offset in minutes after these readings, which consist of a difference and a time of receipt, both in
 * minutes.
 */
function offsetAfter(...readings: readonly (readonly [difference: number, minute: number])[]): number {
  const clock = readings.reduce<Clock | null>(
    (before, [difference, minute]) => withReading(before, difference * MINUTE, NOON + minute * MINUTE),
    null,
  )
  return (clock?.offset ?? 0) / MINUTE
}
const every = (difference: number, minutes: readonly number[]) => minutes.map((minute) => [difference, minute] as const)

const CASES: [string, readonly (readonly [number, number])[], number][] = [
  ['two hours ahead for ten minutes', every(120, [0, 3, 6, 9, 12]), 120],
  ['two hours ahead within a minute: a burst of one node', every(120, [0, 0.2, 0.4, 0.6, 0.8, 1]), 0],
  ['fourteen hours ahead, as local time is at most', every(840, [0, 3, 6, 9, 12]), 840],
  ['fifteen hours ahead, which no time zone explains', every(900, [0, 3, 6, 9, 12]), 0],
  ['ten years ahead', every(5_256_000, [0, 3, 6, 9, 12]), 0],
  ['two hours behind for ten minutes', every(-120, [0, 3, 6, 9, 12]), -120],
  ['two hours behind within a minute: a backlog', every(-120, [0, 0.2, 0.4, 0.6, 0.8, 1]), 0],
  ['later and later: a backlog that grows', [0, 3, 6, 9, 12, 15].map((at) => [-60 - 3 * at, at] as const), 0],
  ['one node of two is ahead', every(120, [0, 2, 4, 6]).flatMap((one) => [one, [0, one[1] + 1] as const]), 0],
  ['seconds ahead', every(1, [0, 1, 2, 3, 4]), 0],
  ['minutes late', every(-20, [0, 5, 10, 15, 20]), 0],
  ['behind, and then corrected', [...every(-120, [0, 3, 6, 9, 12]), ...every(0, [13, 14, 15])], 0],
  ['ahead, and then corrected', [...every(120, [0, 3, 6, 9, 12]), ...every(0, [13, 16, 19, 22, 25])], 0],
  ['ahead, with one late event', [...every(120, [0, 3, 6, 9, 12]), [60, 13], [120, 14]], 120],
]
for (const [name, readings, expected] of CASES) {
  test(`a clock ${name} is corrected by ${expected} minutes`, () => assert.equal(offsetAfter(...readings), expected))
}

test('corrected times are never later than the receipt, and the first is never later than the last', () => {
  const draft = { source: 'cluster', at: NOON, startsAt: NOON } as ClusterDraft
  const ahead = { ...draft, sent: { at: NOON + 2 * HOUR, startsAt: NOON + HOUR } }
  const times = (one: ClusterDraft, offset: number) => {
    const { at, startsAt } = corrected(one, offset, NOON)
    return [(at - NOON) / HOUR, (startsAt - NOON) / HOUR]
  }
  assert.deepEqual(times(ahead, 2 * HOUR), [0, -1])
  assert.deepEqual(times(ahead, HOUR), [0, 0])
  assert.deepEqual(times({ ...draft, at: NOON - 2 * HOUR, startsAt: NOON - 3 * HOUR }, -2 * HOUR), [0, -1])
})
