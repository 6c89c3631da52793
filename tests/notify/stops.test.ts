/** The first message of a channel after a stop of incmon says when incmon was not running. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { startReceiver } from './receiver.ts'
import { notifying } from './world.ts'

const STOP = 'incmon was not running from 12:01 UTC to 12:05 UTC.'

for (const [what, stopped, said] of [
  ['a stop', { from: NOON + MINUTE, to: NOON + 5 * MINUTE }, [true, false]],
  ['a stop before the channel was made', { from: NOON - 5 * MINUTE, to: NOON }, [false, false]],
  ['no stop', null, [false, false]],
] as const) {
  test(`the first message after ${what}, and the second`, async (t) => {
    const { channel, fail, later, messages, settled } = notifying(t, { stopped })
    const { url, received } = await startReceiver(t)
    channel('slack', url)
    later(5)
    for (const service of ['cart', 'web']) {
      await fail(service)
      await settled(() => messages().every(({ status }) => status === 'delivered'))
    }
    assert.deepEqual(
      received.map(({ text }) => text.includes(STOP)),
      said,
    )
  })
}
