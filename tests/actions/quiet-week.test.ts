/** A quiet week in a real cluster notifies nobody, but the first real problem afterwards does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { quietWeek } from '../helpers/quiet-week.ts'
import { crashLoop, watchdog } from '../helpers/senders.ts'

test('a quiet week opens no incident, and a crash loop at its end opens exactly one', async (t) => {
  const flow = makeFlow(t)
  for (const { at, source, body } of quietWeek(NOON)) {
    await flow.sweepUntil(at - 1, 5 * MINUTE)
    await flow.send(source, body, { at })
  }
  assert.deepEqual(
    flow.incidents().map(({ title }) => title),
    [],
  )
  const end = NOON + 7 * DAY
  for (const minute of [0, 1, 3, 6]) {
    await flow.sweepUntil(end + minute * MINUTE)
    await flow.send('metrics', watchdog())
    await flow.send('cluster', crashLoop('pay-5d4f8c7b9-b7k2x', { count: minute * 3 + 1 }))
  }
  assert.deepEqual(
    flow.incidents().map(({ title }) => title),
    ['pay: CrashLoopBackOff'],
  )
})
