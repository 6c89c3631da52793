/** The clock: later events never get earlier times, unless the clock was wrong. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { distrustOf, jumpOf, steadyClock } from '../../src/domain/clock/clock.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Returns the times shown while the machine's clock has these values in turn, and the monotonic clock those of `steady`. */
function shownOf(times: readonly number[], steady: readonly number[] = times): number[] {
  let at = 0
  const { now } = steadyClock(
    () => times[at] ?? 0,
    () => steady[at] ?? 0,
  )
  return times.map((_, index) => {
    at = index
    return now()
  })
}

/** Returns the times shown by a clock that jumps by some minutes ten minutes after the start, in minutes before it. */
function jumping(minutes: number, passed: readonly number[]) {
  const clock = { wall: 1_000 * HOUR, steady: 0 }
  const { now, jumps } = steadyClock(
    () => clock.wall,
    () => clock.steady,
  )
  const first = now()
  const shown = passed.map((at) => {
    clock.steady = at * MINUTE
    clock.wall = first + at * MINUTE + (at >= 10 && at < 20 ? minutes * MINUTE : 0)
    return (now() - first) / MINUTE
  })
  return { shown, jumps: jumps() }
}

for (const [what, minutes, passed, shown, jumps] of [
  ['forward for half a minute changes nothing', 1_500, [9, 19.5, 19.9, 20, 21], [9, 19.5, 19.9, 20, 21], 0],
  ['back for half a minute changes nothing', -1_500, [9, 19.5, 19.9, 20, 21], [9, 19.5, 19.9, 20, 21], 0],
  ['forward takes effect after a minute', 1_500, [9, 10, 10.9, 11, 12], [9, 10, 10.9, 1_511, 1_512], 1],
  ['back takes effect after a minute', -1_500, [9, 10, 10.9, 11, 12], [9, 10, 10.9, -1_489, -1_488], 1],
  ['and its correction both take effect', 1_500, [10, 11, 19, 20, 21, 22], [10, 1_511, 1_519, 1_520, 21, 22], 2],
  ['by less than a minute takes effect at once', 0.9, [9, 10, 12], [9, 10.9, 12.9], 0],
] as const)
  test(`a jump of the clock ${what}`, () => assert.deepEqual(jumping(minutes, passed), { shown, jumps }))

for (const [what, times, shown] of [
  ['goes with the machine', [1, 2, 3], [1, 2, 3]],
  ['stands while a correction is made up for', [1000, 400, 999, 1001], [1000, 1000, 1000, 1001]],
  ['stands for five minutes at most', [6 * MINUTE, MINUTE], [6 * MINUTE, 6 * MINUTE]],
  ['shows 1970 while the machine shows an earlier year', [-5, -3, 0, 7], [0, 0, 0, 7]],
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

const START = 1_000 * HOUR
/** The hours since the start at each reading, of the clock and of the steady clock. */
for (const [what, clock, steady, jumpedAt] of [
  ['keeps pace', [50], [50], null],
  ['is an hour fast after a month of small steps', [300, 720], [299.7, 719], null],
  ['jumps by days', [1, 72], [1, 2], 2],
  ['jumps twice', [72, 144], [2, 3], 3],
  ['keeps pace again after a jump', [72, 92], [2, 22], 2],
  ['jumps by years and is corrected', [90_000, 3], [2, 3], null],
  ['is set back', [-300], [1], null],
] as const) {
  test(`a clock that ${what} has jumped ${jumpedAt === null ? 'at no time' : `${jumpedAt} h after the start`}`, () => {
    let [last, found] = [{ now: START, elapsed: 0 }, null as number | null]
    for (const [index, hours] of clock.entries()) {
      const read = { now: START + hours * HOUR, elapsed: (steady[index] ?? 0) * HOUR }
      found = jumpOf(last, read, found)
      last = read
    }
    assert.equal(found === null ? null : found / HOUR, jumpedAt)
  })
}

for (const [what, newest, jumpedAt, elapsed, why] of [
  ['nothing is wrong', START - HOUR, null, 50 * HOUR, null],
  ['the clock jumped 23 hours ago', START, HOUR, 24 * HOUR, 'jumped'],
  ['the clock jumped a day ago', START, HOUR, 25 * HOUR, null],
  ['there was nothing for days before the start', START - 25 * HOUR, null, 0, 'gap'],
  ['this start is a day ago', START - 25 * HOUR, null, 24 * HOUR, null],
  ['there is no record yet', null, null, 0, null],
] as const) {
  test(`whether expired records can be trusted to have expired, if ${what}: ${why ?? 'yes'}`, () => {
    assert.equal(distrustOf({ newest, startedAt: START }, jumpedAt, elapsed), why)
  })
}
