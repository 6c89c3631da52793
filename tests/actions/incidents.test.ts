/** Incidents: the whole life cycle of an automatic one, and changes by people. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeOrganization } from '../../src/actions/organizations.ts'
import { findPostmortem } from '../../src/store/incident/postmortems.ts'
import { uuidFromBytes } from '../../src/store/sqlite/uuid.ts'
import { addNote, changeIncident, createIncident } from '../helpers/acts.ts'
import { MINUTE, NOON, newUuid } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, kubernetesEvent, pipeline } from '../helpers/senders.ts'

const HOUR = 60 * MINUTE
const POD = 'cart-5d4f8c7b9-x2kqp'

function down(at: number, name = 'CartDown') {
  return alertmanager([alert(name, { deployment: 'cart' }, { startsAt: at })])
}
function up(at: number, name = 'CartDown') {
  return alertmanager([alert(name, { deployment: 'cart' }, { startsAt: NOON, endsAt: at })])
}
function states(flow: Flow) {
  return flow.incidents().map(({ status }) => status)
}
async function change(flow: Flow, what: Parameters<typeof changeIncident>[3], by = flow.acme) {
  await changeIncident(flow.deps, by.key, flow.incidents()[0]?.id ?? '', what, 'Ann')
}

/** Creates an incident that opened at noon and whose service recovered at ten past. */
async function recovered(flow: Flow): Promise<void> {
  await flow.send('metrics', down(NOON))
  await flow.send('metrics', up(NOON + 10 * MINUTE), { at: NOON + 10 * MINUTE })
}

test('a critical alert opens an incident immediately, with its alert and the first evidence', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down(NOON - MINUTE))
  const [incident] = flow.incidents()
  assert.deepEqual([incident?.title, incident?.origin, incident?.status], ['cart: CartDown', 'automatic', 'open'])
  assert.deepEqual([incident?.started_at, incident?.created_at, incident?.alert_count], [NOON - MINUTE, NOON, 1])
})

test('a reopened incident counts a returning alert once', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down(NOON))
  await flow.send('metrics', up(NOON + MINUTE), { at: NOON + MINUTE })
  await change(flow, { status: 'resolved' })
  await flow.send('metrics', down(NOON + 4 * MINUTE), { at: NOON + 5 * MINUTE })
  const [incident, ...more] = flow.incidents()
  assert.deepEqual([incident?.status, incident?.alert_count, more], ['open', 1, []])
})

test('a single event opens an incident only after a minute', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD))
  await flow.sweepUntil(NOON + MINUTE - 1)
  assert.deepEqual(states(flow), [])
  await flow.sweepUntil(NOON + MINUTE)
  assert.deepEqual(states(flow), ['open'])
})

test('a crash loop with count four opens an incident immediately', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD, { count: 3 }))
  assert.deepEqual(states(flow), [])
  await flow.send('cluster', crashLoop(POD, { count: 4 }))
  assert.deepEqual(states(flow), ['open'])
})

test('a deleted pod ends its condition before an incident opens', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD))
  const killing = kubernetesEvent('Killing', POD, { message: 'Stopping container app' })
  await flow.send('cluster', killing, { at: NOON + MINUTE / 2 })
  await flow.sweepUntil(NOON + 10 * MINUTE)
  assert.deepEqual(states(flow), [])
})

for (const order of ['before', 'after']) {
  test(`a deploy that scales the old ReplicaSet to zero ends the conditions of its pods, received ${order} them`, async (t) => {
    const flow = makeFlow(t)
    const message = 'Scaled down replica set cart-5d4f8c7b9 to 0 from 1'
    const scaled = kubernetesEvent('ScalingReplicaSet', 'cart', { kind: 'Deployment', message, at: NOON + 30_000 })
    const bodies = [crashLoop(POD, { count: 2, at: NOON }), scaled]
    for (const body of order === 'after' ? bodies : bodies.reverse())
      await flow.send('cluster', body, { at: NOON + 30_000 })
    await flow.sweepUntil(NOON + 10 * MINUTE)
    assert.deepEqual(states(flow), [])
    const [ended] = flow.alerts()
    assert.deepEqual([ended?.status, ended?.resolution, ended?.ends_at], ['resolved', 'reported', NOON + 30_000])
  })
}

