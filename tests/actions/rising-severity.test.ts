/** A warning that becomes critical: it has been critical since it became so, and not since the warning. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toProblem } from '../../src/store/incident/live-incidents.ts'
import { findTimeline } from '../../src/store/incident/timeline-facts.ts'
import { createIncident, createSilence, expireSilence } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { criticalMsOf, mutedMsOf } from '../helpers/lengths.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const at = (minutes: number) => NOON + minutes * MINUTE
type Flow = ReturnType<typeof makeFlow>

/** One item of a rule that has two severities. */
const slow = (severity: string, from: number, until?: number) => {
  const ended = until === undefined ? {} : { endsAt: at(until) }
  return alert('Slow', { service: 'cart', severity }, { startsAt: at(from), summary: `${severity} latency`, ...ended })
}

function only(flow: Flow) {
  const [incident, ...others] = flow.incidents()
  assert.ok(incident)
  assert.deepEqual(others, [])
  const problem = toProblem(incident.problem)
  const severities = flow.timeline(incident).filter(({ code }) => code === 'severity')
  return {
    incident,
    problem,
    since: problem.since === null ? null : (problem.since - NOON) / MINUTE,
    startedAt: (incident.started_at - NOON) / MINUTE,
    minutes: criticalMsOf(problem, flow.clock.now) / MINUTE,
    changes: severities.map(({ at: time, facts }) => {
      const { from, to } = JSON.parse(facts ?? '')
      return [(time - NOON) / MINUTE, `changed from ${from} to ${to}`]
    }),
  }
}

const ROSE = 'changed from warning to critical'
const FELL = 'changed from critical to warning'

for (const order of ['first', 'last'] as const) {
  test(`a critical item that comes ${order} in the group starts the problem, and not the warning`, async (t) => {
    const flow = makeFlow(t)
    await flow.send('metrics', alertmanager([slow('warning', 0)]), { at: at(1) })
    const items = [slow('critical', 60), slow('warning', 0)]
    await flow.send('metrics', alertmanager(order === 'first' ? items : items.toReversed()), { at: at(61) })
    await flow.sweepUntil(at(70))
    const { since, startedAt, minutes, changes } = only(flow)
    assert.deepEqual([since, startedAt, minutes], [60, 60, 10])
    assert.deepEqual(changes, [[60, ROSE]])
    assert.equal(flow.alerts()[0]?.summary, 'critical latency')
  })
}

for (const [what, ends, wanted] of [
  ['as a critical one keeps the words that were critical', ['critical', 'warning'], 'critical latency'],
  ['as a warning after it was critical has the words of the warning', ['critical'], 'warning latency'],
] as const) {
  test(`an alert that ends ${what}, and its timeline says what was critical`, async (t) => {
    const flow = makeFlow(t)
    await flow.send('metrics', alertmanager([slow('warning', 0)]), { at: at(1) })
    await flow.send('metrics', alertmanager([slow('critical', 60)]), { at: at(61) })
    const from = { critical: 60, warning: 0 }
    const items = ends.map((severity) => ({ ...slow(severity, from[severity], 70), annotations: { summary: 'Slow' } }))
    await flow.send('metrics', alertmanager(items), { at: at(70) })
    if (ends.length === 1) await flow.send('metrics', alertmanager([slow('warning', 0, 75)]), { at: at(75) })
    await flow.sweepUntil(at(76))
    assert.equal(flow.alerts()[0]?.summary, wanted)
    const found = findTimeline(flow.deps.db, flow.acme.key, flow.incidents()[0]?.id ?? '', at(76)) ?? []
    const rows = found.map(({ text }) => text)
    assert.ok(rows.includes(`severity of Slow ${ROSE}: critical latency`), rows.join('\n'))
    assert.ok(rows.every((text) => !text.includes(`${FELL}:`)))
  })
}

for (const order of ['before', 'after'] as const) {
  test(`a warning that returns just ${order} the end of the critical item goes on`, async (t) => {
    const flow = makeFlow(t)
    await flow.send('metrics', alertmanager([slow('warning', 0)]), { at: at(1) })
    await flow.send('metrics', alertmanager([slow('critical', 5), slow('warning', 0, 5)]), { at: at(6) })
    const items = [slow('critical', 5, 20), slow('warning', order === 'before' ? 19.5 : 20)]
    await flow.send('metrics', alertmanager(items), { at: at(21) })
    await flow.send('metrics', alertmanager([slow('warning', 0)]), { at: at(21.5) })
    await flow.sweepUntil(at(23))
    const [kept, ...others] = flow.alerts()
    assert.deepEqual([kept?.status, kept?.severity, others.length], ['firing', 'warning', 0])
    assert.equal(only(flow).incident.status, 'monitoring')
  })
}

