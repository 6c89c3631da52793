/** What a channel hears first: alarms do not wait for messages that say that something is over. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ownChannel } from '../helpers/own-channel.ts'

const FOUR = ['a', 'b', 'c', 'd'] as const

/** Four services that have recovered: the channel has just got three all-clears, and one more waits. */
async function afterThreeAllClears(t: TestContext) {
  const own = ownChannel(t)
  own.addOwn()
  for (const service of FOUR) await own.fires(1, service)
  await own.until(2)
  for (const service of FOUR) await own.ends(5, service)
  await own.until(6)
  const clear = own.sent.filter((one) => one.startsWith('recovered')).length
  assert.equal(clear, 3)
  own.sent.length = 0
  return own
}

test('an incident that opens after three all-clears is told at once', async (t) => {
  const { fires, sent } = await afterThreeAllClears(t)
  await fires(6, 'pay')
  assert.deepEqual(sent, ['opened of pay at 6'])
})

test('what is back after three all-clears is told at once', async (t) => {
  const { fires, sent } = await afterThreeAllClears(t)
  await fires(6, 'b')
  assert.deepEqual(sent, ['again of b at 6'])
})

test('what got worse after three all-clears is told at once', async (t) => {
  const own = ownChannel(t)
  own.addOwn()
  for (const service of ['pay', 'a', 'b', 'c']) await own.fires(1, service)
  await own.until(2)
  for (const service of ['a', 'b', 'c']) await own.ends(5, service)
  await own.until(6)
  own.sent.length = 0
  await own.fires(6, 'pay', 'Full')
  assert.deepEqual(own.sent, ['worse of pay (Full) at 6'])
})

test('the fourth all-clear waits, and so does the fourth alarm', async (t) => {
  const { fires, sent, until } = await afterThreeAllClears(t)
  for (const service of ['p', 'q', 'r', 's']) await fires(6, service)
  assert.deepEqual(sent, ['opened of p at 6', 'opened of q at 6', 'opened of r at 6'])
  await until(7)
  const rest = ['recovered of d at 6.5', 'opened of s at 6.5']
  assert.deepEqual(sent.slice(3).toSorted(), rest.toSorted())
})
