/** Who hears that an incident is resolved by itself: not who got the all-clear, unless there is a postmortem. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { retake, settleMessage, takeMessage } from '../../src/actions/messages.ts'
import { listDueChannels } from '../../src/store/notification/outbox.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

type Channel = { readonly kind?: 'slack' | 'webhook'; readonly events?: readonly string[]; readonly isDown?: boolean }

for (const [what, plan, channel, expected, byHand = false] of [
  ['a channel that got the all-clear', 'Free', {}, ['opened', 'recovered']],
  ['the same with a postmortem', 'Pro', {}, ['opened', 'recovered', 'resolved']],
  ['a program', 'Free', { kind: 'webhook' }, ['opened', 'recovered', 'resolved']],
  ['a channel that does not want the all-clear', 'Free', { events: ['opened', 'resolved'] }, ['opened', 'resolved']],
  ['a channel that got the all-clear late', 'Free', { isDown: true }, ['opened', 'recovered']],
  ['a channel, if a user resolves it', 'Free', {}, ['opened', 'recovered', 'resolved'], true],
] as const satisfies [string, 'Free' | 'Pro', Channel, string[], boolean?][]) {
  test(`${what} hears: ${expected.join(', ')}`, async (t) => {
    const { kind = 'slack', events, isDown = false }: Channel = channel
    const { deps, acme, basil, clock, send, sweepUntil, incidents } = makeFlow(t)
    const as = plan === 'Free' ? basil : acme
    const rules = events ? [{ events: [...events] as never }] : []
    createChannel(deps, as.key, { name: 'one', kind, target: 'https://a.example/', rules, remindAfter: 0 })
    const heard: string[] = []
    const pump = (status: number) => {
      for (const { channelId } of listDueChannels(deps.db, clock.now)) {
        const message = takeMessage(deps, channelId)
        if (!message || !retake(deps, message)) continue
        settleMessage(deps, message, { status, detail: null, remoteId: null, retryAfter: 0 }, 0)
        if (status === 200) heard.push(...message.items.map((item) => item.kind))
      }
    }
    const step = async (minute: number, status = 200) => {
      while (clock.now < NOON + minute * MINUTE) {
        await sweepUntil(clock.now + MINUTE)
        pump(status)
      }
    }
    const down = (more: object) => alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON, ...more })])
    await send('metrics', down({}), { as })
    await step(2)
    await send('metrics', down({ endsAt: clock.now }), { as })
    await step(10, isDown ? 503 : 200)
    const open = incidents(as)[0]?.id ?? ''
    if (byHand) await changeIncident(deps, as.key, open, { status: 'resolved' }, 'ann')
    await step(31, isDown ? 503 : 200)
    await step(60)
    assert.deepEqual(heard, expected)
    assert.equal(incidents(as)[0]?.status, 'resolved')
  })
}
