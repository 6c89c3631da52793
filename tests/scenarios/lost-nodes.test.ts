/** A node fails with the pods of a service, whose own alert follows: the node is the first suspect. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Source } from '../../src/domain/event/event.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'
import { suspectsOf } from '../helpers/suspected.ts'

type Told = readonly [minute: number, source: Source, body: unknown]
const SET = 'checkout-6d5c4b7f9'
const PODS = ['q8w7d', 'z4s2d', 'n7w4x', 'b7k4z'].map((one) => `${SET}-${one}`)

const event = (minute: number, reason: string, name: string, more: { kind?: string; message?: string } = {}): Told => [
  minute,
  'cluster',
  kubernetesEvent(reason, name, { at: NOON + minute * MINUTE, ...more }),
]
const runs = (pod = '', node = 'worker-7', minute = -60) =>
  event(minute, 'Scheduled', pod, { message: `Successfully assigned shop/${pod} to ${node}` })
const NOT_READY = event(9, 'NodeNotReady', 'worker-7', { kind: 'Node', message: 'Node worker-7 is not ready' })
const lost = (pod = '') => event(9, 'NodeNotReady', pod, { message: 'Node is not ready' })
const fires = (minute: number, name: string, labels: Readonly<Record<string, string>>, source: Source = 'metrics') =>
  [minute, source, alertmanager([alert(name, labels, { startsAt: NOON + (minute - 0.5) * MINUTE })])] as const
const DOWN = fires(10, 'CheckoutDown', { deployment: 'checkout' })

/** Returns the first suspect of checkout two minutes after the last report. */
async function firstSuspect(t: Parameters<typeof makeFlow>[0], told: readonly Told[]) {
  const flow = makeFlow(t)
  for (const [minute, source, body] of told.toSorted(([a], [b]) => a - b)) {
    await flow.sweepUntil(NOON + minute * MINUTE)
    await flow.send(source, body, { at: NOON + minute * MINUTE })
  }
  await flow.sweepUntil(flow.clock.now + 2 * MINUTE)
  return suspectsOf(flow, 'checkout')[0]?.ref
}

describe('the node is the first suspect if', () => {
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    ['all pods were on it', [runs(PODS[0]), runs(PODS[1]), NOT_READY, lost(PODS[0]), lost(PODS[1]), DOWN]],
    ['nothing says of its pods that they are lost', [runs(PODS[0]), runs(PODS[1]), NOT_READY, DOWN]],
    ['the pods were assigned long ago', [NOT_READY, lost(PODS[0]), lost(PODS[1]), DOWN]],
    [
      'three of four pods were on it',
      [...PODS.slice(1).map((pod) => runs(pod)), runs(PODS[0], 'worker-2'), NOT_READY, DOWN],
    ],
    [
      'Prometheus reports the node and Grafana the service',
      [
        ...[runs(PODS[0]), runs(PODS[1]), fires(9, 'KubeNodeNotReady', { node: 'worker-7' })],
        fires(10, 'No checkouts', { deployment: 'checkout' }, 'dashboard'),
      ],
    ],
    [
      'a StatefulSet had its only pod there',
      [runs('checkout-0'), NOT_READY, fires(10, 'CheckoutDown', { statefulset: 'checkout' })],
    ],
    [
      'the pods of the template before were elsewhere',
      [
        ...[runs('checkout-5d4f8c7b9-x2kqp', 'worker-2', -90), runs('checkout-5d4f8c7b9-b7k4z', 'worker-3', -90)],
        ...[runs(PODS[0]), runs(PODS[1]), NOT_READY, DOWN],
      ],
    ],
  ]
  for (const [title, told] of stories)
    test(title, async (t) => assert.equal(await firstSuspect(t, told), 'node/worker-7'))
})

describe('the service itself stays the first suspect if', () => {
  const rest = [runs(PODS[0]), ...PODS.slice(1).map((pod) => runs(pod, 'worker-2'))]
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    ['one of four pods was on the node', [...rest, NOT_READY, lost(PODS[0]), DOWN]],
    ['half of the pods were on it', [runs(PODS[0]), runs(PODS[1], 'worker-2'), NOT_READY, DOWN]],
    [
      'the service failed five minutes before the node',
      [runs(PODS[0]), NOT_READY, fires(4, 'CheckoutDown', { deployment: 'checkout' })],
    ],
    [
      'the service failed a quarter of an hour after the node',
      [runs(PODS[0]), NOT_READY, fires(25, 'CheckoutDown', { deployment: 'checkout' })],
    ],
    [
      'its new pods run elsewhere',
      [runs(PODS[0], 'worker-7', -90), runs('checkout-5d4f8c7b9-x2kqp', 'worker-2', -5), NOT_READY, DOWN],
    ],
  ]
  for (const [title, told] of stories)
    test(title, async (t) => assert.equal(await firstSuspect(t, told), 'shop/checkout'))
})