test('a repeated event opens an incident', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD, { count: 6 }))
  await flow.send('cluster', crashLoop(POD, { count: 9 }), { at: NOON + 2 * MINUTE })
  assert.deepEqual(states(flow), ['open'])
})

test('an event and an alert that agree open an incident immediately, even if neither is critical alone', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD))
  assert.deepEqual(states(flow), [])
  await flow.send('metrics', alertmanager([alert('KubePodCrashLooping', { pod: POD, severity: 'warning' })]))
  assert.deepEqual([states(flow), flow.incidents()[0]?.alert_count], [['open'], 2])
})

test('an alert that only an event makes critical is critical since the event, in whatever order they arrive', async (t) => {
  const warning = (severity = 'warning') => {
    const labels = { pod: POD, severity }
    return alertmanager([alert('KubePodCrashLooping', labels, { startsAt: NOON - 6 * MINUTE })])
  }
  const startOf = async (...sent: readonly (readonly ['cluster' | 'metrics', object])[]) => {
    const flow = makeFlow(t)
    for (const [webhook, body] of sent) await flow.send(webhook, body)
    const [found] = flow.incidents()
    return found && [found.started_at, JSON.parse(found.problem).since]
  }
  assert.deepEqual(await startOf(['metrics', warning()], ['cluster', crashLoop(POD)]), [NOON, NOON])
  assert.deepEqual(await startOf(['cluster', crashLoop(POD)], ['metrics', warning()]), [NOON, NOON])
  const sent = await startOf(['cluster', crashLoop(POD)], ['metrics', warning('critical')])
  assert.deepEqual(sent, [NOON - 6 * MINUTE, NOON - 6 * MINUTE])
})

test('warnings and failed deploys open no incident', async (t) => {
  const flow = makeFlow(t)
  const warnings = ['A', 'B', 'C', 'D', 'E', 'F'].map((name) =>
    alert(name, { deployment: 'cart', severity: 'warning' }),
  )
  await flow.send('metrics', alertmanager(warnings))
  const deploy = { id: 1, name: 'deploy', stage: 'deploy', status: 'failed' }
  await flow.send('ci', pipeline('failed', 'shop/cart', { jobs: [deploy] }))
  await flow.send('metrics', alertmanager([alert('Odd', { namespace: '', severity: 'warning' })]))
  await flow.sweepUntil(NOON + 50 * MINUTE)
  assert.deepEqual(states(flow), [])
  assert.equal(flow.service('unattributed')?.status, 'degraded')
})

test('with auto-incidents off no incident opens automatically', async (t) => {
  const flow = makeFlow(t)
  await changeOrganization(flow.deps, flow.acme.key, { settings: { 'auto-incidents': 'off' } })
  await flow.send('metrics', down(NOON))
  assert.deepEqual([states(flow), flow.service('cart')?.status], [[], 'critical'])
})

test('later alerts join the oldest open incident of their service', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down(NOON))
  const cart = flow.service('cart')?.id ?? ''
  flow.clock.now += MINUTE
  await createIncident(flow.deps, flow.acme.key, { title: 'Ours', serviceId: cart, severity: 'error' }, 'Ann')
  await flow.send('metrics', down(NOON + 2 * MINUTE, 'CartSlow'), { at: NOON + 2 * MINUTE })
  assert.deepEqual(
    flow.incidents().map(({ alert_count }) => alert_count),
    [2, 0],
  )
})

test('a critical alert without a service opens one incident for its name, titled with name and summary', async (t) => {
  const flow = makeFlow(t)
  const nameless = (name: string, more: object = {}) => alert(name, { namespace: '', ...more }, { startsAt: NOON })
  await flow.send(
    'metrics',
    alertmanager([nameless('EtcdDown'), nameless('VpnDown'), nameless('EtcdDown', { member: '2' })]),
  )
  assert.deepEqual(
    flow.incidents().map(({ title, alert_count }) => [title.split(':')[0], alert_count]),
    [
      ['EtcdDown', 2],
      ['VpnDown', 1],
    ],
  )
  assert.equal(flow.service('unattributed')?.status, 'degraded')
})

