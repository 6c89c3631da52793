/** Recovery: when a problem ended, and what is shown if someone resolves its incident before that. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import { findIncident } from '../../src/store/incident/incidents.ts'
import { findReliability } from '../../src/store/incident/report.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const END = NOON + 20 * MINUTE

/** Cart has been down since noon with this many alerts. `recover` reports their end at 12:20. */
async function downCart(t: TestContext, alerts = 1) {
  const flow = makeFlow(t)
  const all = (times: object) => Array.from({ length: alerts }, (_, n) => alert(`Down${n}`, { service: 'cart' }, times))
  await flow.send('metrics', alertmanager(all({ startsAt: NOON })))
  const recover = () => flow.send('metrics', alertmanager(all({ startsAt: NOON, endsAt: END })), { at: END })
  const id = flow.incidents()[0]?.id ?? ''
  const changeTo = (status: 'open' | 'resolved') => changeIncident(flow.deps, flow.acme.key, id, { status }, 'anna')
  const resolve = () => changeTo('resolved')
  const record = () => findIncident(flow.deps.db, flow.acme.key, id)
  return { ...flow, recover, resolve, reopen: () => changeTo('open'), record, id }
}

test('an automatically resolved incident ended with its last alert, not when the score had recovered', async (t) => {
  const { recover, sweepUntil, incidents } = await downCart(t, 2)
  await recover()
  await sweepUntil(END + 25 * 60 * MINUTE, 5 * MINUTE)
  const [incident] = incidents()
  assert.deepEqual([incident?.status, incident?.resolved_at], ['resolved', END])
})

test('a reopened incident and a newer one for its service both end after a healthy day', async (t) => {
  const { recover, resolve, reopen, send, sweepUntil, incidents } = await downCart(t)
  await recover()
  await resolve()
  const later = { startsAt: NOON + 60 * MINUTE }
  await send('metrics', alertmanager([alert('Slow', { service: 'cart' }, later)]), { at: NOON + 60 * MINUTE })
  await reopen()
  const ended = { ...later, endsAt: NOON + 70 * MINUTE }
  await send('metrics', alertmanager([alert('Slow', { service: 'cart' }, ended)]), { at: NOON + 70 * MINUTE })
  assert.deepEqual(
    incidents().map(({ status }) => status),
    ['open', 'open'],
  )
  await sweepUntil(NOON + 27 * 60 * MINUTE, 5 * MINUTE)
  assert.deepEqual(
    incidents().map(({ status }) => status),
    ['resolved', 'resolved'],
  )
})

test('the recovery is that of the last alert, and unknown while one is firing', async (t) => {
  const { recover, record } = await downCart(t, 3)
  assert.deepEqual([record()?.firingAlerts, record()?.recoveredAt], [3, null])
  await recover()
  assert.deepEqual([record()?.firingAlerts, record()?.recoveredAt], [0, END])
})

test('the timeline names the alerts that were firing when a person resolved the incident', async (t) => {
  const { resolve, timeline, incidents } = await downCart(t, 3)
  await resolve()
  const [incident] = incidents()
  assert.ok(incident)
  const { text, facts } = timeline(incident).at(-1) ?? {}
  const alerts = ['Down0', 'Down1', 'Down2'].map((name) => [name, 1])
  assert.deepEqual([text, JSON.parse(facts ?? '')], ['', { code: 'firing', alerts }])
})

test('the timeline does not mention alerts that had ended', async (t) => {
  const { recover, resolve, timeline, incidents } = await downCart(t)
  await recover()
  await resolve()
  const [incident] = incidents()
  assert.ok(incident)
  assert.deepEqual([timeline(incident).at(-1)?.code, timeline(incident).at(-1)?.text], ['resolved', ''])
})

/** Returns the kinds of the messages with their minutes after noon. */
async function withChannel(t: TestContext) {
  const flow = makeFlow(t)
  createChannel(flow.deps, flow.acme.key, { name: 'one', kind: 'slack', target: 'https://example.com/x' })
  createChannel(flow.deps, flow.charlie.key, { name: 'other', kind: 'slack', target: 'https://example.com/x' })
  const down = (times: object) => alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON, ...times })])
  await flow.send('metrics', down({}))
  await changeIncident(flow.deps, flow.acme.key, flow.incidents()[0]?.id ?? '', { status: 'resolved' }, 'anna')
  const remindAt = (minutes: number) => {
    flow.clock.now = NOON + minutes * MINUTE
    remind(flow.deps)
  }
  const messages = () =>
    flow.deps.db
      .all(flow.deps.db.sql.selectFrom('outbox').select(['kind', 'created_at']).orderBy('id'))
      .map(({ kind, created_at: at }) => [kind, (at - NOON) / MINUTE])
  return { ...flow, down, remindAt, messages }
}

test('channels are notified once, after half an hour, that alerts are still firing', async (t) => {
  const { remindAt, messages } = await withChannel(t)
  for (const minute of [29, 30, 31, 1439, 1440, 1500]) remindAt(minute)
  assert.deepEqual(messages().slice(2), [['still-firing', 30]])
})

test('no message is sent if the alerts have ended in the meantime', async (t) => {
  const { send, down, remindAt, messages } = await withChannel(t)
  await send('metrics', down({ endsAt: END }), { at: END })
  remindAt(60)
  assert.equal(messages().length, 2)
})

test('an acknowledgement that lapsed when the problem returned still counts in the report', async (t) => {
  const { deps, acme, id, clock, recover, send, sweepUntil, record } = await downCart(t)
  clock.now = NOON + 5 * MINUTE
  await changeIncident(deps, acme.key, id, { status: 'investigating' }, 'anna')
  await recover()
  await sweepUntil(END + 2 * MINUTE)
  const again = END + 5 * MINUTE
  await send('metrics', alertmanager([alert('Down0', { service: 'cart' }, { startsAt: again })]), { at: again })
  assert.deepEqual([record()?.status, record()?.acknowledgedAt], ['open', null])
  const report = findReliability(deps.db, acme.key, { from: NOON - MINUTE, to: again }, 10)
  assert.equal(report?.organization.mtta.mean, 300)
})
