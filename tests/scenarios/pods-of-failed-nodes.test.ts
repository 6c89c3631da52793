/** Critical alerts name the pods of a node that has failed, and not the node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Source } from '../../src/domain/event/event.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'

type Told = readonly [minute: number, source: Source, body: unknown]
const POD = 'cart-6b7c8d9f5-x2kqp'

const event = (minute: number, reason: string, name: string, more: Readonly<Record<string, unknown>> = {}): Told => [
  minute,
  'cluster',
  kubernetesEvent(reason, name, { at: NOON + minute * MINUTE, ...more }),
]
const runs = (pod: string, node = 'worker-2', minute = -60) =>
  event(minute, 'Scheduled', pod, { message: `Successfully assigned shop/${pod} to ${node}` })
const DEAD = event(0, 'NodeNotReady', 'worker-2', { kind: 'Node' })
const fires = (minute: number, labels: Readonly<Record<string, string>>, source: Source = 'metrics'): Told => {
  const told = alert('PodNotReady', labels, { startsAt: NOON + (minute - 0.5) * MINUTE })
  return [minute, source, alertmanager([told])]
}

/** Returns the services of the incidents at the end. */
async function play(t: Parameters<typeof makeFlow>[0], told: readonly Told[]) {
  const flow = makeFlow(t)
  for (const [minute, source, body] of told) {
    await flow.sweepUntil(NOON + minute * MINUTE, MINUTE / 2)
    await flow.send(source, body, { at: NOON + minute * MINUTE })
  }
  await flow.sweepUntil(flow.clock.now + 4 * MINUTE, MINUTE / 2)
  const nameOf = (id: number) => flow.services().find(({ key }) => key === id)?.name
  return flow.incidents().map(({ service_id }) => nameOf(service_id))
}

describe('only the node has an incident if', () => {
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    ['the scheduler said where the pod runs', [runs(POD), DEAD, fires(2, { pod: POD })]],
    [
      'a kubelet said where the pod runs',
      [event(-60, 'Started', POD, { node: 'worker-2' }), DEAD, fires(2, { pod: POD })],
    ],
    [
      'kube-state-metrics names itself, too',
      [
        runs(POD),
        DEAD,
        fires(2, { exported_pod: POD, exported_namespace: 'shop', pod: 'ksm-0', job: 'kube-state-metrics' }),
      ],
    ],
    ['Grafana names the pod', [runs(POD), DEAD, fires(2, { pod: POD }, 'dashboard')]],
    [
      'two pods of two services were there',
      [runs(POD), runs('db-0'), DEAD, fires(2, { pod: POD }), fires(3, { pod: 'db-0' })],
    ],
  ]
  for (const [title, told] of stories)
    test(title, async (t) => assert.deepEqual(await play(t, told), ['node/worker-2']))
})

describe('the service has an incident of its own if', () => {
  const BOTH = ['node/worker-2', 'cart']
  test('the pod runs on another node', async (t) =>
    assert.deepEqual(
      (await play(t, [runs(POD, 'worker-1'), DEAD, fires(2, { pod: POD })])).toSorted(),
      BOTH.toSorted(),
    ))
  test('the alert names no pod', async (t) =>
    assert.deepEqual((await play(t, [runs(POD), DEAD, fires(2, { deployment: 'cart' })])).toSorted(), BOTH.toSorted()))
  test('the alert began long after the node failed', async (t) =>
    assert.deepEqual((await play(t, [runs(POD), DEAD, fires(20, { pod: POD })])).toSorted(), BOTH.toSorted()))
  test('nothing is known about the pod', async (t) =>
    assert.deepEqual((await play(t, [DEAD, fires(2, { pod: POD })])).toSorted(), BOTH.toSorted()))
  test('the pod has moved to another node', async (t) => {
    const moved = runs('db-0', 'worker-1', 1)
    assert.ok((await play(t, [runs('db-0'), DEAD, moved, fires(2, { pod: 'db-0' })])).includes('db'))
  })
})
