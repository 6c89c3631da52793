/** Generations: a map that never holds more than it may, and never forgets the newest half of that. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createGenerations, type Generations } from '../../src/store/sqlite/generations.ts'

/** Those of the keys that are there. */
function held(map: Pick<Generations<number, unknown>, 'get'>, keys: readonly number[]): number[] {
  return keys.filter((key) => map.get(key) !== undefined)
}

test('as many entries as it may hold are all there', () => {
  const map = createGenerations<number, string>(4)
  for (const key of [1, 2, 3, 4]) map.set(key, 'here')
  assert.deepEqual(held(map, [1, 2, 3, 4]), [1, 2, 3, 4])
})

test('one more makes the older half go', () => {
  const map = createGenerations<number, string>(4)
  for (const key of [1, 2, 3, 4, 5]) map.set(key, 'here')
  assert.deepEqual(held(map, [1, 2, 3, 4, 5]), [3, 4, 5])
})

test('what is set anew makes nothing go, however often and old it is', () => {
  const map = createGenerations<number, number>(4)
  for (const key of [1, 2, 3, 4, 1, 2, 3, 4, 4, 4, 3, 1]) map.set(key, key)
  assert.deepEqual(held(map, [1, 2, 3, 4]), [1, 2, 3, 4])
})

test('null is a value', () => {
  const map = createGenerations<string, null>(4)
  map.set('nothing', null)
  assert.deepEqual([map.get('nothing'), map.get('other')], [null, undefined])
})

test('nothing is left of what is deleted, and of what was there when all was cleared', () => {
  const map = createGenerations<number, string>(4)
  for (const key of [1, 2, 3]) map.set(key, 'here')
  for (const key of [1, 3, 7]) map.delete(key)
  assert.deepEqual(held(map, [1, 2, 3]), [2])
  map.clear()
  assert.deepEqual(held(map, [1, 2, 3]), [])
})

test('whatever comes, what it has is what was set last, and the newest keys are among it', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9), { maxLength: 60 }), (keys) => {
      const map = createGenerations<number, number>(6)
      for (const [at, key] of keys.entries()) map.set(key, at)
      const all = [...Array(10).keys()]
      assert.ok(held(map, all).length <= 6)
      for (const key of held(map, all)) assert.equal(map.get(key), keys.lastIndexOf(key))
      assert.equal(map.get(keys.at(-1) ?? -1), keys.length === 0 ? undefined : keys.length - 1)
    }),
  )
})
