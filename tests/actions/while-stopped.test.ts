/** Nothing ends or goes silent because incmon itself did not run: senders get time to repeat what they could not deliver. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { withEngine } from '../../src/actions/deps.ts'
import { takeMessage } from '../../src/actions/messages.ts'
import { remind } from '../../src/actions/notifications.ts'
import { createSilence } from '../../src/engine/changes/silences/silences.ts'
import { READERS } from '../../src/intake/index.ts'
import { listSenders } from '../../src/store/senders.ts'
import { createIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, fate, makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager, iso, times, watchdog } from '../helpers/senders.ts'

const LABELS = { alertname: 'Down', namespace: 'shop', service: 'cart', severity: 'critical' }
const after = (minutes: number) => NOON + minutes * MINUTE

/** Sends a firing alert as Prometheus does, with an end in four minutes, or with its real end. */
function push(flow: Flow, at: number, labels: object = LABELS, endsAt = at + 4 * MINUTE) {
  const body = [{ labels, annotations: {}, startsAt: iso(NOON), endsAt: iso(endsAt) }]
  return flow.submit({ ...flow.delivery('metrics', alertmanager([]), { at }), intake: READERS.prometheus(body, at) })
}

/** Starts incmon anew after some minutes in which it did not run. */
async function stopFor(flow: Flow, minutes: number): Promise<void> {
  flow.clock.now += minutes * MINUTE
  flow.restart()
  Object.assign(flow.deps, withEngine({ ...flow.deps, awaitsRepeats: true }))
  await flow.deps.engine.load()
  while (await flow.deps.engine.sweep());
}

/** Returns the times of the reminders up to now, in minutes after noon. */
function reminders({ deps }: Flow): number[] {
  remind(deps)
  return deps.db
    .all(deps.db.sql.selectFrom('outbox').select('due_at').where('kind', '=', 'reminder'))
    .map((row) => (row.due_at - NOON) / MINUTE)
}

test('an alert that Prometheus repeats after a long stop never ended', async (t) => {
  const flow = makeFlow(t)
  await push(flow, NOON)
  await flow.sweepUntil(after(2))
  await push(flow, after(2))
  await stopFor(flow, 30)
  assert.equal(fate(flow)[0], 'firing')
  await flow.sweepUntil(after(33))
  await push(flow, after(33))
  await flow.sweepUntil(after(36))
  assert.deepEqual([fate(flow), flow.incidents().map(({ status }) => status)], [['firing', null, null], ['open']])
})

test('an alert that nobody repeats after a stop ends six minutes after the start, with its last report', async (t) => {
  const flow = makeFlow(t)
  await push(flow, NOON)
  await stopFor(flow, 30)
  await flow.sweepUntil(after(35))
  assert.equal(fate(flow)[0], 'firing')
  await flow.sweepUntil(after(36))
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 0])
})

test('a warning that is repeated first does not end the critical alert of the same name', async (t) => {
  const flow = makeFlow(t)
  const warning = { ...LABELS, severity: 'warning' }
  for (const labels of [LABELS, warning]) await push(flow, NOON, labels)
  await stopFor(flow, 30)
  await push(flow, after(30), warning)
  await flow.sweepUntil(after(31))
  assert.deepEqual([fate(flow)[0], flow.alerts()[0]?.severity], ['firing', 'critical'])
  await push(flow, after(31))
  await flow.sweepUntil(after(34))
  assert.deepEqual([fate(flow)[0], flow.alerts()[0]?.severity], ['firing', 'critical'])
})

test('the end of a warning after a stop does not end the critical alert of the same name before its own end', async (t) => {
  const flow = makeFlow(t)
  const warning = { ...LABELS, severity: 'warning' }
  for (const labels of [LABELS, warning]) await push(flow, NOON, labels)
  await stopFor(flow, 30)
  await push(flow, after(30), warning, after(20))
  assert.equal(fate(flow)[0], 'firing')
  await push(flow, after(31), LABELS, after(25))
  assert.deepEqual(fate(flow), ['resolved', 'reported', 25])
})