test('the fall back to the warning has its own row, at the time of the fall', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([slow('warning', 0)]), { at: at(1) })
  await flow.send('metrics', alertmanager([slow('critical', 5), slow('warning', 0)]), { at: at(6) })
  await flow.send('metrics', alertmanager([slow('critical', 5, 20), slow('warning', 0)]), { at: at(21) })
  await flow.sweepUntil(at(23))
  const { incident, minutes, changes } = only(flow)
  assert.deepEqual(changes, [
    [5, ROSE],
    [20, FELL],
  ])
  assert.deepEqual([incident.status, minutes], ['monitoring', 15])
})

test('a rule whose severity label changes has been critical since its critical item', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([slow('warning', 0)]), { at: at(1) })
  await flow.send('metrics', alertmanager([slow('warning', 0, 30), slow('critical', 30)]), { at: at(31) })
  await flow.sweepUntil(at(35))
  assert.deepEqual([only(flow).since, only(flow).startedAt], [30, 30])
})

test('a severity that rises under one fingerprint counts from the delivery that says so, even after a restart', async (t) => {
  const flow = makeFlow(t)
  const told = (severity: string) => slow(severity, 0)
  const one = (severity: string) => ({ ...told(severity), fingerprint: 'f1' })
  await flow.send('metrics', alertmanager([one('warning')]), { at: at(1) })
  await flow.send('metrics', alertmanager([one('critical')]), { at: at(40) })
  flow.restart()
  await flow.send('metrics', alertmanager([one('critical')]), { at: at(45) })
  await flow.sweepUntil(at(50))
  const { since, startedAt, minutes, changes } = only(flow)
  assert.deepEqual([since, startedAt, minutes, changes], [40, 40, 10, [[40, 'changed from null to critical']]])
})

test('a problem that returns under one name counts from its new critical item', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([slow('warning', 0), slow('critical', 5)]), { at: at(6) })
  await flow.send('metrics', alertmanager([slow('warning', 0), slow('critical', 5, 10)]), { at: at(10) })
  await flow.sweepUntil(at(12))
  await flow.send('metrics', alertmanager([slow('warning', 0), slow('critical', 15)]), { at: at(16) })
  await flow.sweepUntil(at(20))
  assert.deepEqual([only(flow).since, only(flow).minutes], [15, 10])
})

test('an incident that a user declares critical did not begin with a warning', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([slow('warning', 0)]), { at: at(1) })
  flow.clock.now = at(120)
  const serviceId = flow.service('cart')?.id ?? ''
  await createIncident(flow.deps, flow.acme.key, { title: 'Cart hangs', serviceId, severity: 'critical' }, 'ann')
  assert.equal(only(flow).since, 120)
})

for (const [first, minutes] of [
  ['silence', 10],
  ['alert', 13],
] as const) {
  test(`silenced time is no critical time if the ${first} came first`, async (t) => {
    const flow = makeFlow(t)
    const { deps, acme } = flow
    const period = { startsAt: NOON, endsAt: at(600), schedule: null, comment: 'work' }
    const silence = () => {
      const matchers = [{ name: 'service', op: '=' as const, value: 'cart' }]
      return createSilence(deps, acme.key, { ...period, startsAt: flow.clock.now, matchers }, 'ann')
    }
    let id = first === 'silence' ? await silence() : ''
    await flow.send('metrics', alertmanager([slow('critical', 2)]), { at: at(2) })
    await flow.sweepUntil(at(5))
    if (first === 'alert') id = await silence()
    await flow.sweepUntil(at(20))
    await expireSilence(deps, acme.key, id)
    await flow.sweepUntil(at(30))
    const { minutes: critical, startedAt, problem } = only(flow)
    assert.deepEqual([critical, startedAt, mutedMsOf(problem, at(30)) / MINUTE], [minutes, 2, 28 - minutes])
  })
}
