/** What an all-clear says: a service is not well while another incident of it goes on, and people have names. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { retake, settleMessage, takeMessage } from '../../src/actions/messages.ts'
import { digestTextOf } from '../../src/domain/notification/digest.ts'
import { listDueChannels } from '../../src/store/notification/outbox.ts'
import { changeIncident, createIncident, mergeIncidents, resolveAlert } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { CONTEXT, healed, messageItem } from '../helpers/messages.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

function world(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  /** Returns the tone and the title of what is sent until this minute. */
  const until = async (minute: number) => {
    await flow.sweepUntil(NOON + minute * MINUTE)
    const sent: string[] = []
    for (const { channelId } of listDueChannels(deps.db, clock.now)) {
      for (let taken = takeMessage(deps, channelId); taken; taken = takeMessage(deps, channelId)) {
        const message = retake(deps, taken)
        if (!message) continue
        settleMessage(deps, message, { status: 200, detail: null, remoteId: null, retryAfter: 0 }, 0)
        const { tone, title } = digestTextOf(message.items, { ...CONTEXT, now: clock.now })
        sent.push(`${tone}: ${title}`)
      }
    }
    return sent
  }
  const send = (service: string, name: string, isOver = false) => {
    const times = isOver ? { startsAt: clock.now - 1000, endsAt: clock.now } : { startsAt: clock.now }
    return flow.send('metrics', alertmanager([alert(name, { service }, times)], { groupKey: `${service} ${name}` }))
  }
  const declare = (service: string, title: string) => {
    const serviceId = flow.service(service)?.id ?? ''
    return createIncident(deps, acme.key, { title, serviceId, severity: 'critical' }, 'ann')
  }
  const resolve = (name: string) => {
    const id = flow.alerts().find((one) => one.name === name)?.id ?? ''
    return resolveAlert(deps, acme.key, id, 'ann')
  }
  return { ...flow, until, send, declare, resolve }
}

test('while a declared incident of the service goes on, the all-clear says what is over and what goes on', async (t) => {
  const { until, send, declare } = world(t)
  await send('pay', 'Down')
  await until(1)
  await declare('pay', 'No payments')
  await until(2)
  await send('pay', 'Down', true)
  assert.deepEqual(await until(4), [
    'warning: Down of pay is over, but “No payments” goes on: what is over was critical for 2 min, until 12:02 UTC.',
  ])
})

test('so does the all-clear while a merged incident has conditions of the service', async (t) => {
  const { until, send, declare, incidents, deps, acme } = world(t)
  await send('cart', 'Slow')
  await send('pay', 'Down')
  await until(1)
  await declare('pay', 'No payments')
  await until(2)
  const [cart, pay, declared] = incidents()
  await mergeIncidents(deps, acme.key, { from: declared?.id ?? '', into: cart?.id ?? '' }, 'ann')
  await until(3)
  await send('pay', 'Down', true)
  assert.deepEqual(await until(5), [
    'warning: Down of pay is over, but “cart: Slow” goes on: what is over was critical for 3 min, until 12:03 UTC.',
  ])
  assert.equal(pay?.title, 'pay: Down')
})

test('so does a digest of several all-clears, and that of a flapping service', () => {
  const service = (name: string) => ({ name, namespace: 'shop', cluster: '' })
  const goesOn = ['No payments']
  const cart = messageItem({ kind: 'recovered', service: service('cart') }, { id: 'cart', problem: healed() })
  const pay = messageItem({ kind: 'recovered', service: service('pay'), goesOn }, { id: 'pay', problem: healed() })
  const { tone, title, body } = digestTextOf([cart, pay], CONTEXT)
  assert.deepEqual([tone, title], ['warning', 'cart has recovered after 4 min.'])
  assert.match(body, /^Down of pay is over, but “No payments” goes on\.$/)
  const flapping = { ...pay, kind: 'flapping', isDigest: true } as const
  assert.match(digestTextOf([flapping], CONTEXT).title, /That is over now, but “No payments” goes on\.$/)
})

test('a declared incident of another service, and one that is resolved, do not matter', async (t) => {
  const { until, send, declare, incidents, deps, acme } = world(t)
  await send('cart', 'Slow')
  await send('pay', 'Down')
  await until(1)
  await declare('cart', 'No carts')
  await declare('pay', 'No payments')
  await until(2)
  await changeIncident(deps, acme.key, incidents()[3]?.id ?? '', { status: 'resolved' }, 'ann')
  await until(3)
  await send('pay', 'Down', true)
  assert.deepEqual(await until(5), ['resolved: pay has recovered: it was critical for 3 min, until 12:03 UTC.'])
})

test('a person who resolved an alert is named', async (t) => {
  const { until, send, resolve } = world(t)
  await send('pay', 'Down')
  await until(2)
  await resolve('Down')
  const told = await until(4)
  assert.deepEqual(told, ['resolved: ann resolved the alert of pay: it was critical for 2 min, until 12:02 UTC.'])
})

test('of two alerts, the person who resolved the last one is named, and an end that was reported names nobody', async (t) => {
  const { until, send, resolve } = world(t)
  await send('pay', 'Down')
  await send('pay', 'Slow')
  await until(2)
  await resolve('Slow')
  await until(3)
  await send('pay', 'Down', true)
  assert.deepEqual(await until(5), ['resolved: pay has recovered: it was critical for 3 min, until 12:03 UTC.'])
})

test('an all-clear quotes the critical text of an alert whose warning went on', async (t) => {
  const flow = world(t)
  const { deps, clock } = flow
  const disk = (severity: string, percent: number, times: { startsAt: number; endsAt?: number }) =>
    alert('Disk', { service: 'db', severity }, { ...times, summary: `disk ${percent} % full` })
  const at = async (minute: number, ...items: ReturnType<typeof alert>[]) => {
    await flow.sweepUntil(NOON + minute * MINUTE)
    await flow.submit(flow.delivery('metrics', alertmanager(items)))
    return pump(deps).map(({ body }) => body)
  }
  await at(1, disk('warning', 85, { startsAt: clock.now }))
  await at(2, disk('warning', 85, { startsAt: NOON + MINUTE }), disk('critical', 95, { startsAt: NOON + 2 * MINUTE }))
  const critical = disk('critical', 95, { startsAt: NOON + 2 * MINUTE, endsAt: NOON + 4 * MINUTE })
  await at(4, disk('warning', 85, { startsAt: NOON + MINUTE }), critical)
  await at(4.5, disk('warning', 85, { startsAt: NOON + MINUTE, endsAt: NOON + 4.5 * MINUTE }))
  const [body = ''] = await at(6)
  assert.match(body, /^It was: Disk: disk 95 % full\. /)
})