test('a minute after the end an incident changes to monitoring; after 30 minutes it is resolved as of the recovery', async (t) => {
  const flow = makeFlow(t)
  await recovered(flow)
  await flow.sweepUntil(NOON + 11 * MINUTE - 1)
  assert.deepEqual(states(flow), ['open'])
  await flow.sweepUntil(NOON + 11 * MINUTE)
  assert.deepEqual(states(flow), ['monitoring'])
  flow.restart()
  await flow.sweepUntil(NOON + 40 * MINUTE)
  const [incident] = flow.incidents()
  assert.equal(incident?.status, 'resolved')
  assert.equal(incident?.resolved_at, NOON + 10 * MINUTE)
  assert.equal(incident?.acknowledged_at, null)
})

test('an incident that a person has touched stays in monitoring for a day', async (t) => {
  const flow = makeFlow(t)
  await recovered(flow)
  await addNote(flow.deps, flow.acme.key, flow.incidents()[0]?.id ?? '', 'still looking', 'Ann')
  await flow.sweepUntil(NOON + 24 * HOUR, 10 * MINUTE)
  assert.deepEqual(states(flow), ['monitoring'])
  await flow.sweepUntil(NOON + 25 * HOUR, 10 * MINUTE)
  assert.deepEqual(states(flow), ['resolved'])
})

for (const [what, prepare, isTold] of [
  ['of a draft', async () => undefined, true],
  [
    'of a final document',
    async (flow: Flow) => flow.deps.db.run(flow.deps.db.sql.updateTable('postmortems').set({ state: 'final' })),
    false,
  ],
  [
    'whose alert belongs to another incident by now',
    async (flow: Flow) => flow.deps.db.run(flow.deps.db.sql.updateTable('alerts').set({ incident_id: null })),
    false,
  ],
] as const) {
  test(`a note after the resolution ${isTold ? 'is' : 'is not'} in the postmortem ${what}`, async (t) => {
    const flow = makeFlow(t)
    await recovered(flow)
    await change(flow, { status: 'resolved' })
    await prepare(flow)
    const id = flow.incidents()[0]?.id ?? ''
    await addNote(flow.deps, flow.acme.key, id, 'The certificate had expired.', 'Ann')
    const { revision, document } = findPostmortem(flow.deps.db, flow.acme.key, id) ?? {}
    assert.equal(revision, isTold ? 2 : 1)
    assert.equal(/The certificate had expired/.test(JSON.stringify(document)), isTold)
    assert.equal(/the notes may say more/.test(JSON.stringify(document)), isTold)
    assert.match(JSON.stringify(document), /CartDown/)
  })
}

test('with auto-resolve off an incident stays in monitoring', async (t) => {
  const flow = makeFlow(t)
  await changeOrganization(flow.deps, flow.acme.key, { settings: { 'auto-resolve': 'off' } })
  await recovered(flow)
  await flow.sweepUntil(NOON + 72 * HOUR, HOUR)
  assert.deepEqual(states(flow), ['monitoring'])
})

for (const [minutes, expected] of [
  [30, ['open']],
  [31, ['resolved', 'open']],
] as const) {
  test(`critical again ${minutes} minutes after its recovery: ${expected.join(', then ')}`, async (t) => {
    const flow = makeFlow(t)
    await recovered(flow)
    await flow.sweepUntil(NOON + 20 * MINUTE)
    await change(flow, { status: 'resolved' })
    const at = NOON + (10 + minutes) * MINUTE
    await flow.send('metrics', down(at), { at })
    assert.deepEqual(states(flow), expected)
  })
}

test('the next incident names the previous one', async (t) => {
  const flow = makeFlow(t)
  await recovered(flow)
  await flow.sweepUntil(NOON + HOUR)
  await flow.send('metrics', down(NOON + HOUR))
  const [first, second] = flow.incidents()
  assert.deepEqual(second?.previous && uuidFromBytes(second.previous), first?.id)
})

test('an acknowledgement lapses when the problem returns, and the first one is kept', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down(NOON))
  await change(flow, { status: 'investigating' })
  await flow.send('metrics', up(NOON + 10 * MINUTE), { at: NOON + 10 * MINUTE })
  await flow.sweepUntil(NOON + 12 * MINUTE)
  await flow.send('metrics', down(NOON + 15 * MINUTE), { at: NOON + 15 * MINUTE })
  const [incident] = flow.incidents()
  assert.deepEqual([incident?.status, incident?.acknowledged_at, incident?.acknowledged_by], ['open', null, null])
  assert.equal(JSON.parse(incident?.problem ?? '{}').firstAcknowledgedAt, NOON)
})

