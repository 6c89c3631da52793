/** What a channel sends while its receiver fails, and once it answers again. The clock moves only by hand. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { recordSent, retake, settleMessage, takeMessage } from '../../src/actions/messages.ts'
import { remind } from '../../src/actions/notifications.ts'
import { findTimeline } from '../../src/store/incident/timeline-facts.ts'
import { listDueChannels } from '../../src/store/notification/outbox.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

type Taken = NonNullable<ReturnType<typeof takeMessage>>

/** Attempts everything that is due. `statusOf`: how the receiver answers; null for no answer. */
function channelWith(t: TestContext, more: object = {}) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  createChannel(deps, acme.key, { name: 'pager', kind: 'webhook', target: 'https://a.example/', ...more })
  const fail = (service: string) =>
    flow.send('metrics', alertmanager([alert('Down', { service }, { startsAt: clock.now })], { groupKey: service }))
  const at = (seconds: number) => {
    clock.now = NOON + seconds * 1000
  }
  const attempt = (statusOf: (message: Taken) => number | null) =>
    listDueChannels(deps.db, clock.now).flatMap(({ channelId }) => {
      const tried: string[] = []
      for (let taken = takeMessage(deps, channelId); taken; taken = takeMessage(deps, channelId)) {
        const message = retake(deps, taken)
        if (!message) continue
        recordSent(deps, message, { title: 'a title', body: '' })
        const status = statusOf(message)
        tried.push(`${message.items.map(({ service }) => service.name).join('+')} ${status}`)
        settleMessage(deps, message, { status, detail: '{}', remoteId: null, retryAfter: 0 }, 0.5)
      }
      return tried
    })
  const told = (index: number) =>
    (findTimeline(deps.db, acme.key, flow.incidents()[index]?.id ?? '', clock.now) ?? [])
      .filter(({ kind }) => kind === 'message')
      .map(({ text }) => text)
  return { ...flow, fail, at, attempt, told }
}

const dead = () => 503
const well = () => 200

test('a new incident is tried at once while an older message waits, and then everything is sent', async (t) => {
  const { fail, at, attempt } = channelWith(t)
  await fail('cart')
  for (let second = 0; second < 1_000; second += 1) {
    at(second)
    attempt(dead)
  }
  await fail('web')
  assert.deepEqual(attempt(well), ['web 200', 'cart 200'])
})

test('a receiver that answers again gets everything that waited, new incidents in one message', async (t) => {
  const { fail, at, attempt } = channelWith(t, { remindAfter: 0 })
  await fail('cart')
  attempt(dead)
  for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    at(index)
    await fail(name)
    assert.deepEqual(attempt(dead), [])
  }
  at(40)
  assert.deepEqual(attempt(well), ['cart 200', 'a+b+c+d+e 200'])
})

test('what happens to an incident becomes part of the message about it that waits', async (t) => {
  const { fail, at, attempt, send } = channelWith(t)
  await fail('cart')
  for (let second = 0; second < 300; second += 1) {
    at(second)
    attempt(dead)
  }
  const slow = alert('Slow', { service: 'cart' }, { startsAt: NOON + 290_000 })
  await send('metrics', alertmanager([slow], { groupKey: 'slow' }))
  assert.deepEqual(attempt(well), ['cart+cart 200'])
})

test('a dead receiver is not tried more often because many incidents open', async (t) => {
  const { fail, at, attempt } = channelWith(t)
  const tried: string[] = []
  for (let second = 0; second < 600; second += 1) {
    at(second)
    if (second % 10 === 0) await fail(`s${second}`)
    tried.push(...attempt(dead))
  }
  assert.ok(tried.length <= 600 / 5 + 600 / 30, `${tried.length} attempts in 10 minutes`)
})

test('a message that its receiver refuses does not stop the others', async (t) => {
  const { fail, at, attempt, incidents, deps, acme } = channelWith(t)
  const refusing = ({ items }: Taken) => (items.some(({ service }) => service.name === 'cart') ? 500 : 200)
  await fail('cart')
  attempt(refusing)
  at(40)
  await fail('web')
  assert.ok(attempt(refusing).includes('web 200'))
  at(50)
  await changeIncident(deps, acme.key, incidents()[1]?.id ?? '', { status: 'investigating' }, 'Ann')
  assert.ok(attempt(refusing).includes('web 200'))
})

