/** Heartbeats: incmon tracks Watchdog, and its silence opens one incident. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeOrganization } from '../../src/actions/organizations.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, times, watchdog } from '../helpers/senders.ts'

const HOUR = 60 * MINUTE

/** Sends a heartbeat every five minutes for an hour, the last one at 12:55. */
async function beating(flow: Flow): Promise<void> {
  for (const at of times(NOON, NOON + HOUR, 5 * MINUTE)) {
    await flow.sweepUntil(at)
    await flow.send('metrics', watchdog(), { at })
  }
}

function sender({ deps: { db } }: Flow) {
  return db.first(db.sql.selectFrom('senders').selectAll())
}

test('a heartbeat is stored and belongs to no service', async (t) => {
  const flow = makeFlow(t)
  await beating(flow)
  assert.equal(sender(flow)?.heartbeat_at, NOON + 55 * MINUTE)
  assert.deepEqual([flow.alerts(), flow.services()], [[], []])
  assert.ok(flow.events().every(({ kind, service_id, awaited }) => kind === 'heartbeat' && !service_id && !awaited))
})

test('heartbeats are not assigned to `unattributed` when it is created', async (t) => {
  const flow = makeFlow(t)
  await beating(flow)
  await flow.send('metrics', alertmanager([alert('Odd', { namespace: '' })]))
  await flow.send('metrics', watchdog())
  assert.equal(flow.service('unattributed')?.name, 'unattributed')
  assert.equal(flow.events().filter(({ service_id }) => service_id !== null).length, 1)
})

test('three missed heartbeats open exactly one incident', async (t) => {
  const flow = makeFlow(t)
  await beating(flow)
  await flow.sweepUntil(NOON + 69 * MINUTE)
  assert.deepEqual(flow.incidents(), [])
  await flow.sweepUntil(NOON + 71 * MINUTE)
  await flow.sweepUntil(NOON + 30 * HOUR, HOUR)
  const [incident, ...more] = flow.incidents()
  assert.deepEqual(
    [incident?.title, incident?.cause, more.length],
    ['sender silent: Alertmanager (incmon)', 'silence', 0],
  )
  assert.deepEqual([incident?.started_at, incident?.created_at], [NOON + 55 * MINUTE, NOON + 70 * MINUTE])
})

test('a new heartbeat resolves the incident, and a second outage opens a second one', async (t) => {
  const flow = makeFlow(t)
  await beating(flow)
  await flow.sweepUntil(NOON + 2 * HOUR)
  await flow.send('metrics', watchdog())
  assert.deepEqual([flow.incidents()[0]?.status, flow.incidents()[0]?.resolved_at], ['resolved', NOON + 2 * HOUR])
  await flow.sweepUntil(NOON + 4 * HOUR)
  assert.deepEqual(
    flow.incidents().map(({ status }) => status),
    ['resolved', 'open'],
  )
})

test('a resolved Watchdog is not a heartbeat and resolves nothing', async (t) => {
  const flow = makeFlow(t)
  await beating(flow)
  await flow.sweepUntil(NOON + 2 * HOUR)
  await flow.send('metrics', watchdog({ endsAt: NOON + 2 * HOUR }))
  assert.equal(flow.incidents()[0]?.status, 'open')
})

test('a missing InfoInhibitor opens no incident', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('InfoInhibitor', { severity: 'none' })]))
  await flow.sweepUntil(NOON + 48 * HOUR, HOUR)
  assert.deepEqual([flow.incidents(), flow.alerts(), sender(flow)?.heartbeat_at], [[], [], null])
})

test('before the first heartbeat nothing is missing', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('CartSlow', { deployment: 'cart', severity: 'info' })]))
  await flow.sweepUntil(NOON + 48 * HOUR, HOUR)
  assert.deepEqual(flow.incidents(), [])
})

test('with heartbeats off, a missing heartbeat opens nothing', async (t) => {
  const flow = makeFlow(t)
  await changeOrganization(flow.deps, flow.acme.key, { settings: { heartbeats: false } })
  await beating(flow)
  await flow.sweepUntil(NOON + 3 * HOUR)
  assert.deepEqual(flow.incidents(), [])
})

test('a restart during the outage opens no second incident', async (t) => {
  const flow = makeFlow(t)
  await beating(flow)
  flow.restart()
  await flow.sweepUntil(NOON + 2 * HOUR)
  flow.restart()
  await flow.sweepUntil(NOON + 3 * HOUR)
  assert.equal(flow.incidents().length, 1)
})

test('an incident resolved by a person during the outage stays resolved', async (t) => {
  const flow = makeFlow(t)
  await beating(flow)
  await flow.sweepUntil(NOON + 2 * HOUR)
  await changeIncident(flow.deps, flow.acme.key, flow.incidents()[0]?.id ?? '', { status: 'resolved' }, 'Ann')
  await flow.sweepUntil(NOON + 4 * HOUR)
  await flow.send('metrics', watchdog())
  assert.deepEqual(
    flow.incidents().map(({ status, resolved_at }) => [status, resolved_at]),
    [['resolved', NOON + 2 * HOUR]],
  )
})

