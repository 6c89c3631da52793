/** Many invalid tokens from one address slow down only that address. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWrongTokens } from '../../src/server/connection/wrong-tokens.ts'

function watched() {
  const clock = { now: 0 }
  const wrongTokens = createWrongTokens(() => clock.now)
  const add = (address: string, times = 1) => Array.from({ length: times }, () => wrongTokens.add(address)).at(-1)
  return { clock, add, done: wrongTokens.done }
}

test('a hundred wrong tokens are answered immediately, and the next one is delayed', () => {
  const { add } = watched()
  assert.deepEqual([add('192.0.2.1', 100), add('192.0.2.1')], [0, 1_000])
})

test('a thousand from one address do not delay another address', () => {
  const { add } = watched()
  add('192.0.2.1', 1_000)
  assert.equal(add('192.0.2.2'), 0)
})

test('after a second without wrong tokens, one more is answered immediately', () => {
  const { add, clock } = watched()
  add('192.0.2.1', 101)
  clock.now = 1_000
  assert.deepEqual([add('192.0.2.1'), add('192.0.2.1')], [0, 1_000])
})

test('addresses in one IPv6 network are counted together', () => {
  const { add } = watched()
  add('2001:db8::1', 100)
  assert.deepEqual([add('2001:db8:0:0:1:2:3:4'), add('2001:db8:0:1::1')], [1_000, 0])
})

test('at most a hundred responses are delayed at the same time', () => {
  const { add, done } = watched()
  assert.equal(add('192.0.2.1', 200), 1_000)
  assert.equal(add('192.0.2.1'), 0)
  done()
  assert.equal(add('192.0.2.1'), 1_000)
})

test('the least recently seen address is forgotten first', () => {
  const { add } = watched()
  add('192.0.2.1', 100)
  for (let host = 0; host < 10_000; host += 1) add(`10.0.${host >> 8}.${host & 255}`)
  assert.equal(add('192.0.2.1'), 0)
})
