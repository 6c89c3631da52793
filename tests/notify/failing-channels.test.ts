/** Messages that say that another channel fails, or works again. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { changeChannel, createChannel } from '../../src/actions/channels.ts'
import { SWITCHED_OFF } from '../../src/domain/notification/schedule.ts'
import { createFailureNotes } from '../../src/notify/failing-channels.ts'
import { allowing } from '../../src/server/connection/addresses.ts'
import { findChannelByName, recordDelivery, recordFailure } from '../../src/store/notification/channels.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { startReceiver } from './receiver.ts'

const WHY = 'the receiver responded with 503'

/** Acme has the channels pager and chat, and Basil has one, too. */
async function channels(t: TestContext) {
  const { deps, acme, basil, clock } = makeFlow(t)
  const { url, received } = await startReceiver(t)
  const network = { resolve: async () => [], isAllowed: allowing(['127.0.0.0/8']), timeoutMs: 60_000 }
  const options = { transports: () => ({ network, mailServer: null }), publicUrl: () => 'https://incmon.example.com' }
  for (const name of ['pager', 'chat'])
    createChannel(deps, acme.key, {
      name,
      kind: 'webhook',
      target: `${url}/${name}`,
      rules: [{ events: ['resolved'] }],
    })
  createChannel(deps, basil.key, { name: 'basil', kind: 'webhook', target: `${url}/basil` })
  const rowOf = (name: string) => findChannelByName(deps.db, acme.key, name)?.rowId ?? assert.fail(name)
  const fail = (name: string) => recordFailure(deps.db, rowOf(name), WHY, clock.now, false)
  const disable = (name: string) => {
    const why = `${SWITCHED_OFF}the receiver responded with 410`
    recordFailure(deps.db, rowOf(name), why, clock.now, true)
  }
  const work = (name: string) => recordDelivery(deps.db, rowOf(name), clock.now)
  const start = () => createFailureNotes(deps, options)
  const look = start()
  /** Looks some minutes after noon, and returns the messages that were sent then. */
  const at = async (minutes: number, looking = look) => {
    clock.now = NOON + minutes * MINUTE
    const before = received.length
    for (const { key } of [acme, basil]) await looking(key)
    return received.slice(before).map(({ text }) => {
      const { type, data } = JSON.parse(text)
      return `${type}: ${data.message.title} ${data.message.body}`
    })
  }
  return { deps, acme, fail, disable, work, at, start, received }
}

test('after five minutes, the other channel of the organization hears once that a channel fails', async (t) => {
  const { fail, at, received } = await channels(t)
  fail('pager')
  assert.deepEqual(await at(4.9), [])
  const failed = `Messages to pager have failed since 12:00 UTC. The last attempt failed: ${WHY}.`
  assert.deepEqual(await at(5), [`channel: ${failed}`])
  fail('pager')
  assert.deepEqual(await at(60), [])
  assert.deepEqual(
    received.map(({ path }) => path),
    ['/chat'],
  )
})

test('the other channel hears that a channel works again, if it heard that it failed', async (t) => {
  const { fail, work, at } = await channels(t)
  fail('pager')
  await at(2)
  work('pager')
  assert.deepEqual(await at(6), [])
  fail('pager')
  await at(12)
  work('pager')
  assert.deepEqual(await at(13), ['channel: Messages to pager are delivered again. They failed for 7 min.'])
  assert.deepEqual(await at(14), [])
})

test('if all channels fail, the first that works again hears of the other', async (t) => {
  const { fail, work, at } = await channels(t)
  for (const name of ['pager', 'chat']) fail(name)
  assert.deepEqual(await at(6), [])
  work('chat')
  assert.equal((await at(7)).length, 1)
})

test('after a restart, a channel that still fails is not told again, but that it works again', async (t) => {
  const { fail, work, at, start } = await channels(t)
  fail('pager')
  await at(6)
  const restarted = start()
  assert.deepEqual(await at(7, restarted), [])
  work('pager')
  assert.deepEqual(await at(8, restarted), ['channel: Messages to pager are delivered again. They failed for 8 min.'])
})

test('a channel that had failed for less than five minutes when incmon stopped is told after the start', async (t) => {
  const { fail, at, start } = await channels(t)
  fail('pager')
  await at(4)
  assert.equal((await at(8, start())).length, 1)
})

test('that a channel was disabled is told at once, and not again after a restart', async (t) => {
  const { disable, at, start } = await channels(t)
  disable('pager')
  const gone = 'incmon has disabled the channel, because the receiver responded with 410.'
  const expected = [`channel: Messages to pager are not sent any more. ${gone}`]
  assert.deepEqual(await at(0), expected)
  assert.deepEqual(await at(10), [])
  assert.deepEqual(await at(20, start()), [])
})

test('a channel that failed first and is disabled then is told twice', async (t) => {
  const { fail, disable, at } = await channels(t)
  fail('pager')
  assert.equal((await at(6)).length, 1)
  disable('pager')
  assert.match((await at(7)).join(), /are not sent any more/)
  assert.deepEqual(await at(8), [])
})

test('a channel that a user has disabled is not told, although its last message failed', async (t) => {
  const { fail, at, deps, acme } = await channels(t)
  fail('pager')
  const { id } = findChannelByName(deps.db, acme.key, 'pager') ?? assert.fail()
  changeChannel(deps, acme.key, id, { enabled: false })
  assert.deepEqual(await at(6), [])
})
