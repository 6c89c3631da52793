/** incmon's own heartbeat, sent to a real receiver. Only the minutes in between are skipped. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startHeartbeat } from '../../src/notify/heartbeat.ts'
import { eventually } from '../helpers/server.ts'
import { answering, startReceiver } from './receiver.ts'

const MINUTE = 60_000

function beating(t: TestContext, urlOf: () => string) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const lines: string[] = []
  const log = (facts: object, message: string) => void lines.push(`${message} ${JSON.stringify(facts)}`)
  t.after(startHeartbeat(urlOf, 1_000, { warn: log, info: log }))
  return { lines, minute: () => t.mock.timers.tick(MINUTE) }
}

test('the URL is requested immediately and then every minute', async (t) => {
  const { url, received } = await startReceiver(t)
  const { minute, lines } = beating(t, () => `${url}/ping/1`)
  for (const calls of [1, 2, 3]) {
    await eventually(
      async () => received.length,
      (count) => count === calls,
    )
    minute()
  }
  assert.deepEqual([received[0]?.path, lines], ['/ping/1', []])
})

test('a failing monitor is logged once, and so is its recovery', async (t) => {
  const { url, received } = await startReceiver(
    t,
    answering(500),
    answering(302, '', { location: '/' }),
    answering(200),
  )
  const { minute, lines } = beating(t, () => url)
  for (const calls of [1, 2, 3]) {
    await eventually(
      async () => received.length,
      (count) => count === calls,
    )
    if (calls !== 2)
      await eventually(
        async () => lines.length,
        (count) => count === (calls + 1) / 2,
      )
    minute()
  }
  assert.match(lines[0] ?? '', /could not be sent; check heartbeat-url .*the monitor responded with 500/)
  assert.match(lines[1] ?? '', /works again/)
})

test('without a URL nothing is requested, and a later URL is used', async (t) => {
  const { url, received } = await startReceiver(t)
  let configured = ''
  const { minute, lines } = beating(t, () => configured)
  minute()
  configured = url
  minute()
  await eventually(
    async () => received.length,
    (count) => count === 1,
  )
  assert.deepEqual(lines, [])
})

for (const [url, why] of [
  ['http://127.0.0.1:6667', 'bad port'],
  ['http://nobody.invalid', 'ENOTFOUND'],
] as const)
  test(`the log says why ${url} cannot be requested: ${why}`, async (t) => {
    const { lines } = beating(t, () => url)
    const [line = ''] = await eventually(
      async () => lines,
      ({ length }) => length === 1,
    )
    assert.match(line, new RegExp(`"cause":"${why}"`))
  })
