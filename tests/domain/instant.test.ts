/** Times: every format that senders and callers use, and its meaning. */

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { formatInstant, parseBound, parseInstant } from '../../src/domain/instant.ts'

const TIMES: [unknown, string | null][] = [
  ['2026-03-14T02:11:09Z', '2026-03-14T02:11:09.000Z'],
  ['2026-03-14t02:11:09z', '2026-03-14T02:11:09.000Z'],
  ['2026-03-14T02:11:09.1Z', '2026-03-14T02:11:09.100Z'],
  ['2026-03-14T02:11:09.083Z', '2026-03-14T02:11:09.083Z'],
  ['2026-03-14T02:11:09.999999999Z', '2026-03-14T02:11:09.999Z'],
  ['2026-03-14T02:11:09,25Z', '2026-03-14T02:11:09.250Z'],
  ['2026-03-14T02:11:09.1234567890Z', null],
  ['2026-03-14T02:11:09.Z', null],
  ['2026-03-14T04:11:09+02:00', '2026-03-14T02:11:09.000Z'],
  ['2026-03-14T04:11:09+0200', '2026-03-14T02:11:09.000Z'],
  ['2026-03-14T04:11:09+02', '2026-03-14T02:11:09.000Z'],
  ['2026-03-14T16:11:09+14:00', '2026-03-14T02:11:09.000Z'],
  ['2026-03-13T21:41:09-04:30', '2026-03-14T02:11:09.000Z'],
  ['2026-03-14T02:11:09-00:00', '2026-03-14T02:11:09.000Z'],
  ['2026-03-14T02:11:09+24:00', null],
  ['2026-03-14T02:11:09+02:60', null],
  ['2026-03-14T02:11:09', '2026-03-14T02:11:09.000Z'],
  ['2026-03-14 02:11:09', '2026-03-14T02:11:09.000Z'],
  ['2026-03-14T02:11', '2026-03-14T02:11:00.000Z'],
  ['2026-03-14', null],
  ['02:11:09', null],
  ['20260314T021109Z', null],
  ['2026-03-14 02:11:09 +0000 UTC', '2026-03-14T02:11:09.000Z'],
  ['2026-03-14 04:11:09.123456 +0200 CEST m=+0.1', '2026-03-14T02:11:09.123Z'],
  ['2026-03-14 05:11:09 +0300 +03', '2026-03-14T02:11:09.000Z'],
  ['2016-08-12 15:23:28 UTC', '2016-08-12T15:23:28.000Z'],
  ['2026-03-14 02:11:09 CST', null],
  ['2026-03-14 02:11:09 +0200 CEST and more', null],
  ['"2026-03-14T02:11:09Z"', '2026-03-14T02:11:09.000Z'],
  ['\\"2026-03-14 02:11:09 +0000 UTC\\"', '2026-03-14T02:11:09.000Z'],
  ['  2026-03-14T02:11:09Z\n', '2026-03-14T02:11:09.000Z'],
  [1773454269083, '2026-03-14T02:11:09.083Z'],
  ['1773454269083', '2026-03-14T02:11:09.083Z'],
  [1773454269, '2026-03-14T02:11:09.000Z'],
  ['1773454269', '2026-03-14T02:11:09.000Z'],
  [1773454269.5, '2026-03-14T02:11:09.500Z'],
  [99_999_999_999, '5138-11-16T09:46:39.000Z'],
  [100_000_000_000, '1973-03-03T09:46:40.000Z'],
  [0, null],
  [27, null],
  [-1773454269083, null],
  [2 ** 64, null],
  [Number.POSITIVE_INFINITY, null],
  [Number.NaN, null],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['2026-02-29T00:00:00Z', null],
  ['2026-02-30T00:00:00Z', null],
  ['2026-13-01T00:00:00Z', null],
  ['2026-00-10T00:00:00Z', null],
  ['2026-01-00T00:00:00Z', null],
  ['2026-03-14T24:00:00Z', null],
  ['2026-03-14T25:00:00Z', null],
  ['2026-03-14T02:60:00Z', null],
  ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
  ['2016-12-31T23:59:61Z', null],
  ['0001-01-01T00:00:00Z', null],
  ['0001-01-01 00:00:00 +0000 UTC', null],
  ['0070-01-01T00:00:00Z', null],
  ['1969-12-31T23:59:59Z', null],
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['1969-12-31T23:30:00-02:00', '1970-01-01T01:30:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['9999-12-31T23:59:59-01:00', null],
  ['10000-01-01T00:00:00Z', null],
  ['', null],
  ['   ', null],
  ['<no value>', null],
  ['now', null],
  ['Sat, 14 Mar 2026 02:11:09 GMT', null],
  [null, null],
  [undefined, null],
  [true, null],
  [{}, null],
  [['2026-03-14T02:11:09Z'], null],
  ['2'.repeat(1_000_000), null],
]

for (const [value, expected] of TIMES) {
  const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : String(value)
  test(`${shown} ${expected === null ? 'is no time' : `is ${expected}`}`, () => {
    const instant = parseInstant(value)
    assert.equal(instant === null ? null : formatInstant(instant), expected)
  })
}

test('Every time is parsed back from its text', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 253_402_300_799_999 }), (ms) => {
      assert.equal(parseInstant(formatInstant(ms)), ms)
    }),
  )
})

test('A time is the same with every offset and with any digits after the milliseconds', () => {
  const years = fc.integer({ min: 86_400_000, max: 253_402_214_399_999 })
  const offset = fc.record({ sign: fc.constantFrom(1, -1), hours: fc.nat(23), minutes: fc.nat(59) })
  fc.assert(
    fc.property(years, offset, fc.stringMatching(/^\d{0,6}$/), (ms, { sign, hours, minutes }, digits) => {
      const there = formatInstant(ms + sign * (hours * 60 + minutes) * 60_000).slice(0, -1)
      const zone = [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':')
      assert.equal(parseInstant(`${there}${digits}${sign === 1 ? '+' : '-'}${zone}`), ms)
    }),
  )
})

const BOUNDS: [string, 'from' | 'to', string | null][] = [
  ['2026-03-14', 'from', '2026-03-14T00:00:00.000Z'],
  ['2026-03-14', 'to', '2026-03-15T00:00:00.000Z'],
  ['2026-12-31', 'to', '2027-01-01T00:00:00.000Z'],
  ['9999-12-31', 'to', '9999-12-31T23:59:59.999Z'],
  ['2026-03-14T02:11:09.083+02:00', 'from', '2026-03-14T00:11:09.083Z'],
  ['2026-03-14T02:11:09Z', 'to', '2026-03-14T02:11:09.000Z'],
  ['2026-03-14T02:11:09 02:00', 'from', '2026-03-14T00:11:09.000Z'],
  ['2026-03-14T02:11', 'from', '2026-03-14T02:11:00.000Z'],
  ['2026-02-30', 'from', null],
  ['1969-12-31', 'from', null],
  ['2026-03', 'from', null],
  ['1773454269083', 'from', null],
  ['yesterday', 'to', null],
  ['', 'to', null],
]

for (const [text, side, expected] of BOUNDS) {
  test(`${side}=${text} ${expected === null ? 'is no bound' : `bounds at ${expected}`}`, () => {
    const bound = parseBound(text, side)
    assert.equal(bound === null ? null : formatInstant(bound), expected)
  })
}
