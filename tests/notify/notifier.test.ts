/** The notifier: messages are delivered, retried and delayed, but never sent under two ids. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { changeChannel, removeChannel, rotateSecret } from '../../src/actions/channels.ts'
import { findChannel } from '../../src/store/notification/channels.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { answering, startReceiver } from './receiver.ts'
import { notifying } from './world.ts'

const HOUR = 60 * MINUTE
const isDelivered = ({ status }: { status: string }) => status === 'delivered'

test('an incident that opens is sent as a signed webhook', async (t) => {
  const { channel, fail, clock } = notifying(t)
  clock.now = Date.now()
  const { url, next } = await startReceiver(t)
  const { secret } = channel('webhook', `${url}/hook`)
  const [{ text, headers }] = await Promise.all([next(), fail()])
  const body = new Webhook(secret ?? '').verify(text, headers as Record<string, string>) as { type: string }
  assert.equal(body.type, 'incident.opened')
})

test('an incident that is resolved and reopened three times is told one thing at a time', async (t) => {
  const { channel, fail, messages, settled, later, deps, acme, incidents, send, sweepUntil, clock } = notifying(t)
  const { url, received } = await startReceiver(t)
  channel('webhook', url)
  await fail()
  await settled(() => messages().some(isDelivered))
  for (let round = 1; round <= 3; round += 1) {
    await changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status: 'resolved' }, 'Ann')
    await settled(() => messages().filter(isDelivered).length === 2 * round)
    later(2)
    const labels = { service: 'checkout', severity: 'critical' }
    await send('metrics', alertmanager([alert(`Down${round}`, labels, { startsAt: clock.now })]))
    await sweepUntil(clock.now + 2 * MINUTE)
    await settled(() => messages().filter(isDelivered).length === 2 * round + 1)
  }
  const types = received.map(({ text }) => JSON.parse(text).type)
  assert.deepEqual(types.slice(0, 5), [
    ...['incident.opened', 'incident.resolved', 'incident.again', 'incident.resolved', 'incident.again'],
  ])
  assert.ok(!types.includes('incidents.digest'), types.join())
  const named = received.map(({ text }) => /The postmortem is ready\./.test(text))
  assert.deepEqual(
    named,
    types.map((type) => type === 'incident.resolved'),
  )
})

test('the first message of a new channel about an incident says what the incident is', async (t) => {
  const { channel, fail, later, messages, send, settled, clock } = notifying(t)
  const { url, received } = await startReceiver(t)
  await fail()
  later(5)
  channel('webhook', url)
  await settled(() => messages().every(isDelivered) && received.length > 0)
  const labels = { service: 'checkout', severity: 'critical' }
  await send('metrics', alertmanager([alert('Slow', labels, { startsAt: clock.now })]))
  await settled(() => messages().every(isDelivered) && received.length > 1)
  const bodies = received.map(({ text }) => JSON.parse(text))
  assert.deepEqual(
    bodies.map(({ type, data }) => [type, data.conditions]),
    [
      ['incident.opened', ['Down']],
      ['incident.worse', ['Slow']],
    ],
  )
})

test('a receiver that fails in every way gets the message with the same id', async (t) => {
  const { channel, fail, messages, settled, clock } = notifying(t)
  const { url, received } = await startReceiver(
    t,
    answering(500),
    (response) => response.destroy(),
    answering(429, '', { 'retry-after': '60' }),
    answering(200),
  )
  channel('webhook', url)
  await fail()
  const due: number[] = []
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    await settled(() => (messages()[0]?.attempts ?? 0) >= attempt)
    due.push(((messages()[0]?.dueAt ?? clock.now) - clock.now) / 1000)
    clock.now = messages()[0]?.dueAt ?? clock.now
  }
  assert.deepEqual(due, [5, 15, 60, 0])
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1)
  assert.equal(messages()[0]?.status, 'delivered')
})

test('for a day after a rotation, messages are signed with both secrets', async (t) => {
  const { channel, fail, clock, deps, acme, settled, messages } = notifying(t)
  const { url, received } = await startReceiver(t)
  const { id, secret } = channel('webhook', url)
  const rotated = rotateSecret(deps, acme.key, id)
  clock.now = Date.now()
  await fail()
  await settled(() => messages().some(isDelivered))
  const { text = '', headers = {} } = received[0] ?? {}
  for (const one of [secret, rotated]) new Webhook(one ?? '').verify(text, headers as Record<string, string>)
  assert.throws(() => new Webhook(`whsec_${'A'.repeat(44)}`).verify(text, headers as Record<string, string>))
})

test('without a likely cause, a message names the service with its namespace and the first alert', async (t) => {
  const { channel, send, settled, messages } = notifying(t)
  const { url, received } = await startReceiver(t)
  channel('ntfy', `${url}/alerts`)
  const labels = { service: 'payments', namespace: 'pay', severity: 'critical' }
  await send(
    'metrics',
    alertmanager([alert('Down', labels, { startsAt: NOON, summary: 'Half of all payments fail.' })]),
  )
  await settled(() => messages().some(isDelivered))
  const { title, message } = JSON.parse(received[0]?.text ?? '')
  assert.match(title, /^payments has been critical/)
  assert.match(message, /^Down: Half of all payments fail\. Incident #1, namespace pay\.$/)
})

test('a receiver that is gone disables its channel, and the channel says so', async (t) => {
  const { channel, fail, deps, acme, settled, messages } = notifying(t)
  const { url, received } = await startReceiver(t, answering(410, 'gone'))
  const { id } = channel('slack', `${url}/services/secret-part`)
  await fail()
  await settled(() => findChannel(deps.db, acme.key, id)?.enabled === false)
  const found = findChannel(deps.db, acme.key, id)
  assert.deepEqual(
    [found?.enabled, found?.failing, messages()[0]?.status],
    [false, 'incmon has disabled the channel, because the receiver responded with 410: gone', 'failed'],
  )
  await fail('web')
  assert.equal(received.length, 1)
})

test('a message rejected by its receiver is abandoned with the cause, and the next one is sent', async (t) => {
  const { channel, fail, settled, messages, later } = notifying(t)
  const { url } = await startReceiver(t, answering(400, 'invalid_blocks'), answering(200))
  channel('slack', url)
  await fail()
  await settled(() => messages()[0]?.status === 'failed')
  assert.deepEqual(
    [messages()[0]?.detail, messages()[0]?.answerStatus],
    ['the receiver responded with 400: invalid_blocks', 400],
  )
  later(1)
  await fail('web')
  await settled(() => messages().some(isDelivered))
  assert.equal(messages()[0]?.status, 'delivered')
})

test('after 24 hours a message is marked as failed with the cause', async (t) => {
  const { channel, fail, settled, messages, clock } = notifying(t)
  const { url } = await startReceiver(t, answering(503, 'down'))
  channel('slack', url)
  await fail()
  await settled(() => messages()[0]?.attempts === 1)
  clock.now += 24 * 3_600_000 - 10_000
  await settled(() => messages()[0]?.attempts === 2)
  assert.deepEqual([messages()[0]?.status, messages()[0]?.detail], ['failed', 'the receiver responded with 503: down'])
})

test('a storm is three messages at once and then one digest', async (t) => {
  const { channel, fail, settled, messages, later } = notifying(t)
  const { url, received } = await startReceiver(t)
  channel('slack', url)
  for (let index = 0; index < 50; index += 1) await fail(`s${index}`)
  await settled(() => messages().filter(isDelivered).length >= 3)
  assert.equal(received.length, 3)
  later(1)
  await settled(() => messages().filter(isDelivered).length === 4)
  assert.equal(received.length, 4)
  assert.match(received[3]?.text ?? '', /47 new incidents \(47 critical\)/)
})

test('what began and ended in quiet hours is one message to a program, with all that happened', async (t) => {
  const { channel, fail, send, settled, messages, clock, sweepUntil } = notifying(t)
  const { url, received } = await startReceiver(t)
  const quietHours = { from: '11:00', to: '18:00', timeZone: 'UTC' }
  channel('webhook', url, { rules: [{ quietHours }], remindAfter: 0 })
  await fail()
  const ended = { startsAt: NOON, endsAt: NOON + HOUR }
  await send('metrics', alertmanager([alert('Down', { service: 'checkout', severity: 'critical' }, ended)]))
  await sweepUntil(NOON + 2 * HOUR)
  clock.now = NOON + 7 * HOUR
  await settled(() => messages().some(isDelivered))
  assert.deepEqual(
    received.map(({ text }) => [
      JSON.parse(text).type,
      JSON.parse(text).data.notifications.map((one: { type: string }) => one.type),
    ]),
    [['incidents.digest', ['opened', 'recovered', 'resolved']]],
  )
})

test('in ntfy, an acknowledgement replaces the first message, and a recovery does not', async (t) => {
  const { channel, fail, settled, messages, incidents, deps, acme, sweepUntil, send, clock } = notifying(t)
  const { url, received } = await startReceiver(t)
  channel('ntfy', `${url}/alerts`, { remindAfter: 0 })
  const count = () => messages().filter(isDelivered).length
  await fail()
  await settled(() => count() === 1)
  const id = incidents()[0]?.id ?? ''
  await changeIncident(deps, acme.key, id, { status: 'investigating' }, 'Dana')
  await settled(() => count() === 2)
  const ended = { startsAt: NOON, endsAt: clock.now }
  await send('metrics', alertmanager([alert('Down', { service: 'checkout', severity: 'critical' }, ended)]))
  await sweepUntil(NOON + MINUTE)
  await settled(() => count() === 3)
  assert.deepEqual(
    received.map(({ text }) => JSON.parse(text).sequence_id),
    [id, id, undefined],
  )
})

test('a clock that jumps over quiet hours sends pending messages once, and one that goes backward sends nothing twice', async (t) => {
  const { channel, fail, settled, messages, clock } = notifying(t)
  const { url, received } = await startReceiver(t)
  const quietHours = { from: '11:00', to: '18:00', timeZone: 'UTC' }
  channel('slack', url, { rules: [{ quietHours }], remindAfter: 0 })
  await fail()
  assert.equal(messages()[0]?.dueAt, NOON + 6 * HOUR)
  clock.now += 20 * HOUR
  await settled(() => messages().some(isDelivered))
  clock.now -= 30 * HOUR
  await fail()
  clock.now += 90 * HOUR
  await settled(() => messages().some(isDelivered))
  assert.equal(received.length, 1)
})

test('a channel that hangs delays no other', async (t) => {
  const { channel, fail, messages } = notifying(t)
  const [slow, fast] = [await startReceiver(t, () => {}), await startReceiver(t)]
  channel('slack', slow.url)
  channel('discord', fast.url)
  await Promise.all([slow.next(), fast.next(), fail()])
  assert.ok(messages().some(({ status, attempts }) => status === 'pending' && attempts === 0))
})

test('a message whose cause is not found quickly is sent without it', async (t) => {
  const { channel, fail } = notifying(t, { causeOf: () => new Promise(() => {}) })
  const { url, next } = await startReceiver(t)
  channel('webhook', url)
  const [{ text }] = await Promise.all([next(), fail()])
  assert.deepEqual(JSON.parse(text).data.suspects, [])
})

test('a receiver that echoes a message does not reveal its link to readers of deliveries', async (t) => {
  const { channel, fail, settled, messages } = notifying(t)
  const { url, received } = await startReceiver(t, (response, { text }) =>
    response.writeHead(400).end(text.slice(-900)),
  )
  channel('slack', url)
  await fail()
  await settled(() => messages()[0]?.status === 'failed')
  assert.match(received[0]?.text ?? '', /signature=v1%2C/)
  assert.match(messages()[0]?.detail ?? '', /signature=\*\*\*/)
})

