/** Alertmanager reports a further alert minutes after it began: what an incident says about a gap that never was. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { toProblem } from '../../src/store/incident/live-incidents.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { criticalMsOf } from '../helpers/lengths.ts'
import { ownChannel } from '../helpers/own-channel.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** A fires from minute 1 to 10, and another alert from `from` to 20, which is delivered at 13. Returns the last message. */
async function late(t: TestContext, from: number) {
  const name = 'Full'
  const flow = ownChannel(t)
  const { addOwn, fires, ends, until, send, incidents, texts } = flow
  addOwn()
  await fires(1, 'cart')
  await ends(10, 'cart')
  await until(13)
  const labels = { service: 'cart', namespace: 'cart', severity: 'critical' }
  const second = (times: object) =>
    send(
      'metrics',
      alertmanager([alert(name, labels, { startsAt: NOON + from * MINUTE, ...times })], { groupKey: name }),
    )
  await second({})
  await until(20)
  await second({ endsAt: NOON + 20 * MINUTE })
  await until(23)
  const [incident] = incidents()
  return { text: texts.at(-1) ?? '', criticalMs: criticalMsOf(toProblem(incident?.problem ?? '{}'), 0) }
}

test('what began before the end and is reported after it leaves no gap', async (t) => {
  const { text, criticalMs } = await late(t, 8)
  assert.equal(criticalMs, 19 * MINUTE)
  assert.match(text, /^cart has recovered: it was critical for 19 min, until 12:20 UTC/)
})

test('what began after the end leaves the gap that there was', async (t) => {
  const { criticalMs } = await late(t, 12)
  assert.equal(criticalMs, 17 * MINUTE)
})
