/** Nothing ends or goes silent because incmon itself did not run: senders get time to repeat what they could not deliver. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withEngine } from '../../src/actions/deps.ts'
import { READERS } from '../../src/intake/index.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, fate, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, iso, times, watchdog } from '../helpers/senders.ts'

const LABELS = { alertname: 'Down', namespace: 'shop', service: 'cart', severity: 'critical' }
const after = (minutes: number) => NOON + minutes * MINUTE

/** Sends a firing alert as Prometheus does, with an end in four minutes. */
function push(flow: Flow, at: number) {
  const body = [{ labels: LABELS, annotations: {}, startsAt: iso(NOON), endsAt: iso(at + 4 * MINUTE) }]
  return flow.submit({ ...flow.delivery('metrics', alertmanager([]), { at }), intake: READERS.prometheus(body, at) })
}

/** Starts incmon anew after some minutes in which it did not run. */
async function stopFor(flow: Flow, minutes: number): Promise<void> {
  flow.clock.now += minutes * MINUTE
  flow.restart()
  Object.assign(flow.deps, withEngine({ ...flow.deps, awaitsRepeats: true }))
  await flow.deps.engine.load()
  while (await flow.deps.engine.sweep());
}

test('an alert that Prometheus repeats after a long stop never ended', async (t) => {
  const flow = makeFlow(t)
  await push(flow, NOON)
  await flow.sweepUntil(after(2))
  await push(flow, after(2))
  await stopFor(flow, 30)
  assert.equal(fate(flow)[0], 'firing')
  await flow.sweepUntil(after(33))
  await push(flow, after(33))
  await flow.sweepUntil(after(36))
  assert.deepEqual([fate(flow), flow.incidents().map(({ status }) => status)], [['firing', null, null], ['open']])
})

test('an alert that nobody repeats after a stop ends six minutes after the start, with its own end', async (t) => {
  const flow = makeFlow(t)
  await push(flow, NOON)
  await stopFor(flow, 30)
  await flow.sweepUntil(after(35))
  assert.equal(fate(flow)[0], 'firing')
  await flow.sweepUntil(after(36))
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 4])
})

test('an end that is reported after a stop counts at once', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('Down')]))
  await stopFor(flow, 30)
  await flow.send('metrics', alertmanager([alert('Down', {}, { endsAt: after(10) })]))
  assert.deepEqual(fate(flow), ['resolved', 'reported', 10])
})

test('a short stop delays no end', async (t) => {
  const flow = makeFlow(t)
  await push(flow, NOON)
  await stopFor(flow, 1)
  await flow.sweepUntil(after(4))
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 4])
})

for (const [minutes, incidents] of [
  [5, 0],
  [7, 1],
] as const) {
  test(`a heartbeat that is missing ${minutes} minutes after a stop opens ${incidents} incident(s)`, async (t) => {
    const flow = makeFlow(t)
    for (const at of times(NOON, after(60), 5 * MINUTE)) {
      await flow.sweepUntil(at)
      await flow.send('metrics', watchdog(), { at })
    }
    await stopFor(flow, 120)
    await flow.sweepUntil(flow.clock.now + minutes * MINUTE)
    assert.equal(flow.incidents().length, incidents)
  })
}
