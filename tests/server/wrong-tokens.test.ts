/** Many invalid tokens from one address slow down only that address. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWrongTokens } from '../../src/server/connection/wrong-tokens.ts'

function watched() {
  const clock = { now: 0 }
  const wrongTokens = createWrongTokens(() => clock.now)
  const add = (address: string, times = 1, isSender = false) =>
    Array.from({ length: times }, () => wrongTokens.add(address, isSender)).at(-1)
  return { clock, add, done: wrongTokens.done, senders: wrongTokens.senders }
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

test('refused senders are listed for an hour, and other requests are not', () => {
  const { add, clock, senders } = watched()
  add('192.0.2.1', 3, true)
  add('192.0.2.2', 3)
  clock.now = 60_000
  add('192.0.2.1')
  assert.deepEqual(senders(), { newest: [{ network: '192.0.2.1', times: 3, withinMs: 0, agoMs: 60_000 }], more: 0 })
  clock.now = 3_600_000
  assert.deepEqual(senders(), { newest: [], more: 0 })
})

test('rejections before a pause of an hour are not counted', () => {
  const { add, clock, senders } = watched()
  const now = 90 * 60_000
  add('192.0.2.1', 500, true)
  for (clock.now = 70 * 60_000; clock.now <= now; clock.now += 10 * 60_000) add('192.0.2.1', 1, true)
  clock.now = now
  assert.deepEqual(senders().newest, [{ network: '192.0.2.1', times: 3, withinMs: 20 * 60_000, agoMs: 0 }])
})

test('rejections without a pause of an hour are counted with their whole period', () => {
  const { add, clock, senders } = watched()
  for (let minute = 0; minute < 300; minute += 30) {
    clock.now = minute * 60_000
    add('192.0.2.1', 1, true)
  }
  assert.deepEqual(senders().newest, [{ network: '192.0.2.1', times: 10, withinMs: 270 * 60_000, agoMs: 0 }])
})

test('five refused networks do not hide a sender that is refused later in the same millisecond', () => {
  const { add, senders } = watched()
  for (let host = 1; host <= 6; host += 1) add(`192.0.2.${host}`, 1, true)
  assert.equal(senders().newest[0]?.network, '192.0.2.6')
})

test('only the five newest refused networks are listed, and the others are counted', () => {
  const { add, clock, senders } = watched()
  for (let host = 1; host <= 300; host += 1) {
    clock.now = host
    add(`10.0.${host >> 8}.${host & 255}`, 1, true)
  }
  const { newest, more } = senders()
  assert.deepEqual([newest.map(({ agoMs }) => agoMs), newest[0]?.network, more], [[0, 1, 2, 3, 4], '10.0.1.44', 295])
})
