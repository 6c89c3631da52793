/** A Kubernetes condition that was over and is back within ten minutes: its problem began anew, and so does the minute. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { clusterFlow, SECOND } from '../helpers/cluster-flow.ts'
import { NOON } from '../helpers/factory.ts'
import type { KubernetesMore } from '../helpers/senders.ts'

const POD = 'cart-5d4f8c7b9-x2kqp'
const OTHER = 'cart-5d4f8c7b9-bcdfg'

function world(t: TestContext) {
  const flow = clusterFlow(t)
  const report = (seconds: number, reason: string, object = POD, more: KubernetesMore = {}) =>
    flow.report(seconds, reason, object, more)
  const node = (seconds: number, reason: string) => report(seconds, reason, 'worker-1', { kind: 'Node' })
  /** Returns the first minute of the problem that goes on, and what was told. */
  const state = () => [flow.incidents().map(({ problem }) => (JSON.parse(problem).since - NOON) / SECOND), flow.sent]
  return { ...flow, report, node, state }
}

test('a pod that was ready in between has been critical since its new crash', async (t) => {
  const { report, until, state } = world(t)
  await report(0, 'CrashLoopBackOff')
  await report(20, 'CrashLoopBackOff')
  await report(30, 'PodReady', POD, { type: 'Normal' })
  await report(120, 'CrashLoopBackOff')
  await report(130, 'CrashLoopBackOff')
  await until(178)
  assert.deepEqual(state(), [[], []])
  await until(200)
  assert.deepEqual(state(), [[120], ['opened: cart has been critical since 12:02 UTC']])
})

test('so has a node that was ready twice', async (t) => {
  const { node, until, state } = world(t)
  await node(0, 'NodeNotReady')
  await node(24, 'NodeReady')
  await node(114, 'NodeNotReady')
  await node(144, 'NodeReady')
  await node(240, 'NodeNotReady')
  await until(298)
  assert.deepEqual(state(), [[], []])
  await until(310)
  assert.deepEqual(state(), [[240], ['opened: node/worker-1 has been critical since 12:04 UTC']])
})

test('while another pod crashes, there is no gap', async (t) => {
  const { report, until, state } = world(t)
  await report(0, 'CrashLoopBackOff')
  await report(20, 'CrashLoopBackOff', OTHER)
  await report(30, 'PodReady', POD, { type: 'Normal' })
  await report(45, 'CrashLoopBackOff')
  await until(100)
  assert.deepEqual(state(), [[0], ['opened: cart has been critical since 12:00 UTC']])
})

test('a count without the time of the first event opens an incident once, whatever comes next', async (t) => {
  const { report, until, state } = world(t)
  await report(0, 'CrashLoopBackOff')
  await report(20, 'PodReady', POD, { type: 'Normal' })
  for (const [seconds, count] of [
    [90, 6],
    [93, 7],
    [96, 8],
  ] as const)
    await report(seconds, 'CrashLoopBackOff', POD, { count })
  await until(200)
  assert.deepEqual(state(), [[90], ['opened: cart has been critical since 12:01 UTC']])
})