test('a message that was not sent before a restart is sent afterwards', async (t) => {
  const { channel, fail, settled, messages, restart, clock } = notifying(t)
  const { url, received } = await startReceiver(t, answering(500), answering(200))
  channel('webhook', url)
  await fail()
  await settled(() => messages()[0]?.attempts === 1)
  await restart()
  clock.now = messages()[0]?.dueAt ?? 0
  await settled(() => messages().some(isDelivered))
  assert.equal(received[0]?.headers['webhook-id'], received[1]?.headers['webhook-id'])
})

test('a corrected URL is tried immediately', async (t) => {
  const { channel, fail, settled, messages, deps, acme } = notifying(t)
  const wrong = await startReceiver(t, answering(404, 'no_team'))
  const right = await startReceiver(t)
  const { id } = channel('slack', wrong.url)
  await fail()
  await settled(() => messages()[0]?.attempts === 1)
  changeChannel(deps, acme.key, id, { target: right.url })
  await settled(() => messages().some(isDelivered))
  assert.equal(right.received.length, 1)
})

test('a message to a private address is refused with the remedy, and the address is not shown', async (t) => {
  const { channel, fail, settled, messages } = notifying(t)
  channel('slack', 'http://10.0.0.1/services/secret')
  await fail()
  await settled(() => messages()[0]?.attempts === 1)
  assert.match(messages()[0]?.detail ?? '', /notify-allow/)
  assert.doesNotMatch(JSON.stringify(messages()), /secret/)
})

