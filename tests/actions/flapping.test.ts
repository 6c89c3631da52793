/** What a channel hears of an incident that flaps. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ownChannel } from '../helpers/own-channel.ts'

/** Returns a world in which `cart` has been flapping since minute 12 and recovered at 14, and what was sent since then. */
async function flapping(t: TestContext, more: object = {}) {
  const world = ownChannel(t, [], more)
  world.addOwn()
  for (const minute of [0, 4, 8, 12]) {
    await world.fires(minute, 'cart')
    await world.ends(minute + 1, 'cart')
  }
  await world.until(14)
  assert.equal(world.sent.pop(), 'flapping of cart at 12')
  world.sent.length = 0
  return world
}

test('a return that ends soon waits for the digest', async (t) => {
  const { fires, ends, until, sent } = await flapping(t)
  await fires(16, 'cart')
  await ends(19, 'cart')
  await until(26)
  assert.deepEqual(sent, [])
  await until(28)
  assert.deepEqual(sent, ['recovered of cart at 27', 'again of cart at 27', 'recovered of cart at 27'])
})

test('a return that lasts five minutes is told then, and not again with the digest', async (t) => {
  const { fires, until, sent } = await flapping(t)
  await fires(16, 'cart')
  await until(30)
  assert.deepEqual(sent, ['again of cart at 21'])
})

test('a return just before the digest is told with it', async (t) => {
  const { fires, until, sent } = await flapping(t)
  await fires(25, 'cart')
  await until(33)
  assert.deepEqual(sent, ['recovered of cart at 27', 'again of cart at 27'])
})

test('a reminder does not wait for the digest', async (t) => {
  const { fires, until, sent } = await flapping(t, { remindAfter: 3, remindEvery: 30 })
  await fires(16, 'cart')
  await until(30)
  assert.deepEqual(sent, ['reminder of cart at 19'])
})

test('minutes until a reminder count from the return, and not from the digest about it', async (t) => {
  const { fires, until, sent } = await flapping(t, { remindAfter: 7, remindEvery: 30 })
  await fires(16, 'cart')
  await until(30)
  assert.deepEqual(sent, ['again of cart at 21', 'reminder of cart at 23'])
})

test('nobody is reminded of a return that has ended', async (t) => {
  const { fires, ends, until, sent } = await flapping(t, { remindAfter: 3, remindEvery: 30 })
  await fires(16, 'cart')
  await ends(18, 'cart')
  await until(26)
  assert.deepEqual(sent, [])
})

test('a condition that the incident never had is told at once, also as a return', async (t) => {
  const { fires, until, sent } = await flapping(t)
  await fires(16, 'cart', 'Full')
  await until(20)
  assert.deepEqual(sent, ['worse of cart (Full) at 16'])
})

test('a condition that the incident has had is told once', async (t) => {
  const { fires, until, sent } = await flapping(t)
  await fires(16, 'cart')
  await fires(17, 'cart', 'Full')
  await until(30)
  assert.deepEqual(sent, ['worse of cart (Full) at 17', 'again of cart at 21'])
})

test('a return after a user resolved the incident is told at once', async (t) => {
  const { fires, user, until, sent } = await flapping(t)
  await user(15, { status: 'resolved' })
  await fires(16, 'cart')
  await until(33)
  assert.deepEqual(sent, ['resolved of cart at 15', 'again of cart at 16'])
})

test('so is another condition, which fires after what the user left on has ended', async (t) => {
  const { fires, ends, user, until, sent } = await flapping(t)
  await fires(15, 'cart')
  await user(16, { status: 'resolved' })
  await ends(17, 'cart')
  await fires(17.5, 'cart', 'Full')
  await until(33)
  assert.deepEqual(sent, ['resolved of cart at 16', 'again of cart at 17.5'])
})

test('an acknowledgement does not end the flapping', async (t) => {
  const { fires, ends, user, until, sent } = await flapping(t)
  await user(15, { status: 'investigating' })
  await fires(16, 'cart')
  await ends(17, 'cart')
  await until(26)
  assert.deepEqual(sent, ['acknowledged of cart at 15'])
})

test('a channel that wants returns hears of the flapping, of each digest, and of the last end', async (t) => {
  const world = ownChannel(t, [{ events: ['opened', 'recovered', 'again'] }])
  world.addOwn()
  for (const minute of [0, 4, 8, 12]) {
    await world.fires(minute, 'cart')
    await world.ends(minute + 1, 'cart')
  }
  await world.until(28)
  assert.deepEqual(world.sent.slice(-2), ['flapping of cart at 12', 'recovered of cart at 27'])
})