test('nobody is reminded of an alert after a stop before it is repeated', async (t) => {
  const flow = makeFlow(t)
  createChannel(flow.deps, flow.acme.key, { name: 'one', kind: 'slack', target: 'https://example.com/x' })
  const down = alertmanager([alert('Down', LABELS, { startsAt: NOON })])
  await flow.send('metrics', down)
  await stopFor(flow, 30)
  assert.deepEqual(reminders(flow), [])
  await flow.send('metrics', down, { at: after(32) })
  assert.deepEqual(reminders(flow), [32])
})

test('nobody is reminded of it either if its sender delivers something else first', async (t) => {
  const flow = makeFlow(t)
  createChannel(flow.deps, flow.acme.key, { name: 'one', kind: 'slack', target: 'https://example.com/x' })
  const down = alertmanager([alert('Down', LABELS, { startsAt: NOON })])
  for (const minute of [0, 1, 2]) {
    await flow.send('metrics', watchdog({ startsAt: NOON }), { at: after(minute) })
    await flow.send('metrics', down)
  }
  await stopFor(flow, 10)
  await flow.send('metrics', watchdog({ startsAt: NOON }))
  assert.deepEqual(reminders(flow), [])
  await flow.send('metrics', down, { at: after(13) })
  assert.deepEqual(reminders(flow), [13])
})

test('an alert that nobody repeats within six minutes after a stop is still a reason for a reminder', async (t) => {
  const flow = makeFlow(t)
  createChannel(flow.deps, flow.acme.key, { name: 'one', kind: 'slack', target: 'https://example.com/x' })
  await flow.send('metrics', alertmanager([alert('Down', LABELS, { startsAt: NOON })]))
  await stopFor(flow, 30)
  await flow.sweepUntil(after(35))
  assert.deepEqual(reminders(flow), [])
  await flow.sweepUntil(after(36))
  assert.deepEqual(reminders(flow), [36])
})

test('a reminder of an incident that a user opened does not wait after a stop', async (t) => {
  const flow = makeFlow(t)
  createChannel(flow.deps, flow.acme.key, { name: 'one', kind: 'slack', target: 'https://example.com/x' })
  await flow.send('metrics', alertmanager([alert('Busy', { ...LABELS, severity: 'info' }, { startsAt: NOON })]))
  const serviceId = flow.service('cart')?.id ?? ''
  await createIncident(flow.deps, flow.acme.key, { serviceId, title: 'Orders are lost', severity: 'critical' }, 'anna')
  await stopFor(flow, 30)
  assert.deepEqual(reminders(flow), [30])
})

test('an end that is reported after a stop counts at once', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('Down')]))
  await stopFor(flow, 30)
  await flow.send('metrics', alertmanager([alert('Down', {}, { endsAt: after(10) })]))
  assert.deepEqual(fate(flow), ['resolved', 'reported', 10])
})

test('an alert that began after the stop ends when its own time is over', async (t) => {
  const flow = makeFlow(t)
  await stopFor(flow, 30)
  await push(flow, after(30))
  await flow.sweepUntil(after(34))
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 30])
})

test('a short stop delays no end', async (t) => {
  const flow = makeFlow(t)
  await push(flow, NOON)
  await stopFor(flow, 1)
  await flow.sweepUntil(after(4))
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 0])
})

for (const [minutes, incidents] of [
  [5, 0],
  [7, 1],
] as const) {
  test(`a heartbeat that is missing ${minutes} minutes after a stop opens ${incidents} incident(s)`, async (t) => {
    const flow = makeFlow(t)
    for (const at of times(NOON, after(60), 5 * MINUTE)) {
      await flow.sweepUntil(at)
      await flow.send('metrics', watchdog(), { at })
    }
    await stopFor(flow, 120)
    await flow.sweepUntil(flow.clock.now + minutes * MINUTE)
    assert.equal(flow.incidents().length, incidents)
  })
}

