/** What happens at once, such as a container that is killed for its memory, opens an incident if it happens often. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterFlow } from '../helpers/cluster-flow.ts'
import { kubernetesEvent } from '../helpers/senders.ts'

const pod = (index: number) => `cart-7d4b9c6f5d-bcdf${'bcdfghjk'[index]}`
const RECOVERED = 'recovered: cart is no longer reported as critical: it was critical for at least'

for (const [what, gap, pods, lasted] of [
  ['one pod', 60, 1, '7 min'],
  ['one pod, every nine minutes', 540, 1, '1 h 3 min'],
  ['six pods in a row', 120, 6, '14 min'],
  ['two pods in turn', 240, 2, '28 min'],
] as const)
  test(`kills of ${what} open an incident with the fourth, which is over ten minutes after the last`, async (t) => {
    const { report, until, sent, incidents } = clusterFlow(t)
    const last = 7 * gap
    for (let index = 0; index <= 7; index += 1) await report(index * gap, 'OOMKilled', pod(index % pods))
    await until(last + 590)
    assert.deepEqual(sent, ['opened: cart has been critical since 12:00 UTC'])
    await until(last + 615)
    assert.deepEqual(sent.slice(1), [`${RECOVERED} ${lasted}`])
    assert.equal(incidents().length, 1)
  })

for (const [what, times] of [
  ['three kills', [0, 60, 120]],
  ['four kills, of which two were more than ten minutes before', [0, 60, 700, 760]],
] as const)
  test(`${what} open none`, async (t) => {
    const { report, until, incidents } = clusterFlow(t)
    for (const [index, at] of times.entries()) await report(at, 'OOMKilled', pod(index))
    await until(1_500)
    assert.equal(incidents().length, 0)
  })

for (const [what, reason, times] of [
  ['a kill', 'OOMKilled', [0, 60, 120, 180]],
  ['a crash', 'CrashLoopBackOff', [0, 30, 90, 180]],
  ['a failed mount', 'FailedMount', [0, 30, 90, 180]],
] as const)
  test(`${what} that is reported forty seconds late does not say that the rest is over`, async (t) => {
    const { report, send, until, clock, sent } = clusterFlow(t)
    for (const at of times) await report(at, reason, pod(0))
    await until(280)
    await send('cluster', kubernetesEvent(reason, pod(0), { at: clock.now - 40_000 }))
    await until(300)
    assert.deepEqual(
      sent.map((one) => one.split(':')[0]),
      ['opened'],
    )
  })
