/** A sender with a heartbeat that goes silent says nothing about its alerts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, fate, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, times, watchdog } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE
const DOWN = alert('Down', { service: 'cart' }, { startsAt: NOON })

/** Delivers the alert and a heartbeat every two minutes, the last time at 12:18. */
async function deliver(flow: Flow, { beats = true } = {}): Promise<void> {
  for (const at of times(NOON, after(20), 2 * MINUTE)) {
    await flow.sweepUntil(at)
    if (beats) await flow.send('metrics', watchdog(), { at })
    await flow.send('metrics', alertmanager([DOWN]), { at })
  }
}

test('an alert goes on while its sender is silent', async (t) => {
  const flow = makeFlow(t)
  await deliver(flow)
  await flow.sweepUntil(after(180))
  assert.equal(fate(flow)[0], 'firing')
  const open = flow.incidents().filter(({ status }) => status === 'open')
  assert.deepEqual(open.map(({ cause }) => cause).sort(), ['service', 'silence'])
})

test('an alert that the sender repeats when it is back never ended', async (t) => {
  const flow = makeFlow(t)
  await deliver(flow)
  await flow.sweepUntil(after(60))
  await flow.send('metrics', watchdog())
  await flow.sweepUntil(after(61))
  await flow.send('metrics', alertmanager([DOWN]))
  await flow.sweepUntil(after(64))
  assert.deepEqual([fate(flow), flow.incidents().length], [['firing', null, null], 2])
})

test('an alert that the sender does not repeat when it is back ended when it was last seen', async (t) => {
  const flow = makeFlow(t)
  await deliver(flow)
  for (const at of times(after(60), after(70), 2 * MINUTE)) {
    await flow.sweepUntil(at)
    await flow.send('metrics', watchdog(), { at })
    assert.equal(fate(flow)[0], at < after(66) ? 'firing' : 'resolved')
  }
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 18])
})

test('an alert that has lasted a day in silence ends', async (t) => {
  const flow = makeFlow(t)
  await deliver(flow)
  await flow.sweepUntil(after(25 * 60), 10 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 18])
})

test('without a heartbeat, an alert that is not repeated has ended', async (t) => {
  const flow = makeFlow(t)
  await deliver(flow, { beats: false })
  await flow.sweepUntil(after(25))
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 18])
})

test('while the heartbeat or another alert arrives, an alert that is not repeated has ended', async (t) => {
  for (const other of [
    watchdog(),
    alertmanager([alert('Slow', { service: 'cart', severity: 'warning' }, { startsAt: NOON })]),
  ]) {
    const flow = makeFlow(t)
    await deliver(flow)
    for (const at of times(after(20), after(30), 2 * MINUTE)) {
      await flow.sweepUntil(at)
      await flow.send('metrics', other, { at })
    }
    const down = flow.alerts().find(({ name }) => name === 'Down')
    assert.deepEqual([down?.status, down?.resolution], ['resolved', 'inferred'])
  }
})