test('the response to a test message is shown, without the secret and limited to 1 kB', async (t) => {
  const { channel, deps, acme, test: sendTest } = notifying(t)
  const { url } = await startReceiver(t, answering(403, `invalid_token secret-part ${'x'.repeat(1e6)}`))
  const { id } = channel('slack', `${url}/services/secret-part`)
  const found = findChannel(deps.db, acme.key, id)
  const outcome = found && (await sendTest(found))
  assert.equal(outcome?.status, 403)
  assert.match(outcome?.detail ?? '', /^invalid_token \*\*\* x+$/)
  assert.ok((outcome?.detail ?? '').length <= 1_000)
})

test('a deleted channel sends nothing', async (t) => {
  const { channel, fail, messages, deps, acme } = notifying(t)
  const { id } = channel('slack', 'http://127.0.0.1:9/')
  await fail()
  removeChannel(deps, acme.key, id)
  assert.deepEqual(messages(), [])
})

test('Telegram messages reply to the first message about the incident', async (t) => {
  const { channel, fail, settled, messages, incidents, deps, acme, later } = notifying(t)
  const { url, received } = await startReceiver(t, answering(200, '{"ok":true,"result":{"message_id":77}}'))
  channel('telegram', `${url}/bot1:x/sendMessage?chat_id=-5`)
  await fail()
  await settled(() => messages().some(isDelivered))
  later(1)
  await changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status: 'investigating' }, 'anna')
  await settled(() => messages().filter(isDelivered).length === 2)
  const [first, second] = received.map(({ text }) => JSON.parse(text))
  assert.deepEqual([first.chat_id, first.reply_parameters, second.reply_parameters.message_id], ['-5', undefined, 77])
  assert.equal(received[0]?.path, '/bot1:x/sendMessage')
})
