/**
 * Silent senders: how the delivery intervals of a group and its receiver show that an alert is over although nobody
 * ended it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, fate, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, times } from '../helpers/senders.ts'

const HOUR = 60 * MINUTE
const SLOW = alert('CartSlow', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON })

async function repeat(flow: Flow, body: unknown, from: number, to: number, every: number): Promise<void> {
  for (const at of times(from, to, every)) {
    await flow.sweepUntil(at, 10 * MINUTE)
    await flow.send('metrics', body, { at })
  }
}

test('a receiver that has reported an end reports all ends, so nothing expires', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('Other', {}, { endsAt: NOON })], { groupKey: 'other' }))
  await flow.send('metrics', alertmanager([SLOW]))
  await flow.sweepUntil(NOON + 48 * HOUR, HOUR)
  assert.equal(flow.alerts()[1]?.status, 'firing')
})

test('without reported ends the delivery interval is learned, and an alert ends after three missed repeats', async (t) => {
  const flow = makeFlow(t)
  await repeat(flow, alertmanager([SLOW]), NOON, NOON + 9 * HOUR, 4 * HOUR)
  await flow.sweepUntil(NOON + 19 * HOUR + 50 * MINUTE, 10 * MINUTE)
  assert.equal(fate(flow)[0], 'firing')
  await flow.sweepUntil(NOON + 20 * HOUR, 10 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 8 * 60])
})

test('an interval of two minutes ends an alert after six minutes, never before five', async (t) => {
  const flow = makeFlow(t)
  await repeat(flow, alertmanager([SLOW]), NOON, NOON + 9 * MINUTE, 2 * MINUTE)
  await flow.sweepUntil(NOON + 13 * MINUTE)
  assert.equal(fate(flow)[0], 'firing')
  await flow.sweepUntil(NOON + 14 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 8])
})

test('after an outage of a day the interval of two minutes is learned again', async (t) => {
  const flow = makeFlow(t)
  const back = NOON + 25 * HOUR
  await repeat(flow, alertmanager([SLOW]), NOON, NOON + HOUR, 2 * MINUTE)
  await repeat(flow, alertmanager([SLOW]), back, back + 2 * HOUR, 2 * MINUTE)
  await flow.sweepUntil(back + 2 * HOUR + 10 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 27 * 60 - 2])
})

test('a storm with changing members does not affect the learned interval', async (t) => {
  const flow = makeFlow(t)
  for (const at of times(NOON, NOON + 10 * MINUTE, MINUTE / 2)) {
    await flow.send('metrics', alertmanager([SLOW, alert(`Storm${at}`)]), { at })
  }
  await flow.sweepUntil(NOON + HOUR, 10 * MINUTE)
  assert.equal(flow.alerts()[0]?.status, 'firing')
})

test('an alert without a known delivery interval ends after four and a half hours without a repeat', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([SLOW]))
  await flow.sweepUntil(NOON + 4 * HOUR + 29 * MINUTE, 10 * MINUTE)
  assert.equal(fate(flow)[0], 'firing')
  await flow.sweepUntil(NOON + 4 * HOUR + 30 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 0])
})

test('a repeat after an inferred end revokes that end, however late it is', async (t) => {
  const flow = makeFlow(t)
  await repeat(flow, alertmanager([SLOW]), NOON, NOON + 9 * MINUTE, 2 * MINUTE)
  await flow.sweepUntil(NOON + 3 * HOUR, 10 * MINUTE)
  assert.equal(fate(flow)[0], 'resolved')
  await flow.send('metrics', alertmanager([SLOW]), { at: NOON + 3 * HOUR })
  assert.deepEqual(fate(flow), ['firing', null, null])
})

test("a member missing before the interval was known ends according to the others' interval", async (t) => {
  const flow = makeFlow(t)
  const other = alert('CartLate', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON })
  await flow.send('metrics', alertmanager([other, SLOW]))
  await repeat(flow, alertmanager([SLOW]), NOON + 2 * MINUTE, NOON + 13 * MINUTE, 2 * MINUTE)
  assert.deepEqual(
    flow.alerts().map(({ status }) => status),
    ['resolved', 'firing'],
  )
})

test('a member omitted by a truncated notification is not missing', async (t) => {
  const flow = makeFlow(t)
  const other = alert('CartLate', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON })
  await flow.send('metrics', alertmanager([other, SLOW]))
  const cut = alertmanager([SLOW], { truncatedAlerts: 1 })
  await repeat(flow, cut, NOON + 2 * MINUTE, NOON + 60 * MINUTE, 2 * MINUTE)
  assert.deepEqual(
    flow.alerts().map(({ status }) => status),
    ['firing', 'firing'],
  )
})

test('a restart preserves interval, reopening and expiry', async (t) => {
  const flow = makeFlow(t)
  await repeat(flow, alertmanager([SLOW]), NOON, NOON + 5 * MINUTE, 2 * MINUTE)
  flow.restart()
  await repeat(flow, alertmanager([SLOW]), NOON + 6 * MINUTE, NOON + 9 * MINUTE, 2 * MINUTE)
  flow.restart()
  await flow.sweepUntil(NOON + 14 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 8])
  flow.restart()
  await flow.send('metrics', alertmanager([SLOW]), { at: NOON + HOUR })
  assert.deepEqual(fate(flow), ['firing', null, null])
})
