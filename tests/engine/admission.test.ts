/** Admission: how much can be pending before requests are rejected. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withEngine } from '../../src/actions/deps.ts'
import { read } from '../../src/http/api/webhooks/bodies.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alertGroup } from '../helpers/payloads.ts'

/** Submits requests of 500 alerts each, all at once. Returns the engine and the reasons for rejections. */
function crowd(flow: Flow, requests: number) {
  const { engine } = withEngine(flow.deps)
  const storm = flow.delivery('metrics', JSON.parse(alertGroup(500)))
  const outcomes = Promise.allSettled(Array.from({ length: requests }, () => engine.submit(storm)))
  const refusals = outcomes.then((all) => all.flatMap((one) => (one.status === 'rejected' ? one.reason.message : [])))
  return { engine, refusals }
}

test('while 10,000 alerts are waiting, a request with more alerts is rejected', async (t) => {
  const { refusals } = crowd(makeFlow(t), 21)
  assert.deepEqual(await refusals, ['too many alerts are pending: nothing from this request was stored, send it again'])
})

test('senders that never retry are accepted until four times as many are waiting', async (t) => {
  const { engine, refusals } = crowd(makeFlow(t), 20)
  engine.admit('ci')
  assert.throws(() => engine.admit('dashboard'), /too many alerts are pending/)
  assert.deepEqual(await refusals, [])
})

test('requests are accepted again after the waiting ones are stored', async (t) => {
  const { engine, refusals } = crowd(makeFlow(t), 20)
  await refusals
  engine.admit('metrics')
})

test('a short body with many items counts as many items', async (t) => {
  const flow = makeFlow(t)
  const { engine } = withEngine(flow.deps)
  const body = Buffer.from(JSON.stringify({ version: '4', alerts: Array.from({ length: 450 }, () => 1) }))
  const { intake } = await read('metrics', body, flow.clock.now)
  const short = { ...flow.delivery('metrics', JSON.parse(alertGroup(1))), intake, bytes: body.length }
  const outcomes = await Promise.allSettled(Array.from({ length: 24 }, () => engine.submit(short)))
  assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 1)
})
