/** A cached result equals a fresh one. */

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { cacheByName, cacheLast } from '../../src/domain/memoize.ts'

const shout = (name: string) => (name.length % 3 === 0 ? null : name.length % 3 === 1 ? undefined : name.toUpperCase())

/** Returns how often `find` is called for this sequence of names. */
function asked(...names: string[]): number {
  let times = 0
  const cached = cacheByName((name) => {
    times += 1
    return shout(name)
  })
  for (const name of names) cached(name)
  return times
}

test('A cached name has the same result as an uncached one, in any order', () => {
  const cached = cacheByName(shout)
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 70 })), (names) => {
      for (const name of [...names, ...names]) assert.equal(cached(name), shout(name))
    }),
  )
})

test('A name is computed once, even if the result is null', () => {
  assert.equal(asked('a', 'ab', 'abc', 'a', 'ab', 'abc'), 3)
})

test('A long name is not cached', () => {
  assert.equal(asked('x'.repeat(65), 'x'.repeat(65), 'x'.repeat(64), 'x'.repeat(64)), 3)
})

test('A cache for texts has limits of its own', () => {
  let times = 0
  const cached = cacheByName(
    (text) => {
      times += 1
      return text.length
    },
    { entries: 2, length: 100 },
  )
  for (const length of [100, 100, 101, 101, 1, 2, 100]) assert.equal(cached('x'.repeat(length)), length)
  assert.equal(times, 6)
})

test('The cache of names is bounded', () => {
  const names = Array.from({ length: 1001 }, (_, i) => `name ${i}`)
  assert.equal(asked(...names, 'name 0'), 1002)
})

test('The last object is cached until another one is used', () => {
  const [one, other] = [{ name: 'one' }, { name: 'other' }]
  const seen: object[] = []
  const cached = cacheLast((object: { name: string }) => {
    seen.push(object)
    return object.name
  })
  assert.deepEqual([one, one, other, other, one].map(cached), ['one', 'one', 'other', 'other', 'one'])
  assert.deepEqual(seen, [one, other, one])
})
