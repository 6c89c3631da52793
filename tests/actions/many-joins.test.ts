/**
 * Incidents that open while many warnings are firing, or that end together: the work is spread over several batches.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const SERVICES = ['cart', 'web', 'search', 'payment', 'mail', 'login']
const WARNINGS = 600

/** Sends 600 firing warnings and then a critical alert for each service. */
async function storm(flow: Flow, services: readonly string[]): Promise<void> {
  for (const deployment of services) {
    const warnings = Array.from({ length: WARNINGS }, (_, pod) =>
      alert('Slow', { deployment, instance: `${pod}`, severity: 'warning' }, { startsAt: NOON }),
    )
    await flow.send('metrics', alertmanager(warnings))
  }
  const critical = services.map((deployment) => alert('Down', { deployment }, { startsAt: NOON }))
  await flow.send('metrics', alertmanager(critical))
}

function joined(flow: Flow): number {
  return flow.alerts().filter(({ incident_id }) => incident_id !== null).length
}

test('in the end all warnings have joined', async (t) => {
  const flow = makeFlow(t)
  await storm(flow, SERVICES)
  while (await flow.deps.engine.sweep());
  assert.equal(joined(flow), SERVICES.length * (WARNINGS + 1))
  assert.equal(flow.incidents().length, SERVICES.length)
  for (const { alert_count } of flow.incidents()) assert.equal(alert_count, WARNINGS + 1)
})

test('no batch adds more than 1,500 alerts to incidents', async (t) => {
  const flow = makeFlow(t)
  await storm(flow, SERVICES)
  const counts = [joined(flow)]
  while (await flow.deps.engine.sweep()) counts.push(joined(flow))
  const added = counts.map((count, index) => count - (counts[index - 1] ?? 0))
  assert.ok(counts.length > 2 && Math.max(...added) <= 1_500, `${added}`)
})

test('after a restart between two batches, the rest joins', async (t) => {
  const flow = makeFlow(t)
  await storm(flow, SERVICES)
  assert.ok(joined(flow) < SERVICES.length * (WARNINGS + 1))
  flow.restart()
  while (await flow.deps.engine.sweep());
  assert.equal(joined(flow), SERVICES.length * (WARNINGS + 1))
})

test('after a restart while one service has more warnings than can join at once, the rest joins', async (t) => {
  const flow = makeFlow(t)
  await storm(flow, ['cart'])
  assert.equal(joined(flow), 500)
  flow.restart()
  while (await flow.deps.engine.sweep());
  assert.equal(joined(flow), WARNINGS + 1)
})

test('each of many incidents that end together gets its postmortem', async (t) => {
  const flow = makeFlow(t)
  const { db, engine } = flow.deps
  const services = Array.from({ length: 12 }, (_, index) => `job${index}`)
  const send = (times: object) =>
    flow.send('metrics', alertmanager(services.map((deployment) => alert('Down', { deployment }, times))))
  await send({ startsAt: NOON - 10 * MINUTE })
  await send({ startsAt: NOON - 10 * MINUTE, endsAt: NOON })
  await flow.sweepUntil(NOON + 60 * MINUTE, 60 * MINUTE)
  flow.clock.now = NOON + 26 * 60 * MINUTE
  const written = () => db.all(db.sql.selectFrom('postmortems').select('id')).length
  while (await engine.sweep());
  assert.equal(written(), services.length)
})
