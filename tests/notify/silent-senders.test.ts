/** A sender that goes silent: reminders about its alerts say when they were last reported. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remind } from '../../src/actions/notifications.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, watchdog } from '../helpers/senders.ts'
import { startReceiver } from './receiver.ts'
import { notifying } from './world.ts'

const DOWN = alert('Down', { service: 'cart' }, { startsAt: NOON + 15 * MINUTE })
const ENDED = alert('Slow', { service: 'web' }, { startsAt: NOON + 9 * MINUTE, endsAt: NOON + 14 * MINUTE })

/** Its heartbeat arrives every two minutes, but for an outage of 5.5 minutes. The alert is never repeated. */
for (const [how, settings] of [
  ['a reminder', { remindAfter: 10 }],
  ['an escalation', { escalateAfter: 10 }],
] as const) {
  test(`${how} about an alert of a sender that is silent again says when it was last reported`, async (t) => {
    const { channel, messages, send, settled, sweepUntil, deps } = notifying(t)
    const { url, received } = await startReceiver(t)
    channel('webhook', url, settings)
    for (const minute of [-15, -13, -11, -5.5, -3.5, -1.5, 0]) {
      await sweepUntil(NOON + (15 + minute) * MINUTE)
      await send('metrics', watchdog({ startsAt: NOON }))
    }
    await send('metrics', alertmanager([ENDED], { groupKey: 'ended' }))
    await send('metrics', alertmanager([DOWN]))
    const areDelivered = () => messages().every(({ status }) => status === 'delivered')
    await settled(areDelivered)
    await sweepUntil(NOON + 25.5 * MINUTE)
    await settled(areDelivered)
    remind(deps)
    const told = () => messages().filter(({ kind }) => kind === 'reminder' || kind === 'escalation')
    await settled(() => told().some(({ status }) => status === 'delivered'))
    const titles = received.map(({ text }) => text)
    const expected = /: cart has been critical since 12:15 UTC, last reported at 12:15 UTC/
    assert.ok(
      titles.some((title) => expected.test(title)),
      titles.join('\n'),
    )
  })
}

test('messages about alerts whose ends prove nothing say so', async (t) => {
  const { channel, messages, send, settled, sweepUntil, deps } = notifying(t)
  const { url, received } = await startReceiver(t)
  channel('webhook', url, { remindAfter: 10 })
  const told = (kind: string) => () => messages().some((one) => one.kind === kind && one.status === 'delivered')
  for (const minute of [0, 2, 4, 6, 8, 10]) {
    await sweepUntil(NOON + minute * MINUTE)
    await send('metrics', watchdog({ startsAt: NOON }))
    await send('metrics', alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON })]))
    await settled(told('opened'))
  }
  await sweepUntil(NOON + 12 * MINUTE)
  await send(
    'metrics',
    alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON, endsAt: NOON + 11.5 * MINUTE })]),
  )
  await sweepUntil(NOON + 14.5 * MINUTE)
  await settled(told('recovered'))
  await send('metrics', watchdog({ startsAt: NOON, endsAt: NOON + 12 * MINUTE }))
  await sweepUntil(NOON + 14.6 * MINUTE)
  await settled(() => told('again')() && told('sender-silent')())
  await sweepUntil(NOON + 25 * MINUTE)
  remind(deps)
  await settled(() => messages().every(({ status }) => status === 'delivered'))
  const titles = received.map(({ text }) => /"message":\{"title":"(.*?)"/.exec(text)?.[1] ?? '')
  // On a busy machine, the clock moves on while a message is sent.
  const timeless = titles.map((title) => title.replace(/ \((?:just now|\d[^)]*)\)/, '')).sort()
  assert.deepEqual(
    [...new Set(timeless)],
    [
      'Alertmanager (incmon) has sent no heartbeat since 12:12 UTC.',
      'Nobody has acknowledged this yet: Alertmanager (incmon) has sent no heartbeat since 12:12 UTC.',
      'Nobody has acknowledged this yet: cart has been critical since 12:00 UTC, last reported at 12:10 UTC.',
      'The all-clear is uncertain: cart has been critical since 12:00 UTC, last reported at 12:10 UTC.',
      'cart has been critical since 12:00 UTC.',
      'cart has recovered: it was critical for 11 min 30 s, until 12:11 UTC.',
    ],
  )
})
