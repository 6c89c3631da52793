/** Which ends a channel hears of: nobody is told that something is over without being told that it burned. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownChannel } from '../helpers/own-channel.ts'

const QUIET = { quietHours: { from: '12:00', to: '12:10', timeZone: 'UTC' } }

test('what began and ended in quiet hours is told after them, its end beside its beginning', async (t) => {
  const { addOwn, fires, ends, until, sent } = ownChannel(t, [QUIET])
  addOwn()
  await fires(1, 'cart')
  await ends(3, 'cart')
  await until(15)
  assert.deepEqual(sent, ['opened of cart at 10', 'recovered of cart at 10'])
})

test('an incident that was resolved in quiet hours is told after them, all at once', async (t) => {
  const night = { quietHours: { from: '12:00', to: '12:40', timeZone: 'UTC' } }
  const { addOwn, fires, ends, until, sent } = ownChannel(t, [night])
  addOwn()
  await fires(1, 'cart')
  await ends(3, 'cart')
  await until(42)
  assert.deepEqual(sent, ['opened of cart at 40', 'recovered of cart at 40', 'resolved of cart at 40'])
})

test('what began in quiet hours and ended after them is told as opened and recovered', async (t) => {
  const { addOwn, fires, ends, until, sent } = ownChannel(t, [QUIET])
  addOwn()
  await fires(1, 'cart')
  await ends(12, 'cart')
  await until(15)
  assert.deepEqual(sent, ['opened of cart at 10', 'recovered of cart at 13'])
})

test('what began before quiet hours and ended in them is told as recovered after them', async (t) => {
  const later = { quietHours: { from: '12:02', to: '12:10', timeZone: 'UTC' } }
  const { addOwn, fires, ends, until, sent } = ownChannel(t, [later])
  addOwn()
  await fires(1, 'cart')
  await ends(3, 'cart')
  await until(15)
  assert.deepEqual(sent, ['opened of cart at 1', 'recovered of cart at 10'])
})

test('a problem that came and went twice in quiet hours is told once after them', async (t) => {
  const { addOwn, fires, ends, until, sent } = ownChannel(t, [QUIET])
  addOwn()
  for (const minute of [1, 5]) {
    await fires(minute, 'cart')
    await ends(minute + 1, 'cart')
  }
  await until(15)
  assert.deepEqual(sent, ['opened of cart at 10', 'recovered of cart at 10'])
})

test('a channel that wants only recoveries hears of those in its quiet hours, if others were told', async (t) => {
  const { addOwn, fires, ends, until, sent } = ownChannel(t, [{ ...QUIET, events: ['recovered'] }])
  addOwn()
  await fires(1, 'cart')
  await ends(3, 'cart')
  await until(15)
  assert.deepEqual(sent, ['recovered of cart at 10'])
})

test('what an urgent rule has told in quiet hours does not open once more at their end', async (t) => {
  const urgent = { matchers: [{ name: 'alertname', op: '=', value: 'Full' }] } as const
  const { addOwn, fires, until, sent } = ownChannel(t, [urgent, QUIET])
  addOwn()
  await fires(1, 'cart')
  await fires(4, 'cart', 'Full')
  await until(15)
  assert.deepEqual(sent, ['opened of cart at 4'])
})
