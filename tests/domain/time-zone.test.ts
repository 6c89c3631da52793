/** Time zones: daily time windows across daylight saving time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone, localTimeOf, spansAround, WEEKDAYS } from '../../src/domain/time-zone.ts'

const NIGHT = { from: '22:00', to: '06:00', timeZone: 'Europe/Berlin' }

/** Returns the window that starts on the local day of `at`, in ISO 8601. */
function spanOf(at: string, span: typeof NIGHT): string[] {
  const [found] = spansAround(Date.parse(at), span, WEEKDAYS, 0)
  return found ? [found.startsAt, found.endsAt].map((time) => new Date(time).toISOString().slice(0, 16)) : []
}

for (const [what, at, span, expected] of [
  ['a night in winter', '2026-01-10T12:00Z', NIGHT, ['2026-01-10T21:00', '2026-01-11T05:00']],
  ['a night in summer', '2026-07-10T12:00Z', NIGHT, ['2026-07-10T20:00', '2026-07-11T04:00']],
  ['the night that loses an hour', '2026-03-28T12:00Z', NIGHT, ['2026-03-28T21:00', '2026-03-29T04:00']],
  ['the night that gains an hour', '2026-10-24T12:00Z', NIGHT, ['2026-10-24T20:00', '2026-10-25T05:00']],
  [
    'a clock time that is skipped',
    '2026-03-29T12:00Z',
    { ...NIGHT, from: '02:30', to: '04:00' },
    ['2026-03-29T01:30', '2026-03-29T02:00'],
  ],
  [
    'a clock time that occurs twice',
    '2026-10-25T12:00Z',
    { ...NIGHT, from: '02:15', to: '02:45' },
    ['2026-10-25T00:15', '2026-10-25T01:45'],
  ],
  [
    'a zone with half an hour',
    '2026-01-10T12:00Z',
    { ...NIGHT, timeZone: 'Asia/Kolkata' },
    ['2026-01-10T16:30', '2026-01-11T00:30'],
  ],
  [
    'a whole day',
    '2026-01-10T12:00Z',
    { from: '00:00', to: '00:00', timeZone: 'UTC' },
    ['2026-01-10T00:00', '2026-01-11T00:00'],
  ],
] as const) {
  test(`finds ${what}`, () => assert.deepEqual(spanOf(at, span), expected))
}

test('omits a window that daylight saving time skips completely', () => {
  assert.deepEqual(spanOf('2026-03-29T12:00Z', { ...NIGHT, from: '02:00', to: '02:00' }).length, 2)
  assert.deepEqual(spanOf('2026-03-29T12:00Z', { ...NIGHT, from: '02:30', to: '03:30' }), [])
})

test('finds only windows that start on the given weekday', () => {
  const spans = spansAround(Date.parse('2026-03-14T12:00Z'), NIGHT, ['saturday'], 8)
  assert.deepEqual(
    spans.map(({ startsAt }) => new Date(startsAt).toISOString().slice(0, 10)),
    ['2026-03-07', '2026-03-14', '2026-03-21'],
  )
})

for (const [name, known] of [
  ['Europe/Berlin', true],
  ['UTC', true],
  ['Mars/Olympus', false],
  ['', false],
] as const) {
  test(`${name === '' ? 'an empty text' : name} is ${known ? 'a' : 'not a'} time zone`, () => {
    assert.equal(isTimeZone(name), known)
  })
}

test('shows midnight as hour 0', () => {
  assert.equal(localTimeOf(Date.parse('2026-01-10T00:00Z'), 'UTC').hour, 0)
})
