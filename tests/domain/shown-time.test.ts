/** Times and durations as shown on pages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  dayOf,
  formatAgo,
  formatClock,
  formatDate,
  formatDuration,
  formatEnd,
  formatExactClock,
  formatFullTime,
  formatLasted,
  formatMoment,
  formatSpan,
  formatWhen,
  inZone,
} from '../../src/domain/shown-time.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A Thursday. */
const NOW = Date.parse('2026-11-19T03:14:22Z')
const READER = { now: NOW, zone: 'UTC' }

for (const [ms, text] of [
  [-5, '0 s'],
  [45 * SECOND, '45 s'],
  [MINUTE, '1 min'],
  [47 * MINUTE + 59 * SECOND, '47 min'],
  [HOUR, '1 h'],
  [98 * MINUTE, '1 h 38 min'],
  [DAY, '1 day'],
  [2 * DAY + 3 * HOUR, '2 days 3 h'],
  [40 * DAY + 3 * HOUR, '40 days'],
  [Number.NaN, 'an unknown time'],
] as const) {
  test(`${ms} ms are shown as ${text}`, () => assert.equal(formatDuration(ms), text))
}

test('a duration that is over is shown with its seconds', () => {
  assert.deepEqual(
    [-1, 0.9, 72, 600, 890, 5892, 7200, 7259, 190_000].map((seconds) => formatLasted(seconds * SECOND)),
    [
      '0 s',
      '0 s',
      '1 min 12 s',
      '10 min',
      '14 min 50 s',
      '1 h 38 min 12 s',
      '2 h',
      '2 h 0 min 59 s',
      '2 d 4 h 46 min 40 s',
    ],
  )
})

for (const [iso, moment, ago] of [
  ['2026-11-19T03:14:00Z', '03:14', '22 s ago'],
  ['2026-11-19T03:02:00Z', '03:02', '12 min ago'],
  ['2026-11-18T16:05:00Z', 'Wed 16:05', '11 h 9 min ago'],
  ['2026-11-17T16:05:00Z', 'Tue 16:05', 'yesterday'],
  ['2026-11-15T16:05:00Z', 'Sun 16:05', '3 days ago'],
  ['2026-11-02T16:05:00Z', '2 Nov', '2 Nov'],
  ['1969-07-20T20:17:00Z', '20 Jul 1969', '20 Jul 1969'],
  ['2026-11-20T02:22:00Z', 'Fri 02:22', 'in 23 h 7 min'],
  ['2026-11-21T02:22:00Z', 'Sat 02:22', 'Sat 02:22'],
  ['2126-01-01T00:00:00Z', '1 Jan 2126', '1 Jan 2126'],
] as const) {
  test(`${iso} is shown as ${moment}, and as ${ago}`, () => {
    assert.deepEqual([formatMoment(Date.parse(iso), READER), formatAgo(Date.parse(iso), READER)], [moment, ago])
  })
}

for (const [timeZone, text] of [
  ['UTC', 'Thu 19 Nov 2026, 03:14:22 UTC'],
  ['Europe/Vienna', 'Thu 19 Nov 2026, 04:14:22 Europe/Vienna'],
  ['America/New_York', 'Wed 18 Nov 2026, 22:14:22 America/New_York'],
  ['Asia/Kolkata', 'Thu 19 Nov 2026, 08:44:22 Asia/Kolkata'],
  ['Nowhere/Land', 'Thu 19 Nov 2026, 03:14:22 Nowhere/Land'],
] as const) {
  test(`the full time in ${timeZone} is ${text}`, () => assert.equal(formatFullTime(NOW, timeZone), text))
}

test('a day in another time zone ends at its own midnight', () => {
  const clock = { now: NOW, zone: 'America/New_York' }
  assert.equal(formatMoment(Date.parse('2026-11-19T00:30:00Z'), clock), '19:30')
  assert.deepEqual(dayOf(Date.parse('2026-11-19T05:00:00Z'), clock.zone), { minutes: 0, name: 'Thu 19' })
})

test('an invalid time is shown as unknown', () => {
  const shown = [formatClock, formatExactClock, formatFullTime].map((show) => show(Number.NaN, 'UTC'))
  const dated = [formatDate, formatMoment].map((show) => show(9e15, READER))
  assert.deepEqual([...new Set([...shown, ...dated])], ['unknown time'])
  assert.equal(dayOf(Number.POSITIVE_INFINITY, 'UTC'), null)
})

for (const [iso, text] of [
  ['2026-11-19T03:02:00Z', 'at 03:02'],
  ['2026-11-18T16:05:00Z', 'on Wed at 16:05'],
  ['2026-11-02T16:05:00Z', 'on 2 Nov'],
] as const) {
  test(`${iso} in a sentence is ${text}`, () => assert.equal(formatWhen(Date.parse(iso), READER), text))
}

test('a period names the day of each end that is not today', () => {
  const now = Date.parse('2026-03-14T12:00:00Z')
  const reader = { now, zone: 'UTC' }
  const spans = [HOUR, 24 * HOUR, 7 * 24 * HOUR].map((ms) => formatSpan({ from: now - ms, to: now }, reader))
  assert.deepEqual(spans, ['11:00 to 12:00', 'Fri 12:00 to 12:00', '7 Mar to 12:00'])
})

test('the end of a period that began on an earlier day says that it is today', () => {
  const now = Date.parse('2026-03-14T12:00:00Z')
  const ends = [HOUR, 24 * HOUR].map((ms) => formatEnd(now, now - ms, { now, zone: 'UTC' }))
  assert.deepEqual(
    [...ends, formatEnd(now - 24 * HOUR, now - 48 * HOUR, { now, zone: 'UTC' })],
    ['12:00', 'today 12:00', 'Fri 12:00'],
  )
})

test('a time that a clock shows twice says which one it is', () => {
  const [first, second] = [Date.parse('2026-10-25T00:52:00Z'), Date.parse('2026-10-25T01:22:00Z')]
  const reader = { now: second, zone: 'Europe/Berlin' }
  assert.deepEqual([formatMoment(first, reader), formatWhen(second, reader)], ['02:52 UTC+2', 'at 02:22 UTC+1'])
  assert.equal(formatFullTime(first, reader.zone), 'Sun 25 Oct 2026, 02:52:00 Europe/Berlin UTC+2')
  const sentence = 'from 2026-10-25 00:52:00 to 01:22:00 UTC, known at 2026-10-25 02:00:00 UTC'
  assert.equal(
    inZone(sentence, reader.zone),
    'from 2026-10-25 02:52:00 UTC+2 to 02:22:00 UTC+1 Berlin, known at 2026-10-25 03:00:00 Berlin',
  )
})
