/** Time zones: daily time windows across daylight saving time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isTimeZone,
  localTimeOf,
  offsetIfRepeated,
  spansAround,
  timeZones,
  WEEKDAYS,
} from '../../src/domain/time-zone.ts'
import { randomFrom } from '../helpers/arrival.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const NIGHT = { from: '22:00', to: '06:00', timeZone: 'Europe/Berlin' }

/** Returns the windows that start on the local day of `at`, in ISO 8601. */
function spanOf(at: string, span: typeof NIGHT): string[] {
  const found = spansAround(Date.parse(at), span, WEEKDAYS, 0)
  return found.flatMap((one) => [one.startsAt, one.endsAt]).map((time) => new Date(time).toISOString().slice(0, 16))
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
    ['2026-03-29T01:00', '2026-03-29T02:00'],
  ],
  [
    'a clock time that occurs twice',
    '2026-10-25T12:00Z',
    { ...NIGHT, from: '02:15', to: '02:45' },
    ['2026-10-25T00:15', '2026-10-25T00:45', '2026-10-25T01:15', '2026-10-25T01:45'],
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
  assert.deepEqual(spanOf('2026-03-29T12:00Z', { ...NIGHT, from: '02:15', to: '02:30' }), [])
})

test('leaves out only the skipped part of a window', () => {
  const shown = spanOf('2026-03-29T12:00Z', { ...NIGHT, from: '02:30', to: '03:30' })
  assert.deepEqual(shown, ['2026-03-29T01:00', '2026-03-29T01:30'])
})

test('a window around the end of the repeated hour leaves out the rest of that hour', () => {
  const shown = spanOf('2026-10-25T12:00Z', { ...NIGHT, from: '02:58', to: '03:05' })
  assert.deepEqual(shown, ['2026-10-25T00:58', '2026-10-25T01:00', '2026-10-25T01:58', '2026-10-25T02:05'])
})

test('in all zones and on all dates, an instant is in a window if and only if the local clock is', () => {
  const random = randomFrom(20_261_025)
  const next = (most: number) => Math.floor(random() * most)
  const two = (value: number) => String(value).padStart(2, '0')
  // Lord Howe Island changes by half an hour; Cairo and Santiago at midnight; Casablanca and Troll twice as often or more.
  const zones = ['Australia/Lord_Howe', 'Africa/Cairo', 'America/Santiago', 'Africa/Casablanca', 'Antarctica/Troll']
  for (let run = 0; run < 1500; run++) {
    const timeZone = (run % 2 === 0 ? zones[next(zones.length)] : timeZones()[next(timeZones().length)]) ?? 'UTC'
    const at = changeNear(Date.UTC(2020 + next(12), next(12), 1 + next(28)), timeZone) + (next(72) - 36) * HOUR
    const [from, to] = [`${two(next(24))}:${two(next(60))}`, `${two(next(24))}:${two(next(60))}`]
    const spans = spansAround(at, { from, to, timeZone }, WEEKDAYS, 2)
    for (let step = 0; step < 12; step++) {
      const instant = at + (next(2 * 24 * 60) - 24 * 60) * MINUTE
      const { hour, minute } = localTimeOf(instant, timeZone)
      const clock = `${two(hour)}:${two(minute)}`
      const isInside = from < to ? from <= clock && clock < to : from <= clock || clock < to
      const found = spans.some(({ startsAt, endsAt }) => startsAt <= instant && instant < endsAt)
      assert.equal(found, isInside, `${timeZone} ${new Date(instant).toISOString()} ${clock} in ${from}–${to}`)
    }
    const starts = spans.map(({ startsAt }) => startsAt)
    assert.deepEqual(
      starts,
      starts.toSorted((one, other) => one - other),
    )
  }
})

/** Returns when the next change of a zone's offset is within 200 days, to the hour, or `at`. */
function changeNear(at: number, timeZone: string): number {
  const offset = (time: number) => localTimeOf(time, timeZone).hour - new Date(time).getUTCHours()
  for (let day = 0; day < 200; day += 10) {
    if (offset(at) === offset(at + day * 24 * HOUR)) continue
    let [early, late] = [at, at + day * 24 * HOUR]
    while (late - early > HOUR) {
      const middle = (early + late) / 2
      if (offset(middle) === offset(at)) early = middle
      else late = middle
    }
    return Math.round(late / MINUTE) * MINUTE
  }
  return at
}

test('only a time that the clock shows twice has an offset', () => {
  const shown = [
    '2026-10-25T00:52Z',
    '2026-10-25T01:22Z',
    '2026-10-24T23:59Z',
    '2026-10-25T02:00Z',
    '2026-03-29T01:00Z',
  ]
  assert.deepEqual(
    shown.map((at) => offsetIfRepeated(Date.parse(at), 'Europe/Berlin')),
    ['UTC+2', 'UTC+1', '', '', ''],
  )
  assert.equal(offsetIfRepeated(Date.parse('2026-10-25T01:22Z'), 'UTC'), '')
  assert.equal(offsetIfRepeated(Date.parse('2026-10-25T01:22Z'), 'Europe/London'), 'UTC')
  assert.equal(offsetIfRepeated(Date.parse('2026-04-04T15:15Z'), 'Australia/Lord_Howe'), 'UTC+10:30')
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
