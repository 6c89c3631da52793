/** Invalid times: wrong clocks, future times, first after last, count 0, and one object seen by two exporters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, kubernetesEvent } from '../helpers/senders.ts'

const HOUR = 60 * MINUTE
const POD = 'cart-5d4f8c7b9-x2kqp'
const minutesOf = (at: number | undefined) => ((at ?? 0) - NOON) / MINUTE

/** Sends an event every minute from an exporter whose clock is ahead. */
async function sendAhead(flow: Flow, minutes: readonly number[], ahead: number): Promise<void> {
  for (const minute of minutes) {
    const at = NOON + minute * MINUTE
    await flow.send('cluster', kubernetesEvent('Started', 'web-5d4f8c7b9-x2kqp', { at: at + ahead }), { at })
  }
}

test('an event from the future happened when it was received', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD, { at: NOON + 3 * HOUR, count: 5 }))
  const [loop] = flow.alerts()
  assert.deepEqual([loop?.starts_at, loop?.last_seen_at, flow.events()[0]?.at], [NOON, NOON, NOON])
})

test('the times of a sender whose clock is two hours ahead are corrected, including the first occurrence', async (t) => {
  const flow = makeFlow(t)
  await sendAhead(flow, [0, 3, 6, 9, 12], 2 * HOUR)
  const loop = { at: NOON + 2 * HOUR + 13 * MINUTE, since: NOON + 2 * HOUR - 20 * MINUTE, count: 12 }
  await flow.send('cluster', crashLoop(POD, loop), { at: NOON + 13 * MINUTE })
  assert.deepEqual([minutesOf(flow.alerts()[0]?.starts_at), minutesOf(flow.alerts()[0]?.last_seen_at)], [-20, 13])
})

test('a node whose clock is ahead does not hide events of a node with a correct clock', async (t) => {
  const flow = makeFlow(t)
  await sendAhead(flow, [0, 3, 6, 9, 12], 2 * HOUR)
  await flow.send('cluster', crashLoop(POD, { at: NOON + 13 * MINUTE, count: 9 }), { at: NOON + 13 * MINUTE })
  const [loop] = flow.alerts()
  assert.deepEqual([loop?.status, minutesOf(loop?.last_seen_at)], ['firing', 13])
  assert.equal(flow.service('cart')?.status, 'critical')
})

test('the times of a sender whose clock is two hours behind are corrected after ten minutes', async (t) => {
  const flow = makeFlow(t)
  await sendAhead(flow, [0, 3, 6, 9, 12], -2 * HOUR)
  await flow.send('cluster', crashLoop(POD, { at: NOON - 2 * HOUR + 13 * MINUTE, count: 9 }), {
    at: NOON + 13 * MINUTE,
  })
  assert.equal(minutesOf(flow.alerts()[0]?.last_seen_at), 13)
  await flow.sweepUntil(NOON + 14 * MINUTE)
  assert.deepEqual(
    flow.incidents().map(({ started_at }) => minutesOf(started_at)),
    [13],
  )
})

test('a correction survives a restart, and explain shows it', async (t) => {
  const flow = makeFlow(t)
  await sendAhead(flow, [0, 3, 6, 9, 12], 2 * HOUR)
  flow.restart()
  const { decisions } = await flow.send('cluster', crashLoop(POD, { at: flow.clock.now + 2 * HOUR }), { dryRun: true })
  assert.equal(decisions?.[0]?.clockOffset, 2 * HOUR)
})

test('an alert from Alertmanager that starts in the future starts now, and later if its clock says so', async (t) => {
  const flow = makeFlow(t)
  for (const minute of [0, 3, 6, 9, 12, 13]) {
    const at = NOON + minute * MINUTE
    const body = alertmanager([alert(`Down${minute}`, { deployment: 'cart' }, { startsAt: at + HOUR - 10_000 })])
    await flow.send('metrics', body, { at })
  }
  assert.deepEqual(
    flow
      .alerts()
      .map(({ starts_at }) => minutesOf(starts_at))
      .slice(0, 1),
    [0],
  )
  assert.ok(Math.abs(minutesOf(flow.alerts()[5]?.starts_at) - 13) < 0.2)
})

test('a first time after the last time becomes the last time', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD, { at: NOON - 5 * MINUTE, since: NOON - MINUTE }))
  assert.deepEqual([flow.alerts()[0]?.starts_at, flow.events()[0]?.first_seen_at], [NOON - 5 * MINUTE, null])
})

test('a count of 0, below 0 or without digits is one occurrence', async (t) => {
  const flow = makeFlow(t)
  for (const [index, count] of ['0', '-3', 'many'].entries()) {
    const pod = `cart${index}-5d4f8c7b9-x2kqp`
    await flow.send('cluster', { ...crashLoop(pod, { at: NOON }), count })
  }
  assert.deepEqual(
    flow.alerts().map(({ occurrences }) => occurrences),
    [1, 1, 1],
  )
})

test('an object reported by two exporters is one service with one alert and one incident', async (t) => {
  const flow = makeFlow(t)
  const loop = crashLoop(POD, { at: NOON, since: NOON - 10 * MINUTE, count: 9 })
  await flow.send('cluster', loop)
  await flow.send('cluster', { ...loop, clusterName: 'prod' }, { at: NOON + 1_000 })
  await flow.sweepUntil(NOON + 2 * MINUTE)
  assert.deepEqual([flow.services().length, flow.alerts().length, flow.incidents().length], [1, 1, 1])
  assert.equal(flow.services()[0]?.cluster, 'prod')
})