for (const [minutes, interval] of [
  [7, 2],
  [1, 3],
] as const) {
  test(`after a stop of ${minutes} minutes, a sender that repeats every 2 minutes does so every ${interval}`, async (t) => {
    const flow = makeFlow(t)
    const body = alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON })])
    const repeat = (at: number) => flow.send('metrics', body, { at })
    for (const at of [0, 2, 4]) await repeat(after(at))
    await stopFor(flow, minutes)
    const started = flow.clock.now
    await repeat(started + 2 * MINUTE)
    await repeat(started + 4 * MINUTE)
    const [sender] = listSenders(flow.deps.db, flow.acme.key, { page: 1, limit: 1 }).items
    assert.equal(sender?.interval, interval * MINUTE)
  })
}

const QUIET = { from: '12:00', to: '12:20', timeZone: 'UTC' }

for (const [what, repeat, sentAt] of [
  ['is sent when a sender repeats one of its alerts', { startsAt: NOON }, 32],
  ['is sent beside the end when a sender reports it', { endsAt: after(20) }, 33],
  ['is sent after six minutes otherwise', null, 36],
] as const) {
  test(`after a stop, a message that waited for the end of quiet hours ${what}`, async (t) => {
    const flow = makeFlow(t)
    const { deps, acme } = flow
    const made = {
      name: 'one',
      kind: 'slack',
      target: 'https://example.com/x',
      rules: [{ quietHours: QUIET }],
    } as const
    createChannel(deps, acme.key, made)
    await flow.send('metrics', alertmanager([alert('Down', {}, { startsAt: NOON })]), { at: after(1) })
    await stopFor(flow, 29)
    const channel = deps.db.first(deps.db.sql.selectFrom('channels').select('id'))?.id ?? 0
    let taken: number | null = null
    for (const at of times(after(30), after(40))) {
      await flow.sweepUntil(at)
      if (at === after(32) && repeat) await flow.send('metrics', alertmanager([alert('Down', {}, repeat)]))
      if (taken === null && takeMessage(deps, channel)) taken = (at - NOON) / MINUTE
    }
    assert.equal(taken, sentAt)
  })
}

test('after a stop, a message that did not wait is sent at once', async (t) => {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  createChannel(deps, acme.key, { name: 'one', kind: 'slack', target: 'https://example.com/x' })
  await flow.send('metrics', alertmanager([alert('Down', {}, { startsAt: NOON })]))
  await stopFor(flow, 30)
  assert.ok(takeMessage(deps, deps.db.first(deps.db.sql.selectFrom('channels').select('id'))?.id ?? 0))
})

for (const [what, schedule] of [
  ['a silence', null],
  ['a nightly window', { weekdays: ['saturday'], from: '12:00', to: '12:20', timeZone: 'UTC' }],
] as const) {
  test(`a message about a problem that ${what} covered names its own end, not the start of incmon`, async (t) => {
    const flow = makeFlow(t)
    createChannel(flow.deps, flow.acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x' })
    const wanted = {
      matchers: [{ name: 'service', op: '=', value: 'cart' }],
      ...{ startsAt: NOON, endsAt: after(schedule === null ? 20 : 600), schedule, comment: 'Upgrade' },
    } as const
    await flow.deps.engine.run(flow.acme.key, (ctx, now) => createSilence(ctx, wanted, 'Ann', now))
    await push(flow, after(1), LABELS, after(200))
    await flow.sweepUntil(after(10))
    await stopFor(flow, 25)
    const texts = pump(flow.deps).map(({ title }) => title)
    assert.deepEqual(texts.length, 1)
    assert.match(texts[0] ?? '', /^cart has been critical since 12:0.*; its silence ended at 12:20 UTC/)
  })
}
