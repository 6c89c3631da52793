/** UUIDs never decrease, even if the clock goes backward, within a millisecond, or after a restart. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { increasingIds } from '../../src/domain/clock/clock.ts'

const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR
const NOON = Date.UTC(2026, 2, 14, 12)
const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function idsAt(times: readonly number[], last: string | null = null): string[] {
  const left = [...times]
  const next = increasingIds(
    () => left.shift() ?? assert.fail('read too often'),
    () => randomInt(2 ** 32),
    last,
  )
  return times.map(() => next())
}

for (const [what, times] of [
  ['goes on', [NOON, NOON + 1, NOON + 2]],
  ['stands', [NOON, NOON, NOON]],
  ['falls by an hour', [NOON, NOON - HOUR, NOON - HOUR + 1, NOON]],
  ['leaps by a year and back', [NOON, NOON + YEAR, NOON + 1, NOON + 2]],
  ['repeats a leap second', [NOON + 999, NOON + 1000, NOON + 1, NOON + 1000]],
  ['begins in 1970', [0, 0, NOON]],
  ['makes more in a millisecond than that can count', Array.from({ length: 10_000 }, () => NOON)],
] as const) {
  test(`UUIDs increase while the clock ${what}`, () => {
    const ids = idsAt(times)
    assert.deepEqual(ids, [...new Set(ids)].sort())
    for (const id of ids) assert.match(id, UUID_7)
  })
}

test('UUIDs continue from the newest one of the previous process, even if the clock went backward', () => {
  const [last = ''] = idsAt([NOON])
  const [next = ''] = idsAt([NOON - YEAR], last)
  assert.ok(next > last)
})

test('a UUID contains the time at which it was created', () => {
  const [id = ''] = idsAt([NOON])
  assert.equal(Number.parseInt(id.replace('-', '').slice(0, 12), 16), NOON)
})

test('UUIDs do not continue from a UUID of another version', () => {
  for (const last of ['8b7f2a1c-9d4e-4f6a-b3c2-1e5d7f9a0b8c', 'none', null])
    assert.match(idsAt([NOON], last)[0] ?? '', /^019c/)
})

test('all UUIDs are unique and in order for any clock', () => {
  const time = fc.integer({ min: 0, max: NOON * 2 })
  fc.assert(
    fc.property(fc.array(time, { minLength: 2 }), (times) => {
      const ids = idsAt(times)
      assert.deepEqual(ids, [...new Set(ids)].sort())
    }),
  )
})
