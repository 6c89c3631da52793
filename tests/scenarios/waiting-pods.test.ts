/** A pod that waits for a node waits no longer once a kubelet works on it. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { playEvents, type Told } from '../helpers/cluster-flow.ts'
import { NOON } from '../helpers/factory.ts'

const POD = 'ads-6b7c8d9f5-x2kqp'
const OTHER = 'ads-6b7c8d9f5-b7k4z'
const INSUFFICIENT = '0/3 nodes are available: 3 Insufficient cpu.'
const waits = (minute: number, pod = POD): Told => [minute, 'FailedScheduling', pod, { message: INSUFFICIENT }]

/** Returns the alerts that fire at the end, although the sender omits `Scheduled`, and the number of incidents. */
async function play(t: TestContext, told: readonly Told[], until = 10) {
  const flow = await playEvents(t, told, until)
  const firing = flow.alerts().filter(({ status }) => status === 'firing')
  return { firing: firing.map(({ name }) => name), incidents: flow.incidents().length }
}

describe('a pod that waited half a minute for a node waits no longer, and opens nothing, after', () => {
  for (const [reason, message] of [
    ['Pulled', 'Container image "ads:1.2" already present on machine'],
    ['Created', 'Created container: ads'],
    ['Started', 'Started container ads'],
  ] as const)
    test(reason, async (t) => {
      assert.deepEqual(await play(t, [waits(0), [0.5, reason, POD, { message }]]), { firing: [], incidents: 0 })
    })
  test('a start that is received before the failure of the scheduler', async (t) => {
    const started: Told = [0.5, 'Started', POD]
    const late: Told = [1, 'FailedScheduling', POD, { message: INSUFFICIENT, at: NOON, since: NOON }]
    assert.deepEqual(await play(t, [started, late]), { firing: [], incidents: 0 })
  })
})

describe('a pod goes on waiting after', () => {
  const STILL = { firing: ['FailedScheduling'], incidents: 1 }
  test('another pod started', async (t) =>
    assert.deepEqual(await play(t, [waits(0), waits(0.2, OTHER), [0.5, 'Started', OTHER]]), STILL))
  test('an event of the cluster autoscaler', async (t) =>
    assert.equal(
      (await play(t, [waits(0), [0.5, 'NotTriggerScaleUp', POD]])).firing.includes('FailedScheduling'),
      true,
    ))
  test('a pod of its name started earlier', async (t) =>
    assert.deepEqual(await play(t, [[0, 'Started', 'db-0'], waits(2, 'db-0')]), STILL))
})