test('after a manual resolve no incident opens until the alerts have ended once', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down(NOON))
  await change(flow, { status: 'resolved' })
  for (const hour of [1, 2, 3]) await flow.send('metrics', down(NOON), { at: NOON + hour * HOUR })
  assert.deepEqual(states(flow), ['resolved'])
  await flow.send('metrics', up(NOON + 4 * HOUR), { at: NOON + 4 * HOUR })
  await flow.send('metrics', down(NOON + 5 * HOUR), { at: NOON + 5 * HOUR })
  assert.deepEqual(states(flow), ['resolved', 'open'])
})

test('after a manual resolve, another critical alert reopens the incident', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down(NOON))
  await change(flow, { status: 'resolved' })
  await flow.send('metrics', alertmanager([alert('DatabaseDown', { deployment: 'cart' }, { startsAt: NOON })]))
  assert.deepEqual(states(flow), ['open'])
  assert.equal(flow.incidents()[0]?.alert_count, 2)
})

test('fifty parallel resolves create one timeline entry', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down(NOON))
  await Promise.all(Array.from({ length: 50 }, async () => change(flow, { status: 'resolved' })))
  const entries = flow.timeline(flow.incidents()[0] ?? { key: 0 })
  assert.deepEqual(
    entries.filter(({ kind }) => kind === 'status').map(({ facts, actor }) => [facts, actor]),
    [['{"code":"firing","alerts":[["CartDown",1]]}', 'Ann']],
  )
})

test('the first change away from open acknowledges; an edit and a resolution do not', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down(NOON))
  await change(flow, { title: 'Cart was down' })
  await change(flow, { status: 'resolved' })
  assert.equal(flow.incidents()[0]?.acknowledged_at, null)
  await change(flow, { status: 'identified' })
  const [incident] = flow.incidents()
  assert.deepEqual([incident?.acknowledged_at, incident?.acknowledged_by], [NOON, 'Ann'])
})

test('a manual incident takes over the firing alerts and their start, except info alerts', async (t) => {
  const flow = makeFlow(t)
  await flow.send(
    'metrics',
    alertmanager([alert('Note', { deployment: 'cart', severity: 'info' }, { startsAt: NOON })]),
  )
  const slow = alert('CartSlow', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON + HOUR })
  await flow.send('metrics', alertmanager([slow]), { at: NOON + 2 * HOUR })
  const wanted = { title: 'Slow', serviceId: flow.service('cart')?.id ?? '', severity: 'error' } as const
  await createIncident(flow.deps, flow.acme.key, wanted, 'Ann')
  const [incident] = flow.incidents()
  assert.deepEqual([incident?.started_at, incident?.alert_count], [NOON + HOUR, 1])
})

test('an incident opened while the clock was ahead can be resolved, and its start is never in the future', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down(NOON + 72 * HOUR), { at: NOON + 72 * HOUR })
  flow.clock.now = NOON
  await change(flow, { status: 'resolved' })
  const [incident] = flow.incidents()
  assert.deepEqual([incident?.status, incident?.started_at, incident?.resolved_at], ['resolved', NOON, NOON])
  assert.ok(incident && flow.timeline(incident).some(({ text }) => /^start time moved .+ earlier$/.test(text)))
})

test('a start in the future, an unknown service and an unknown incident are refused', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down(NOON))
  await assert.rejects(() => change(flow, { startedAt: NOON + 1 }), { code: 'invalid' })
  await assert.rejects(() => changeIncident(flow.deps, flow.acme.key, newUuid(), {}, 'Ann'), { code: 'not-found' })
  const wanted = { title: 'x', serviceId: newUuid(), severity: 'error' } as const
  await assert.rejects(() => createIncident(flow.deps, flow.acme.key, wanted, 'Ann'), { code: 'unprocessable' })
})

test("Charlie can find neither Acme's incident nor its service", async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down(NOON))
  await assert.rejects(() => change(flow, { status: 'resolved' }, flow.charlie), { code: 'not-found' })
  const wanted = { title: 'x', serviceId: flow.service('cart')?.id ?? '', severity: 'error' } as const
  await assert.rejects(() => createIncident(flow.deps, flow.charlie.key, wanted, 'Eve'), { code: 'unprocessable' })
  assert.deepEqual([states(flow), flow.incidents(flow.charlie)], [['open'], []])
})