test('a condition that ended before its message was sent is told when it fires again, and delays no reminder', async (t) => {
  const { fail, at, attempt, send, deps } = channelWith(t, { remindAfter: 10 })
  const slow = (more: object) => alertmanager([alert('Slow', { service: 'cart' }, more)], { groupKey: 'slow' })
  await fail('cart')
  attempt(well)
  at(120)
  await send('metrics', slow({ startsAt: NOON + 120_000 }))
  await send('metrics', slow({ startsAt: NOON + 120_000, endsAt: NOON + 121_000 }))
  for (let second = 120; second < 600; second += 5) {
    at(second)
    assert.deepEqual(attempt(well), [])
  }
  remind(deps)
  assert.deepEqual(attempt(well), [])
  at(601)
  remind(deps)
  assert.deepEqual(attempt(well), ['cart 200'])
  await send('metrics', slow({ startsAt: NOON + 601_000 }))
  at(610)
  assert.deepEqual(attempt(well), ['cart 200'])
})

test('the timeline shows the next attempt and the answer of the receiver', async (t) => {
  const { fail, at, attempt, told, incidents, deps, acme } = channelWith(t)
  await fail('cart')
  attempt(dead)
  const why = 'the receiver responded with 503: {}, next attempt at 2026-03-14 12:00:05 UTC'
  assert.deepEqual(told(0), [`message “opened” waits for pager: ${why}`])
  at(2)
  await changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status: 'investigating' }, 'Ann')
  assert.deepEqual(attempt(dead), [])
  assert.deepEqual(told(0)[1], `message “acknowledged” waits for pager: ${why}`)
})

test('all messages of a channel that fails name its next attempt, because they are sent if it succeeds', async (t) => {
  const { fail, attempt, told, deps } = channelWith(t)
  await fail('cart')
  attempt(dead)
  await fail('web')
  const later = deps.db.sql.updateTable('outbox').set({ due_at: NOON + 5 * MINUTE, leader_id: 2 })
  deps.db.run(later.where('id', '=', 2))
  for (const index of [0, 1]) assert.match(told(index)[0] ?? '', /503: \{\}, next attempt at 2026-03-14 12:00:05 UTC$/)
  deps.db.run(deps.db.sql.updateTable('channels').set({ failing: null, failing_since: null }))
  assert.match(told(1)[0] ?? '', /at 2026-03-14 12:05:00 UTC$/)
})

test('quiet hours end with one message about everything', async (t) => {
  const quietHours = { from: '11:00', to: '18:00', timeZone: 'UTC' }
  const { fail, at, attempt } = channelWith(t, { rules: [{ quietHours }] })
  for (const [index, name] of ['a', 'b', 'c', 'd', 'e', 'f'].entries()) {
    at(index * 600)
    await fail(name)
  }
  at(6 * 3600)
  assert.deepEqual(attempt(well), ['a+b+c+d+e+f 200'])
})

test('a message whose first notification is not the oldest does not block its channel', async (t) => {
  const { fail, at, attempt, deps } = channelWith(t, { remindAfter: 0 })
  await fail('old')
  await fail('new')
  const late = deps.db.sql.updateTable('outbox').set({ due_at: NOON + 5 * MINUTE })
  deps.db.run(late.where('id', '=', 1))
  at(330)
  assert.deepEqual(attempt(dead), ['old+new 503'])
  at(340)
  assert.deepEqual(attempt(well), ['old+new 200'])
})

test('a reopened incident does not wait behind the message about its resolution', async (t) => {
  const { fail, at, attempt, incidents, deps, acme } = channelWith(t, { remindAfter: 0 })
  await fail('cart')
  const change = (status: 'resolved' | 'open') =>
    changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status }, 'Ann')
  attempt(well)
  await change('resolved')
  for (let second = 0; second < 400; second += 1) {
    at(second)
    attempt(dead)
  }
  await change('open')
  assert.deepEqual(attempt(well), ['cart 200'])
})

test('reminders do not jump ahead of a message that waits', async (t) => {
  const { fail, at, attempt, deps } = channelWith(t, { remindAfter: 1, remindEvery: 1 })
  await fail('cart')
  for (let second = 0; second < 100; second += 1) {
    at(second)
    attempt(dead)
  }
  remind(deps)
  assert.deepEqual(attempt(dead), [])
})
