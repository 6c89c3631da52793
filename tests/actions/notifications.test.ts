/**
 * Notifications in the outbox: committed together with the incident change, for the right channels, at the right time.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { changeChannel, createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import type { ChannelSettings } from '../../src/domain/notification/channel.ts'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import type { Db } from '../../src/store/sqlite/open.ts'
import { changeIncident, createIncident, createSilence, expireSilence, mergeIncidents } from '../helpers/acts.ts'
import { type Made, MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, watchdog } from '../helpers/senders.ts'

/** Noon is 13:00 in Berlin. */
const QUIET = { from: '12:30', to: '14:00', timeZone: 'Europe/Berlin' }

function withOutbox(t: TestContext, wrap?: (db: Db) => Db) {
  const flow = makeFlow(t, wrap)
  const { deps, acme } = flow
  const channel = (name: string, settings: Partial<ChannelSettings> = {}, as: Made = acme) =>
    createChannel(deps, as.key, { name, kind: 'slack', target: 'https://example.com/x', ...settings })
  const outbox = () =>
    deps.db
      .all(
        deps.db.sql
          .selectFrom('outbox')
          .innerJoin('channels', 'channels.id', 'outbox.channel_id')
          .select(['channels.name', 'outbox.kind', 'outbox.due_at', 'outbox.actor'])
          .orderBy('outbox.id'),
      )
      .map(({ name, kind, due_at: dueAt }) => [name, kind, (dueAt - NOON) / MINUTE])
  const fail = (severity = 'critical', namespace = 'shop') =>
    flow.send('metrics', alertmanager([alert('Down', { service: 'cart', severity, namespace }, { startsAt: NOON })]))
  const act = (change: object) => changeIncident(deps, acme.key, flow.incidents()[0]?.id ?? '', change, 'anna')
  const remindAt = (minutes: number) => {
    flow.clock.now = NOON + minutes * MINUTE
    remind(deps)
  }
  return { ...flow, channel, outbox, fail, act, remindAt }
}

test('each change is written once per channel', async (t) => {
  const { channel, outbox, fail, act } = withOutbox(t)
  channel('one')
  channel('two', { rules: [{ events: ['resolved'] }] })
  await fail()
  await fail()
  for (const status of ['investigating', 'investigating', 'identified', 'resolved'] as const) await act({ status })
  assert.deepEqual(outbox(), [
    ['one', 'opened', 0],
    ['one', 'acknowledged', 0],
    ['one', 'resolved', 0],
    ['two', 'resolved', 0],
  ])
})

test('no reminders are sent for an incident while all its alerts are silenced', async (t) => {
  const { channel, outbox, fail, remindAt, deps, acme } = withOutbox(t)
  channel('one')
  channel('boss', { escalateAfter: 15 })
  await fail()
  const period = { startsAt: NOON, endsAt: NOON + 40 * MINUTE, schedule: null }
  const silence = { matchers: parseMatchers('service=cart'), ...period, comment: 'Upgrade' }
  const id = await createSilence(deps, acme.key, silence, 'anna')
  remindAt(20)
  assert.deepEqual(outbox(), [['one', 'opened', 0]])
  await expireSilence(deps, acme.key, id)
  remindAt(21)
  // The end of the silence is told, and reminders count from there.
  const told = [
    ['one', 'again', 20],
    ['boss', 'escalation', 21],
  ]
  assert.deepEqual(outbox().slice(1), told)
  remindAt(30)
  assert.deepEqual(outbox().slice(1), [...told, ['one', 'reminder', 30]])
})

test('a missing sender is reported, and so is its return', async (t) => {
  const { channel, outbox, send, sweepUntil, clock } = withOutbox(t)
  channel('one')
  for (let minute = 0; minute < 5; minute += 1) await send('metrics', watchdog(), { at: NOON + minute * MINUTE })
  await sweepUntil(NOON + 120 * MINUTE)
  await send('metrics', watchdog(), { at: clock.now })
  assert.deepEqual(
    outbox().map(([, kind]) => kind),
    ['sender-silent', 'resolved'],
  )
})

