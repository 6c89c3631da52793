/** Pruning: what expires, and what is kept despite its age. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeOrganization } from '../../src/actions/organizations.ts'
import { prune, pruneAll } from '../../src/actions/pruning/prune.ts'
import { findPostmortem } from '../../src/store/incident/postmortems.ts'
import { findFact } from '../../src/store/live/facts.ts'
import { listOrganizations } from '../../src/store/organizations.ts'
import { uuidFromBytes } from '../../src/store/sqlite/uuid.ts'
import { changeIncident } from '../helpers/acts.ts'
import {
  DAY,
  MINUTE,
  makeEvent,
  makeIncident,
  makeRejection,
  makeService,
  makeToken,
  NOON,
} from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import {
  eventsOf,
  incidentAt,
  inventory,
  POD,
  pruneFully,
  pruneInSteps,
  routine,
  routineWeek,
} from '../helpers/retention.ts'
import { alert, alertmanager, crashLoop, kubernetesEvent, pipeline } from '../helpers/senders.ts'

test('an event is deleted exactly when it reaches the retention limit', async (t) => {
  const flow = makeFlow(t)
  await routineWeek(flow)
  flow.clock.now = NOON + 28 * DAY - 1
  pruneFully(flow.deps, flow.acme)
  assert.deepEqual(eventsOf(flow), [-2, -1, 0])
  flow.clock.now += 1
  pruneFully(flow.deps, flow.acme)
  assert.deepEqual(eventsOf(flow), [-1, 0])
})

test('the age of a late event is counted from its receipt', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', routine(NOON - 100 * DAY))
  flow.clock.now = NOON + 30 * DAY - 1
  pruneFully(flow.deps, flow.acme)
  assert.deepEqual(eventsOf(flow), [-100])
  flow.clock.now += 1
  pruneFully(flow.deps, flow.acme)
  assert.deepEqual(eventsOf(flow), [])
})

test('the last event of a firing alert is kept, because its id is returned for repeats', async (t) => {
  const flow = makeFlow(t)
  const fires = alertmanager([alert('Old', { deployment: 'pay', severity: 'warning' }, { startsAt: NOON })])
  const first = await flow.send('metrics', fires)
  for (let day = 1; day <= 40; day += 1) await flow.send('metrics', fires, { at: NOON + day * DAY })
  pruneFully(flow.deps, flow.acme)
  const again = await flow.send('metrics', fires)
  assert.deepEqual([eventsOf(flow), again.eventIds], [[0], first.eventIds])
})

test('each organization has its own limits', async (t) => {
  const flow = makeFlow(t)
  for (const as of [flow.acme, flow.charlie]) await routineWeek(flow, as)
  await changeOrganization(flow.deps, flow.charlie.key, { settings: { 'retention-events-days': 2 } })
  for (const as of [flow.acme, flow.charlie]) pruneFully(flow.deps, as)
  assert.deepEqual([eventsOf(flow).length, eventsOf(flow, flow.charlie)], [7, [-1, 0]])
})

test('an event is deleted with its payload', async (t) => {
  const flow = makeFlow(t)
  const { deps } = flow
  const bodies = () => deps.db.all(deps.db.sql.selectFrom('payloads').select('event_id')).length
  const same = alertmanager([alert('Slow', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON })])
  for (const day of [0, 10]) {
    await flow.send('metrics', same, { at: NOON + day * DAY })
    await flow.sweepUntil(flow.clock.now + 3 * DAY, DAY / 8)
  }
  flow.clock.now = NOON + 35 * DAY
  pruneFully(deps, flow.acme)
  assert.deepEqual([eventsOf(flow).length, bodies()], [1, 1])
  flow.clock.now = NOON + 45 * DAY
  pruneFully(deps, flow.acme)
  assert.equal(bodies(), 0)
})

test('an alert is deleted 400 days after it ended; a firing alert is kept', async (t) => {
  const flow = makeFlow(t)
  const fires = alertmanager([alert('Old', { deployment: 'pay', severity: 'warning' }, { startsAt: NOON })])
  await flow.send('metrics', { ...fires, groupKey: 'a' })
  await flow.send('ci', pipeline('failed', 'shop/cart', { at: NOON }))
  await flow.sweepUntil(NOON + 3 * DAY, 30 * MINUTE)
  const [settled] = flow.alerts().filter((one) => one.settled_at !== null)
  assert.ok(settled?.settled_at)
  flow.deps.db.run(
    flow.deps.db.sql
      .updateTable('alerts')
      .set({ status: 'firing', settled_at: null, ends_at: null, resolution: null })
      .where('name', '=', 'Old'),
  )
  flow.clock.now = NOON + 500 * DAY
  pruneFully(flow.deps, flow.acme)
  assert.deepEqual(
    flow.alerts().map(({ name }) => name),
    ['Old'],
  )
  assert.deepEqual(inventory(flow, flow.acme).pipelines, [])
})

test('the age of an alert that ended while no server ran is counted from the next run', async (t) => {
  const flow = makeFlow(t)
  const ended = { startsAt: NOON - MINUTE, endsAt: NOON }
  await flow.send('metrics', alertmanager([alert('Old', { deployment: 'pay', severity: 'warning' }, ended)]))
  const kept = () => {
    pruneFully(flow.deps, flow.acme)
    return flow.alerts().length
  }
  const next = NOON + 740 * DAY
  flow.clock.now = next
  assert.equal(kept(), 1)
  await flow.sweepUntil(next + MINUTE, MINUTE)
  flow.clock.now = next + 399 * DAY
  assert.equal(kept(), 1)
  flow.clock.now = next + 401 * DAY
  assert.equal(kept(), 0)
})

test('an incident with a postmortem is kept, with all records referenced by the document', async (t) => {
  const flow = makeFlow(t)
  const { id } = await incidentAt(flow, NOON, flow.acme)
  await flow.sweepUntil(NOON + 3 * DAY, DAY / 8)
  const { document } = findPostmortem(flow.deps.db, flow.acme.key, id) ?? assert.fail('no postmortem')
  flow.clock.now = NOON + 700 * DAY
  pruneFully(flow.deps, flow.acme)
  assert.deepEqual(findPostmortem(flow.deps.db, flow.acme.key, id)?.document, document)
  const named = [...JSON.stringify(document).matchAll(/(event|alert)\/([0-9a-f-]{36})/g)].map(([, , uuid]) => uuid)
  const { events, alerts } = inventory(flow, flow.acme)
  const there = [...events, ...alerts].map(({ uuid }) => uuidFromBytes(uuid))
  assert.ok(named.length > 0 && named.every((uuid) => there.includes(uuid ?? '')))
})

test('an incident is deleted with its postmortem after 730 days, with all records that only it references', async (t) => {
  const flow = makeFlow(t)
  await incidentAt(flow, NOON, flow.acme)
  await flow.sweepUntil(NOON + 3 * DAY, DAY / 8)
  flow.clock.now = NOON + 740 * DAY
  pruneFully(flow.deps, flow.acme)
  const { events, alerts, incidents, postmortems, timeline } = inventory(flow, flow.acme)
  assert.deepEqual([events, alerts, incidents, postmortems, timeline], [[], [], [], [], []])
})

test('with retention-incidents-days 0, a postmortem is kept forever', async (t) => {
  const flow = makeFlow(t)
  await changeOrganization(flow.deps, flow.acme.key, { settings: { 'retention-incidents-days': 0 } })
  const { id } = await incidentAt(flow, NOON, flow.acme)
  await flow.sweepUntil(NOON + 3 * DAY, DAY / 8)
  flow.clock.now = NOON + 9000 * DAY
  pruneFully(flow.deps, flow.acme)
  assert.ok(findPostmortem(flow.deps.db, flow.acme.key, id))
})

test('an incident without a postmortem is deleted after 400 days, with records that only it references', async (t) => {
  const flow = makeFlow(t)
  const basil = flow.basil
  await incidentAt(flow, NOON, basil)
  await flow.sweepUntil(NOON + 3 * DAY, DAY / 8)
  flow.clock.now = NOON + 100 * DAY
  pruneFully(flow.deps, basil)
  assert.ok(inventory(flow, basil).events.length > 0)
  flow.clock.now = NOON + 500 * DAY
  pruneFully(flow.deps, basil)
  const { events, alerts, incidents } = inventory(flow, basil)
  assert.deepEqual([events, alerts, incidents], [[], [], []])
  assert.equal(flow.services(basil).length, 1)
})

test('a resolved incident is kept while one of its alerts fires, and then learns of the end', async (t) => {
  const flow = makeFlow(t)
  const { deps, basil } = flow
  await changeOrganization(deps, basil.key, { settings: { 'retention-events-days': 7, 'retention-alerts-days': 30 } })
  const down = alert('Down', { deployment: 'cart', severity: 'critical' }, { startsAt: NOON })
  await flow.send('metrics', alertmanager([down]), { as: basil })
  const { key, id } = flow.incidents(basil)[0] ?? assert.fail('no incident')
  await changeIncident(deps, basil.key, id, { status: 'resolved' }, 'Ann')
  for (let hours = 2; hours < 24 * 40; hours += 2) {
    await flow.send('metrics', alertmanager([down]), { at: NOON + hours * 60 * MINUTE, as: basil })
    await flow.sweepUntil(flow.clock.now + MINUTE, MINUTE)
  }
  pruneFully(deps, basil)
  const over = { ...down, status: 'resolved', endsAt: new Date(flow.clock.now).toISOString() }
  await flow.send('metrics', alertmanager([over]), { as: basil })
  assert.deepEqual([flow.incidents(basil).map((one) => one.key), flow.alerts(basil)[0]?.status], [[key], 'resolved'])
})

test('records kept for an open incident are deleted with it', async (t) => {
  const flow = makeFlow(t)
  const { deps, basil } = flow
  const scaled = kubernetesEvent('ScalingReplicaSet', 'till', {
    kind: 'Deployment',
    message: 'Scaled up replica set till-6c9f7d8b5 to 3',
  })
  await changeOrganization(deps, basil.key, { settings: { 'retention-alerts-days': 30 } })
  const { id } = await incidentAt(flow, NOON, basil)
  for (let day = 1; day < 40; day += 0.5) {
    await flow.sweepUntil(NOON + day * DAY, DAY / 8)
    await changeIncident(deps, basil.key, id, { status: day % 1 === 0 ? 'investigating' : 'identified' }, 'Ann')
    if (day === 5) await flow.send('cluster', scaled, { as: basil })
  }
  pruneFully(deps, basil)
  assert.deepEqual(eventsOf(flow, basil), [0, 0, 0, 0, 5])
  await flow.sweepUntil(NOON + 80 * DAY, DAY / 2)
  pruneFully(deps, basil)
  assert.deepEqual(eventsOf(flow, basil), [])
})

test('records referenced by a timeline are kept as long as the incident', (t) => {
  const flow = makeFlow(t)
  const { db } = flow.deps
  const service = makeService(db, flow.basil, 'cart')
  const incident = makeIncident(db, flow.basil, service)
  const named = makeEvent(db, flow.basil, { at: NOON - 90 * DAY })
  const entry = { incident_id: incident.key, at: NOON, kind: 'note', text: 'see', ref: `event/${named.id}` }
  db.run(db.sql.insertInto('timeline').values(entry))
  flow.clock.now = NOON + 600 * DAY
  pruneFully(flow.deps, flow.basil)
  assert.equal(eventsOf(flow, flow.basil).length, 1)
  const over = { status: 'resolved', resolved_at: NOON } as const
  db.run(db.sql.updateTable('incidents').set(over).where('id', '=', incident.key))
  pruneFully(flow.deps, flow.basil)
  assert.equal(eventsOf(flow, flow.basil).length, 0)
})

test('rejections and inactive groups expire with the events; tokens and running images stay', async (t) => {
  const flow = makeFlow(t)
  const { db } = flow.deps
  makeRejection(db, flow.acme, 'bad')
  makeToken(db, flow.acme, ['read'], { revoked_at: NOON })
  await flow.send('metrics', alertmanager([alert('Slow', {}, { startsAt: NOON, endsAt: NOON })]))
  for (const tag of ['1', '2']) {
    const message = `Pulling image "registry.example/shop/cart/web:${tag}"`
    await flow.send('cluster', kubernetesEvent('Pulling', POD, { message }), { at: flow.clock.now + MINUTE })
  }
  await flow.sweepUntil(NOON + 3 * DAY, DAY / 8)
  await flow.sweepUntil(NOON + 500 * DAY, 100 * DAY)
  pruneFully(flow.deps, flow.acme)
  const count = (table: 'rejections' | 'groups' | 'tokens') => db.all(db.sql.selectFrom(table).selectAll()).length
  assert.deepEqual([count('rejections'), count('groups'), count('tokens')], [0, 0, 1])
  assert.deepEqual(db.all(db.sql.selectFrom('images').select('tag')), [{ tag: '2' }])
})

test('no step of pruning deletes more than 200 events, so that nobody waits for one', (t) => {
  const { deps, acme, clock } = makeFlow(t)
  const { db } = deps
  const expired = { at: NOON - 90 * DAY, received_at: NOON - 90 * DAY }
  for (let made = 0; made < 450; made += 1) makeEvent(db, acme, expired)
  clock.now = NOON
  const count = () => db.all(db.sql.selectFrom('events').select('id')).length
  const [organization] = listOrganizations(db)
  const sizes = [count()]
  for (const _ of prune(deps, organization as never, { approved: true })) sizes.push(count())
  const deleted = sizes.map((size, step) => (sizes[step - 1] ?? size) - size)
  assert.deepEqual([Math.max(...deleted), count()], [200, 0])
})

test('webhooks between two steps of pruning are stored', async (t) => {
  const flow = makeFlow(t)
  await routineWeek(flow)
  flow.clock.now = NOON + 60 * DAY
  const pass = pruneInSteps(flow.deps, flow.acme, { rows: 1 })
  const stored: string[] = []
  while (!pass.next().done) stored.push(...(await flow.send('cluster', crashLoop(POD))).eventIds)
  const there = inventory(flow, flow.acme).events.map(({ uuid }) => uuidFromBytes(uuid))
  assert.ok(stored.length > 7)
  assert.deepEqual(there.sort(), stored.sort())
})

test('a workload without remaining events does not become a CI project', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD))
  await flow.sweepUntil(NOON + 3 * DAY, DAY / 8)
  const { db } = flow.deps
  const service = flow.service('cart')?.key ?? 0
  flow.clock.now = NOON + 100 * DAY
  pruneFully(flow.deps, flow.acme)
  assert.deepEqual([eventsOf(flow), findFact(db, flow.acme.key, 'hasOnlyCi', { serviceId: service })], [[], false])
})

test('an organization whose pruning fails does not affect others', async (t) => {
  const flow = makeFlow(t)
  for (const as of [flow.acme, flow.charlie]) await routineWeek(flow, as)
  flow.deps.db.execute(`CREATE TRIGGER refuse BEFORE DELETE ON events WHEN old.organization_id = ${flow.acme.key}
    BEGIN SELECT raise(ABORT, 'refused'); END`)
  flow.clock.now = NOON + 26 * DAY
  const failed: string[] = []
  for (const _ of pruneAll(flow.deps, { waits: () => {}, failed: ({ name }) => void failed.push(name) }));
  assert.deepEqual([failed, eventsOf(flow).length, eventsOf(flow, flow.charlie).length], [['Acme'], 7, 4])
})

test('an empty organization has nothing to prune', (t) => {
  const { deps } = makeFlow(t)
  const [organization = assert.fail()] = listOrganizations(deps.db)
  assert.deepEqual([...prune(deps, organization)].at(-1), { done: 0, of: 0 })
})
