/** A sender's events per hour. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Hours, hoursUntil, NO_HOURS, withEvents } from '../../src/domain/sender/sender.ts'
import { NOON } from '../helpers/factory.ts'

const HOUR = 3_600_000
/** Formats the last hours, with the newest on the right. */
const shown = (hours: Hours, now = NOON) =>
  hoursUntil(hours, now)
    .join('')
    .replace(/^0+(?=.)/, '')

test('a sender that has sent nothing has 24 empty hours', () => {
  assert.deepEqual([hoursUntil(NO_HOURS, NOON).length, shown(NO_HOURS)], [24, '0'])
})

test('events are counted in their hour, in any order of arrival', () => {
  const sent = [
    [0, 2],
    [-2, 3],
    [0, 1],
    [-1, 4],
  ] as const
  for (const order of [sent, sent.toReversed()]) {
    let hours = NO_HOURS
    for (const [hour, events] of order) hours = withEvents(hours, NOON + hour * HOUR, events)
    assert.equal(shown(hours), '343')
  }
})

test('the hours advance without events, and are empty after a day', () => {
  const hours = withEvents(NO_HOURS, NOON, 5)
  assert.deepEqual([shown(hours, NOON + 2 * HOUR), shown(hours, NOON + 24 * HOUR)], ['500', '0'])
})

test('events older than a day are not counted', () => {
  assert.equal(shown(withEvents(withEvents(NO_HOURS, NOON, 1), NOON - 24 * HOUR, 9)), '1')
  assert.equal(shown(withEvents(withEvents(NO_HOURS, NOON - 24 * HOUR, 9), NOON, 1)), '1')
})

test('a clock that goes backward shows no hour in the future', () => {
  const hours = withEvents(NO_HOURS, NOON + HOUR, 7)
  assert.deepEqual([shown(hours, NOON), hoursUntil(hours, NOON).length], ['0', 24])
})

test('no events change nothing', () => {
  assert.equal(withEvents(NO_HOURS, NOON, 0), NO_HOURS)
})
