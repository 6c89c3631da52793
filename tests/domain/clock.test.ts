/** The clock: later events never get earlier times, unless the clock was wrong. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { steadyClock } from '../../src/domain/clock/clock.ts'

const MINUTE = 60_000

/** Returns the times shown while the machine's clock has these values in turn. */
function shownOf(times: readonly number[]): number[] {
  const left = [...times]
  const clock = steadyClock(() => left.shift() ?? assert.fail('read too often'))
  return times.map(() => clock())
}

for (const [what, times, shown] of [
  ['goes with the machine', [1, 2, 3], [1, 2, 3]],
  ['stands while a correction is made up for', [1000, 400, 999, 1001], [1000, 1000, 1000, 1001]],
  ['stands for five minutes at most', [6 * MINUTE, MINUTE], [6 * MINUTE, 6 * MINUTE]],
  ['believes a longer fall at once', [6 * MINUTE, MINUTE - 1, MINUTE], [6 * MINUTE, MINUTE - 1, MINUTE]],
  ['shows 1970 while the machine shows an earlier year', [-5, -3, 0, 7], [0, 0, 0, 7]],
  ['believes a leap of a year, and the way back', [1, 365 * 1440 * MINUTE, 2], [1, 365 * 1440 * MINUTE, 2]],
] as const) {
  test(`it ${what}`, () => assert.deepEqual(shownOf(times), shown))
}

test('the clock never goes backward by less than five minutes', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 60 * MINUTE }), { minLength: 2 }), (times) => {
      const shown = shownOf(times)
      for (const [index, now] of shown.entries()) {
        const before = shown[index - 1] ?? now
        assert.ok(now >= before || before - now > 5 * MINUTE)
      }
    }),
  )
})