test('heartbeats are separate by receiver, cluster and organization', async (t) => {
  const flow = makeFlow(t)
  await beating(flow)
  for (const at of times(NOON + HOUR, NOON + 2 * HOUR, 5 * MINUTE)) {
    await flow.sweepUntil(at)
    await flow.send('metrics', watchdog(), { at, cluster: 'staging' })
    await flow.send('metrics', watchdog(), { at, as: flow.charlie })
  }
  assert.deepEqual([flow.incidents().length, flow.incidents(flow.charlie).length], [1, 0])
})

test('an outage that opens no incident does not hide the next one', async (t) => {
  const flow = makeFlow(t)
  const beat = async (from: number, until: number) => {
    for (const at of times(NOON + from * MINUTE, NOON + until * MINUTE, 2.5 * MINUTE)) {
      await flow.sweepUntil(at)
      await flow.send('metrics', watchdog({ startsAt: NOON }), { at })
    }
  }
  await beat(0, 10.1)
  await beat(17, 20.1)
  await flow.sweepUntil(NOON + 26.9 * MINUTE)
  assert.deepEqual(flow.incidents(), [])
  assert.deepEqual([sender(flow)?.heartbeat_gap, sender(flow)?.longest_gap], [2.5 * MINUTE, 2.5 * MINUTE])
  await flow.sweepUntil(NOON + 27.1 * MINUTE)
  assert.deepEqual(
    flow.incidents().map(({ cause }) => cause),
    ['silence'],
  )
})

/** Sends the heartbeat in these minutes, and sweeps before each. */
async function beatAt(flow: Flow, minutes: readonly number[]): Promise<void> {
  for (const minute of minutes) {
    await flow.sweepUntil(NOON + minute * MINUTE)
    await flow.send('metrics', watchdog({ startsAt: NOON }))
  }
}

test('a sender that became slower is silent no more', async (t) => {
  const flow = makeFlow(t)
  await beatAt(flow, [0, 2, 4, 6, 11, 16, 21, 26, 31])
  assert.equal(sender(flow)?.heartbeat_gap, 5 * MINUTE)
})

test('a pause of less than two intervals hides no outage either, unless it comes twice', async (t) => {
  const flow = makeFlow(t)
  await beatAt(flow, [0, 2.5, 5, 9.75, 11.75])
  assert.equal(sender(flow)?.heartbeat_gap, 2.5 * MINUTE)
  await flow.sweepUntil(NOON + 20 * MINUTE)
  assert.deepEqual(
    flow.incidents().map(({ cause }) => cause),
    ['silence'],
  )
})

test('an outage teaches no group of the sender a longer interval', async (t) => {
  const flow = makeFlow(t)
  const slow = (name: string) =>
    alertmanager([alert(name, { severity: 'warning' }, { startsAt: NOON })], { groupKey: name })
  for (const minute of [0, 2, 4, 6, 8, 40, 42]) {
    await flow.sweepUntil(NOON + minute * MINUTE)
    for (const body of [watchdog({ startsAt: NOON }), slow('Slow'), slow('Busy')]) await flow.send('metrics', body)
  }
  assert.equal(sender(flow)?.longest_gap, 2 * MINUTE)
})

for (const [what, copies] of [
  ['', []],
  [', also with the copies of a second Alertmanager', [15_000]],
] as const) {
  test(`outages leave a short interval as it is, so that each is noticed after five minutes${what}`, async (t) => {
    const flow = makeFlow(t)
    const beat = async (at: number) => {
      await flow.sweepUntil(at, MINUTE / 2)
      for (const late of [0, ...copies]) await flow.send('metrics', watchdog({ startsAt: NOON }), { at: at + late })
    }
    for (const from of [0, 8, 16, 24]) {
      for (const at of times(NOON + from * MINUTE, NOON + (from + 5) * MINUTE, MINUTE / 2)) await beat(at)
    }
    assert.equal(flow.incidents().length, 0)
    await flow.sweepUntil(NOON + 40 * MINUTE, MINUTE / 4)
    const last = NOON + 28.5 * MINUTE + (copies[0] ?? 0)
    assert.deepEqual(
      flow.incidents().map((one) => [one.started_at, one.created_at]),
      [[last, last + 5 * MINUTE]],
    )
  })
}

test('a second Alertmanager does not keep a slower interval from being learned', async (t) => {
  const flow = makeFlow(t)
  const beat = async (at: number) => {
    await flow.sweepUntil(at)
    for (const late of [0, 15_000]) await flow.send('metrics', watchdog({ startsAt: NOON }), { at: at + late })
  }
  for (const at of times(NOON, NOON + 10 * MINUTE, 2 * MINUTE)) await beat(at)
  for (const at of times(NOON + 18 * MINUTE, NOON + 90 * MINUTE, 10 * MINUTE)) await beat(at)
  assert.ok(flow.incidents().every(({ created_at }) => created_at < NOON + 40 * MINUTE))
})
