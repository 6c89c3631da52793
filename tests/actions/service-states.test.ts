/** The history of services has one row per change and is pruned with the alerts. Also tests incident numbers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listIncidents } from '../../src/store/incident/incidents.ts'
import { listStates } from '../../src/store/service/states.ts'
import { DAY, MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pruneFully } from '../helpers/retention.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const FIRING = alert('CartDown', { service: 'cart', severity: 'critical' }, { startsAt: NOON })
const ENDED = { ...FIRING, status: 'resolved', endsAt: new Date(NOON + 10 * MINUTE).toISOString() }
const PAGE = { page: 1, limit: 50 }

test('stores one row when a service becomes critical and one for each change on the way back', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([FIRING]), { at: NOON })
  await flow.send('metrics', alertmanager([FIRING]), { at: NOON + MINUTE })
  await flow.send('metrics', alertmanager([ENDED]), { at: NOON + 10 * MINUTE })
  await flow.sweepUntil(NOON + 60 * MINUTE)
  const states = listStates(flow.deps.db, flow.acme.key, flow.service('cart')?.id ?? '', NOON - DAY) ?? []
  const scores = states.map(({ score }) => score)
  assert.deepEqual(
    [scores[0], states[0]?.status, scores.at(-1), states.at(-1)?.status],
    [60, 'critical', 100, 'healthy'],
  )
  assert.deepEqual(
    scores,
    scores.toSorted((a, b) => a - b),
  )
})

test('the next sweep includes a warning of 15 minutes, although an alert with its name is firing', async (t) => {
  const flow = makeFlow(t)
  const slow = (pod: string, startsAt: number) =>
    alert('Slow', { service: 'cart', pod, severity: 'warning' }, { startsAt })
  await flow.send('metrics', alertmanager([slow('cart-1', NOON)]))
  await flow.send('metrics', alertmanager([slow('cart-2', NOON - 15 * MINUTE)]))
  assert.equal(flow.service('cart')?.score, 88)
  await flow.sweepUntil(NOON + 1)
  assert.equal(flow.service('cart')?.score, 75)
})

test('a period starts with the state at its start', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([FIRING]), { at: NOON })
  const id = flow.service('cart')?.id ?? ''
  const [first, ...more] = listStates(flow.deps.db, flow.acme.key, id, NOON + DAY) ?? []
  assert.deepEqual([first?.at, first?.status, more], [NOON, 'critical', []])
})

test("Charlie gets no history of Acme's service", async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([FIRING]))
  const id = flow.service('cart')?.id ?? ''
  assert.equal(listStates(flow.deps.db, flow.charlie.key, id, 0), null)
  assert.equal(listStates(flow.deps.db, flow.acme.key, 'cart', 0), null)
})

test('pruning keeps the state at the limit and all later ones', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([FIRING]), { at: NOON })
  await flow.send('metrics', alertmanager([ENDED]), { at: NOON + 10 * MINUTE })
  await flow.sweepUntil(NOON + 60 * MINUTE)
  flow.clock.now = NOON + 500 * DAY
  pruneFully(flow.deps, flow.acme, { approved: true })
  const states = flow.deps.db.all(flow.deps.db.sql.selectFrom('service_states').select(['status', 'score']))
  assert.deepEqual(states, [{ status: 'healthy', score: 100 }])
})

test('incidents are numbered within their organization', async (t) => {
  const flow = makeFlow(t)
  for (const service of ['cart', 'search'])
    await flow.send('metrics', alertmanager([alert('Down', { service, severity: 'critical' }, { startsAt: NOON })]))
  await flow.send('metrics', alertmanager([FIRING]), { as: flow.charlie })
  const numbers = (of: { key: number }) =>
    listIncidents(flow.deps.db, of.key, {}, PAGE).items.map(({ number }) => number)
  assert.deepEqual([numbers(flow.acme).sort(), numbers(flow.charlie)], [[1, 2], [1]])
})
