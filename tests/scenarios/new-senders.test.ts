/** What the silence of a sender of Kubernetes events means before it has reported a repeat, and if it never does. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { type Body, kubernetesEvent } from '../helpers/senders.ts'

const POD = 'web-7d9f6c5b8d-2xk4p'
const FAILED = 'Readiness probe failed: HTTP probe failed with statuscode: 503'
const iso = (minutes: number) => new Date(NOON + minutes * MINUTE).toISOString()

const flat = (reason: string, message: string, more: Body = {}) => ({
  ...kubernetesEvent(reason, POD, { message, at: NOON, type: 'Warning' }),
  ...more,
})
/** As events.k8s.io/v1 has it: `series` only after a repeat, and a count under its old name. */
const modern = (more: Body = {}) => ({
  ...{ reason: 'Unhealthy', note: FAILED, type: 'Warning', eventTime: iso(0) },
  ...{ regarding: { kind: 'Pod', namespace: 'shop', name: POD }, ...more },
})

/** Returns after how many minutes the alert about one event has ended. `before`: how many other events came before. */
async function minutesUntilTheEnd(t: Parameters<typeof makeFlow>[0], body: unknown, before: readonly Body[] = []) {
  const flow = makeFlow(t)
  for (const one of before) await flow.send('cluster', one, { at: NOON })
  await flow.send('cluster', body, { at: NOON })
  for (let minute = 1; minute <= 70; minute += 1) {
    await flow.sweepUntil(NOON + minute * MINUTE, MINUTE / 2)
    if (flow.alerts().every(({ status }) => status !== 'firing')) return minute
  }
  return null
}

/** Events about pods that start. Nothing is repeated. */
const starts = (count: number): Body[] =>
  Array.from({ length: count }, (_, n) => {
    return kubernetesEvent('Started', `cart-5d4f8c7b9-x2k${n}`, { type: 'Normal', at: NOON, message: `Started ${n}` })
  })

describe('the documented limit holds for', () => {
  const stories: readonly (readonly [string, number, unknown, (readonly Body[])?])[] = [
    ['the first event of a sender', 3, flat('Unhealthy', FAILED)],
    ['an event without a count', 3, flat('Unhealthy', FAILED, { count: null })],
    ['an event without a count and times', 3, flat('Unhealthy', FAILED, { count: null, firstTime: '', lastTime: '' })],
    ['the first back-off', 5, flat('BackOff', 'Back-off restarting failed container app')],
    ['the first failed mount', 15, flat('FailedMount', 'MountVolume.SetUp failed for volume "data"')],
    ['an event of events.k8s.io/v1', 3, modern()],
    ['one with `deprecatedCount`', 3, modern({ deprecatedCount: 1, deprecatedLastTimestamp: iso(0) })],
    ['one with `series`', 3, modern({ series: { count: 2, lastObservedTime: iso(0) } })],
    ['a sender that has sent 90 events and no repeat', 3, flat('Unhealthy', FAILED), starts(90)],
    [
      'a sender whose only sign of a repeat is a later last time',
      3,
      flat('Unhealthy', FAILED),
      [...starts(110), flat('Pulling', 'Pulling image', { count: null, firstTime: iso(-5), type: 'Normal' })],
    ],
  ]
  for (const [title, minutes, body, before] of stories)
    test(title, async (t) => assert.equal(await minutesUntilTheEnd(t, body, before), minutes))
})

describe('an hour holds for', () => {
  test('a sender that has sent more than 100 events and no repeat', async (t) =>
    assert.equal(await minutesUntilTheEnd(t, flat('Unhealthy', FAILED), starts(110)), 60))
  test('its crash loop, which it reports once', async (t) =>
    assert.equal(
      await minutesUntilTheEnd(t, flat('BackOff', 'Back-off restarting failed container app'), starts(110)),
      60,
    ))
})
