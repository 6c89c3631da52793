/** The end of a storm: similar alerts are one condition, so their ends cost one evaluation, a few seconds later. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const SECOND = 1_000

function down(pod: number, ended: boolean, severity = 'critical') {
  const more = ended ? { endsAt: NOON + MINUTE } : {}
  return alert('Down', { deployment: 'cart', pod: `cart-${pod}`, severity }, { startsAt: NOON, ...more })
}

async function storm(t: Parameters<typeof makeFlow>[0]): Promise<Flow> {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([1, 2, 3].map((pod) => down(pod, false))))
  return flow
}

const status = (flow: Flow) => flow.services()[0]?.status

test('a service stays critical while one of its similar alerts fires, and is due within five seconds', async (t) => {
  const flow = await storm(t)
  await flow.send('metrics', alertmanager([1, 2].map((pod) => down(pod, true))), { at: NOON + MINUTE })
  assert.equal(status(flow), 'critical')
  assert.ok((flow.services()[0]?.evaluate_at ?? Number.POSITIVE_INFINITY) <= NOON + MINUTE + 5 * SECOND)
})

test('the end of the last similar alert is evaluated at once', async (t) => {
  const flow = await storm(t)
  for (const pod of [1, 2, 3]) await flow.send('metrics', alertmanager([down(pod, true)]), { at: NOON + MINUTE })
  assert.equal(status(flow), 'degraded')
})

test('the end of a critical alert is evaluated at once if only a similar warning still fires', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([down(1, false), down(2, false, 'warning')]))
  await flow.send('metrics', alertmanager([down(1, true)]), { at: NOON + MINUTE })
  assert.equal(status(flow), 'degraded')
})
