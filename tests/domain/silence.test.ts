/** Silences: their status over time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  nextChangeOf,
  nextWindowOf,
  type Period,
  scheduleFault,
  statusOf,
  toSchedule,
  windowFault,
} from '../../src/domain/silence/silence.ts'

const at = (text: string) => Date.parse(`2026-${text}Z`)
const ONCE: Period = { startsAt: at('03-14T10:00'), endsAt: at('03-14T12:00'), schedule: null }
/**
 * Saturdays from 22:00 to 02:00 in Berlin. 14 March is a Saturday, and on 29 March the clock skips an hour at 02:00.
 */
const WEEKLY: Period = {
  startsAt: at('03-10T00:00'),
  endsAt: at('03-30T00:00'),
  schedule: { weekdays: ['saturday'], from: '22:00', to: '02:00', timeZone: 'Europe/Berlin' },
}

for (const [what, period, when, status, next] of [
  ['before it begins', ONCE, '03-14T09:59', 'pending', '03-14T10:00'],
  ['at its start', ONCE, '03-14T10:00', 'active', '03-14T12:00'],
  ['at its end', ONCE, '03-14T12:00', 'expired', null],
  ['before the first week', WEEKLY, '03-09T00:00', 'pending', '03-10T00:00'],
  ['between two spans', WEEKLY, '03-16T00:00', 'pending', '03-21T21:00'],
  ['at the start of a span', WEEKLY, '03-14T21:00', 'active', '03-15T01:00'],
  ['after midnight', WEEKLY, '03-15T00:59', 'active', '03-15T01:00'],
  ['at the end of a span', WEEKLY, '03-15T01:00', 'pending', '03-21T21:00'],
  ['in the night that loses an hour', WEEKLY, '03-29T00:30', 'active', '03-29T01:00'],
  ['after the last span', WEEKLY, '03-29T12:00', 'pending', '03-30T00:00'],
  ['after its end', WEEKLY, '03-30T00:00', 'expired', null],
] as const) {
  test(`${what} a silence is ${status}`, () => {
    assert.equal(statusOf(period, at(when)), status)
    assert.equal(nextChangeOf(period, at(when)), next === null ? null : at(next))
  })
}

for (const [what, change, path] of [
  ['a clock time of 25:00', { from: '25:00' }, 'from'],
  ['a clock time in words', { to: 'noon' }, 'to'],
  ['an unknown time zone', { timeZone: 'Mars/Olympus' }, 'timeZone'],
  ['no day', { weekdays: [] }, 'weekdays'],
] as const) {
  test(`rejects ${what}`, () => {
    const schedule = { weekdays: ['saturday'], from: '22:00', to: '02:00', timeZone: 'UTC', ...change } as const
    assert.equal(scheduleFault(schedule)?.path, path)
  })
}

for (const [what, period, when, window] of [
  ['without a schedule is the whole period', ONCE, '03-14T09:00', ['03-14T10:00', '03-14T12:00']],
  ['is the present one', WEEKLY, '03-14T23:00', ['03-14T21:00', '03-15T01:00']],
  ['is the next one', WEEKLY, '03-16T00:00', ['03-21T21:00', '03-22T01:00']],
  ['does not exist after the end', WEEKLY, '03-30T00:00', null],
  ['does not exist in a period without one', { ...WEEKLY, endsAt: at('03-12T00:00') }, '03-10T00:00', null],
  ['ends with the silence', { ...WEEKLY, endsAt: at('03-14T22:00') }, '03-10T00:00', ['03-14T21:00', '03-14T22:00']],
] as const) {
  test(`the window of a silence ${what}`, () => {
    const found = nextWindowOf(period, at(when))
    assert.deepEqual(found, window && { startsAt: at(window[0]), endsAt: at(window[1]) })
  })
}

test('the earlier form of a schedule has one weekday', () => {
  const earlier = { weekday: 'sunday', from: '22:00', to: '06:00', timeZone: 'UTC' } as const
  assert.deepEqual(toSchedule(earlier).weekdays, ['sunday'])
})

test('a silence without a window says when its schedule has the next one', () => {
  const weekly = {
    ...WEEKLY,
    schedule: { weekdays: ['saturday'], from: '22:00', to: '02:00', timeZone: 'UTC' },
  } as const
  assert.equal(windowFault(weekly, at('03-10T00:00')), null)
  assert.equal(
    windowFault({ ...weekly, endsAt: at('03-12T00:00') }, at('03-11T00:00')),
    'no window of this schedule lies between 2026-03-11T00:00:00.000Z and 2026-03-12T00:00:00.000Z; the next window is from 2026-03-14T22:00:00.000Z to 2026-03-15T02:00:00.000Z',
  )
})

test('a weekly window that the clock skips is followed by that of the next week', () => {
  const schedule = { from: '02:15', to: '02:45', timeZone: 'Europe/Berlin', weekdays: ['sunday'] as const }
  const made = Date.parse('2028-03-24T12:00:00Z')
  const period = { startsAt: made, endsAt: made + 364 * 86_400_000, schedule }
  assert.equal(nextChangeOf(period, made), Date.parse('2028-04-02T00:15:00Z'))
  assert.equal(nextChangeOf(period, Date.parse('2028-03-26T01:30:00Z')), Date.parse('2028-04-02T00:15:00Z'))
  assert.equal(statusOf(period, Date.parse('2028-04-02T00:20:00Z')), 'active')
})