test('a rollback sends no notification', async (t) => {
  const disk = { isFull: false }
  const failing = (db: Db): Db => ({
    ...db,
    transactionAhead: (work) =>
      db.transactionAhead(() => {
        const result = work()
        if (disk.isFull) throw new Error('the disk is full')
        return result
      }),
  })
  const { channel, outbox, fail, act } = withOutbox(t, failing)
  channel('one')
  await fail()
  disk.isFull = true
  await assert.rejects(act({ status: 'resolved' }))
  assert.equal(outbox().length, 1)
})

test('in quiet hours messages are held until the end', async (t) => {
  const { channel, outbox, fail } = withOutbox(t)
  channel('one', { rules: [{ quietHours: QUIET }] })
  await fail()
  assert.deepEqual(outbox(), [['one', 'opened', 60]])
})

for (const [name, rules, minutes] of [
  ['are removed', [], 0],
  ['end later', [{ quietHours: { ...QUIET, to: '15:00' } }], 120],
  ['end earlier', [{ quietHours: { ...QUIET, to: '13:30' } }], 30],
  ['have passed', [{ quietHours: { ...QUIET, from: '01:00', to: '02:00' } }], 0],
  ['hold warnings only', [{ quietHours: QUIET, namespaces: ['bank'] }, { minSeverity: 'critical' }], 0],
  ['belong to a rule that does not match', [{ namespaces: ['bank'] }], 60],
] as const) {
  test(`a held message follows quiet hours that ${name}`, async (t) => {
    const { channel, outbox, fail, deps, acme } = withOutbox(t)
    const { id } = channel('one', { rules: [{ quietHours: QUIET }] })
    channel('two', { rules: [{ quietHours: QUIET }] })
    await fail()
    changeChannel(deps, acme.key, id, { rules })
    assert.deepEqual(outbox(), [
      ['one', 'opened', minutes],
      ['two', 'opened', 60],
    ])
  })
}

test("Charlie's channel gets no message about Acme", async (t) => {
  const { channel, outbox, fail, charlie } = withOutbox(t)
  channel('other', {}, charlie)
  await fail()
  assert.deepEqual(outbox(), [])
})

test('who was told of a critical incident hears its end, whatever severity a user gave it', async (t) => {
  const { channel, outbox, act, fail, clock } = withOutbox(t)
  channel('one', { rules: [{ minSeverity: 'critical' }] })
  await fail()
  clock.now += MINUTE
  await act({ severity: 'warning' })
  await act({ status: 'resolved' })
  assert.deepEqual(outbox(), [
    ['one', 'opened', 0],
    ['one', 'resolved', 1],
  ])
})

test('reminders are sent after 10 minutes and then every 30, until somebody acknowledges', async (t) => {
  const { channel, outbox, fail, act, remindAt } = withOutbox(t)
  channel('one')
  await fail()
  for (const minute of [9, 10, 11, 39, 40]) remindAt(minute)
  await act({ status: 'investigating' })
  remindAt(400)
  assert.deepEqual(outbox(), [
    ['one', 'opened', 0],
    ['one', 'reminder', 10],
    ['one', 'reminder', 40],
    ['one', 'acknowledged', 40],
  ])
})

test('no reminders are sent in quiet hours, if they are off, or to a disabled channel', async (t) => {
  const { channel, outbox, fail, remindAt, deps } = withOutbox(t)
  channel('quiet', { rules: [{ quietHours: { ...QUIET, from: '13:05' } }] })
  channel('off', { remindAfter: 0 })
  channel('disabled')
  await fail()
  deps.db.run(deps.db.sql.updateTable('channels').set({ enabled: 0 }).where('name', '=', 'disabled'))
  remindAt(30)
  assert.equal(outbox().filter(([, kind]) => kind === 'reminder').length, 0)
  remindAt(61)
  assert.deepEqual(outbox().at(-1), ['quiet', 'reminder', 61])
})

test('a second channel gets an unacknowledged incident and all its later changes', async (t) => {
  const { channel, outbox, fail, act, remindAt } = withOutbox(t)
  channel('first', { remindAfter: 0 })
  channel('boss', { escalateAfter: 15, remindAfter: 0 })
  await fail()
  for (const minute of [14, 15, 16]) remindAt(minute)
  await act({ status: 'resolved' })
  assert.deepEqual(
    outbox().filter(([name]) => name === 'boss'),
    [
      ['boss', 'escalation', 15],
      ['boss', 'resolved', 16],
    ],
  )
})

