/** An organization with two channels: `all`, which gets everything, and `own`, which a test changes. */
import type { TestContext } from 'node:test'
import { changeChannel, createChannel } from '../../src/actions/channels.ts'
import { recordSent, retake, settleMessage, takeMessage } from '../../src/actions/messages.ts'
import { remind } from '../../src/actions/notifications.ts'
import { digestTextOf } from '../../src/domain/notification/digest.ts'
import type { Rule } from '../../src/domain/notification/rule.ts'
import { listDueChannels } from '../../src/store/notification/outbox.ts'
import { changeIncident } from './acts.ts'
import { MINUTE, NOON } from './factory.ts'
import { makeFlow } from './flow.ts'
import { CONTEXT } from './messages.ts'
import { alert, alertmanager } from './senders.ts'

const TARGET = { kind: 'slack', target: 'https://example.com/x' } as const

/**
 * Returns a flow with the channels `all` and `own`, and what `own` was sent: `opened of cart at 2`, in minutes, and the
 * `texts`. `receiver`: how it answers.
 */
export function ownChannel(t: TestContext, rules: readonly Rule[] = [], more: object = {}) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  const add = (name: string, its: readonly Rule[] = []) =>
    createChannel(deps, acme.key, { name, ...TARGET, rules: its, remindAfter: 0, ...more })
  add('all')
  const sent: string[] = []
  const texts: string[] = []
  const receiver = { status: 200 }
  const pump = () => {
    for (const { channelId } of listDueChannels(deps.db, deps.now())) {
      for (let taken = takeMessage(deps, channelId); taken; taken = takeMessage(deps, channelId)) {
        const message = retake(deps, taken)
        if (!message) continue
        const text = digestTextOf(message.items, { ...CONTEXT, now: clock.now, cause: '' })
        recordSent(deps, message, text)
        settleMessage(deps, message, { status: receiver.status, detail: null, remoteId: null, retryAfter: 0 }, 0)
        const at = (clock.now - NOON) / MINUTE
        if (message.channel.name !== 'own' || receiver.status !== 200) continue
        texts.push(`${text.title} ${text.body}`)
        sent.push(
          ...message.items.map(({ kind, service, names }) => {
            return `${kind} of ${service.name}${kind === 'worse' ? ` (${names})` : ''} at ${at}`
          }),
        )
      }
    }
  }
  const until = async (minute: number, step = MINUTE / 2) => {
    while (clock.now < NOON + minute * MINUTE) {
      await flow.sweepUntil(clock.now + step, step)
      remind(deps)
      pump()
    }
  }
  const send = async (minute: number, service: string, isOver = false, name = 'Down') => {
    await until(minute)
    const times = isOver ? { startsAt: clock.now - 1, endsAt: clock.now } : { startsAt: clock.now }
    const labels = { service, namespace: service, severity: 'critical' }
    await flow.send('metrics', alertmanager([alert(name, labels, times)], { groupKey: `${service} ${name}` }))
    pump()
  }
  let { id } = { id: '' }
  const addOwn = (its = rules) => {
    id = add('own', its).id
    pump()
  }
  const change = async (minute: number, to: object) => {
    await until(minute)
    changeChannel(deps, acme.key, id, to)
    pump()
  }
  /** A user changes the first incident. */
  const user = async (minute: number, to: object) => {
    await until(minute)
    await changeIncident(deps, acme.key, flow.incidents()[0]?.id ?? '', to, 'anna')
    pump()
  }
  return {
    ...{ ...flow, until, addOwn, sent, texts, change, user, receiver },
    fires: (minute: number, service: string, name?: string) => send(minute, service, false, name),
    ends: (minute: number, service: string, name?: string) => send(minute, service, true, name),
    off: (minute: number) => change(minute, { enabled: false }),
    on: (minute: number) => change(minute, { enabled: true }),
  }
}
