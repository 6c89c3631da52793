/**
 * Any order: the same deliveries within a few minutes lead to the same alerts, services and health, with or without
 * restarts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Source } from '../../src/domain/event/event.ts'
import { sized } from '../faults/size.ts'
import { type Made, MINUTE, makeOrganization, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { inCi } from '../helpers/in-ci.ts'
import { alert, alertmanager, type Body, crashLoop, kubernetesEvent, pipeline } from '../helpers/senders.ts'

const POD = 'cart-5d4f8c7b9-x2kqp'
const OTHER = 'cart-5d4f8c7b9-zzzzz'
const [ONE, TWO, THREE] = [NOON - 3 * MINUTE, NOON - 2 * MINUTE, NOON - MINUTE]
const down = (endsAt?: number) =>
  alertmanager([alert('CartDown', { deployment: 'cart' }, { startsAt: ONE, ...(endsAt ? { endsAt } : {}) })])
const slow = alertmanager([alert('CartSlow', { deployment: 'cart', severity: 'warning' }, { startsAt: TWO })])

/** The events of three minutes, each sent once, in the order in which they happened. */
const STORY: readonly (readonly [Source, Body])[] = [
  ['cluster', kubernetesEvent('FailedScheduling', POD, { at: ONE })],
  ['cluster', kubernetesEvent('FailedScheduling', OTHER, { at: TWO })],
  ['cluster', kubernetesEvent('Scheduled', POD, { at: TWO })],
  ['cluster', kubernetesEvent('Scheduled', OTHER, { at: THREE })],
  ['cluster', crashLoop(POD, { at: TWO })],
  ['cluster', crashLoop(OTHER, { at: THREE, count: 6 })],
  ['cluster', kubernetesEvent('NodeReady', 'worker-2', { kind: 'Node', at: THREE })],
  ['cluster', kubernetesEvent('NodeNotReady', 'worker-2', { kind: 'Node', at: TWO })],
  ['metrics', down()],
  ['metrics', down(TWO)],
  ['metrics', slow],
  ['ci', pipeline('failed', 'shop/pay', { id: 1, at: ONE })],
  ['ci', pipeline('success', 'shop/pay', { id: 2, at: THREE })],
]

/** Sends the events in this order, within ten seconds, and evaluates everything at 12:01. */
async function outcome(flow: Flow, as: Made, order: readonly number[], restartAt = -1) {
  for (const [position, index] of order.entries()) {
    const [source, body] = STORY[index] ?? STORY[0] ?? assert.fail()
    if (position === restartAt) flow.restart()
    await flow.send(source, body, { at: NOON + Math.floor((position / order.length) * 10_000), as })
  }
  await flow.sweepUntil(NOON + MINUTE)
  return {
    alerts: flow
      .alerts(as)
      .map((it) => [it.service, it.name, it.status, it.severity, it.resolution, it.starts_at, it.ends_at].join(' '))
      .sort(),
    services: flow
      .services(as)
      .map(({ name, status, last_alert_at }) => `${name} ${status} ${last_alert_at}`)
      .sort(),
  }
}

const inOrder = STORY.map((_, index) => index)
const anyOrder = fc
  .tuple(
    fc.shuffledSubarray(inOrder, { minLength: STORY.length }),
    fc.array(fc.nat(STORY.length - 1), { maxLength: 4 }),
  )
  .map(([order, copies]) => [...order, ...copies])

test('any order of the same requests, with duplicates, gives the same alerts, services and health', async (t) => {
  const flow = makeFlow(t)
  const expected = await outcome(flow, flow.acme, inOrder)
  let made = 0
  await fc.assert(
    fc.asyncProperty(anyOrder, fc.nat(STORY.length), async (order, restartAt) => {
      const organization = makeOrganization(flow.deps.db, `Organization ${made++}`, 'Team')
      assert.deepEqual(await outcome(flow, organization, order, restartAt), expected)
    }),
    { numRuns: sized(1_000, 100, inCi(60, 15)) },
  )
})

test('late and reversed Kubernetes events end like timely ones', async (t) => {
  const [early, late] = [makeFlow(t), makeFlow(t)]
  const events = inOrder.filter((index) => STORY[index]?.[0] === 'cluster')
  await outcome(early, early.acme, events)
  late.clock.now = NOON + 20 * MINUTE
  for (const index of events.toReversed()) await late.send('cluster', STORY[index]?.[1], { at: late.clock.now + 1 })
  const ends = (flow: Flow) => flow.alerts().map(({ name, status, ends_at }) => `${name} ${status} ${ends_at}`)
  assert.deepEqual(ends(late).sort(), ends(early).sort())
})