test('an acknowledged incident is not escalated', async (t) => {
  const { channel, outbox, fail, act, remindAt } = withOutbox(t)
  channel('boss', { escalateAfter: 15 })
  await fail()
  await act({ status: 'investigating' })
  remindAt(60)
  assert.deepEqual(outbox(), [])
})

test('a clock that goes backward sends no reminder twice', async (t) => {
  const { channel, outbox, fail, remindAt } = withOutbox(t)
  channel('one')
  await fail()
  for (const minute of [10, 5, 10, 12]) remindAt(minute)
  assert.equal(outbox().filter(([, kind]) => kind === 'reminder').length, 1)
})

test('a condition of a merged service is news, even if one of the same name has been reported', async (t) => {
  const { channel, outbox, send, deps, acme, incidents, sweepUntil } = withOutbox(t)
  channel('all', { remindAfter: 0 })
  const fire = (service: string, severity: string, name = 'Down') =>
    send(
      'metrics',
      alertmanager([alert(name, { service, severity }, { startsAt: NOON })], { groupKey: service + name }),
    )
  await fire('web', 'critical')
  await fire('web', 'critical', 'Slow')
  await fire('cart', 'critical')
  await fire('cart', 'warning', 'Slow')
  const [web, cart] = incidents()
  await mergeIncidents(deps, acme.key, { from: cart?.id ?? '', into: web?.id ?? '' }, 'anna')
  await sweepUntil(NOON + 3 * MINUTE)
  const kinds = () => outbox().map(([, kind]) => kind)
  assert.deepEqual(kinds(), ['opened', 'worse', 'opened', 'resolved'])
  await fire('cart', 'critical', 'Slow')
  await sweepUntil(NOON + 4 * MINUTE)
  assert.deepEqual(kinds().slice(4), ['worse'])
  assert.deepEqual(incidents()[0]?.problem.includes('Slow of cart'), true)
})

test('a rule for the alerts of one team does not see the same condition of another team', async (t) => {
  const { channel, outbox, send, deps, acme, incidents, sweepUntil } = withOutbox(t)
  for (const team of ['web', 'cart'])
    channel(team, { remindAfter: 0, rules: [{ matchers: parseMatchers(`team=${team},alertname=Slow`) }] })
  const fire = (service: string, severity: string, name: string) => {
    const own = alert(name, { service, severity, team: service }, { startsAt: NOON })
    return send('metrics', alertmanager([own], { groupKey: service + name }))
  }
  for (const name of ['Down', 'Slow']) await fire('web', 'critical', name)
  await fire('cart', 'critical', 'Down')
  await fire('cart', 'warning', 'Slow')
  const [web, cart] = incidents()
  await mergeIncidents(deps, acme.key, { from: cart?.id ?? '', into: web?.id ?? '' }, 'anna')
  await sweepUntil(NOON + 3 * MINUTE)
  await fire('cart', 'critical', 'Slow')
  await sweepUntil(NOON + 4 * MINUTE)
  assert.deepEqual(
    outbox().flatMap(([name, kind]) => (kind === 'resolved' ? [] : [`${name} ${kind}`])),
    ['web opened', 'cart opened', 'cart worse'],
  )
})

test('a critical alert of an incident that a user declared as a warning follows the rules for critical', async (t) => {
  const { channel, outbox, send, deps, acme, service, sweepUntil } = withOutbox(t)
  channel('all')
  channel('critical', { rules: [{ minSeverity: 'critical' }] })
  await send('metrics', alertmanager([alert('Busy', { service: 'cart', severity: 'info' }, { startsAt: NOON })]))
  const incident = { serviceId: service('cart')?.id ?? '', title: 'Typo', severity: 'warning' } as const
  await createIncident(deps, acme.key, incident, 'anna')
  await sweepUntil(NOON + 2 * MINUTE)
  await send('metrics', alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON + 2 * MINUTE })]))
  assert.deepEqual(outbox(), [
    ['all', 'opened', 0],
    ['all', 'worse', 2],
    ['critical', 'opened', 2],
  ])
})
