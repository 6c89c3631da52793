/** A declared problem that goes on while critical alerts begin, end and return: who hears it, and for how long it was critical. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { severeOf, severityNow } from '../../src/domain/incident/lasted.ts'
import { findLiveIncident } from '../../src/store/incident/live-incidents.ts'
import { changeIncident, createIncident, mergeIncidents } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Anna declares a warning on cart at noon. A channel wants only what is critical. */
async function declared(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  const rules = [{ minSeverity: 'critical' as const }]
  createChannel(deps, acme.key, {
    name: 'pager',
    kind: 'slack',
    target: 'https://example.com/x',
    rules,
    remindAfter: 0,
  })
  const labels = (severity = 'critical') => ({ service: 'cart', severity })
  await flow.send('metrics', alertmanager([alert('Busy', labels('info'), { startsAt: NOON })], { groupKey: 'Busy' }))
  const to = async (minute: number) => flow.sweepUntil(NOON + minute * MINUTE, MINUTE / 6)
  const fires = async (minute: number, name = 'Down') => {
    await to(minute)
    const one = alert(name, labels(), { startsAt: flow.clock.now })
    await flow.send('metrics', alertmanager([one], { groupKey: name }))
  }
  const ends = async (minute: number, name = 'Down') => {
    await to(minute)
    const one = alert(name, labels(), { startsAt: flow.clock.now - 1, endsAt: flow.clock.now })
    await flow.send('metrics', alertmanager([one], { groupKey: name }))
  }
  const declare = (title = 'Typo') =>
    createIncident(deps, acme.key, { serviceId: flow.service('cart')?.id ?? '', title, severity: 'warning' }, 'anna')
  const told = () => {
    const rows = deps.db.all(deps.db.sql.selectFrom('outbox').select(['kind', 'created_at as at']).orderBy('id'))
    return rows.map(({ kind, at }) => `${kind} at ${(at - NOON) / MINUTE}`)
  }
  const act = (id: string, change: object) => changeIncident(deps, acme.key, id, change, 'anna')
  const merge = (from: string, into: string) => mergeIncidents(deps, acme.key, { from, into }, 'anna')
  /** The severity, and for how many minutes it has been so. Once it is over: the worst one. */
  const severe = (id: string) => {
    const incident = findLiveIncident(deps.db, acme.key, id)
    assert.ok(incident)
    const { severity, ms } = severeOf(incident, flow.clock.now)
    return [severityNow(incident), severity, Math.round((10 * ms) / MINUTE) / 10]
  }
  return { ...flow, to, fires, ends, declare, told, act, merge, severe }
}

test('a critical alert that returns to a declared warning is told again', async (t) => {
  const { declare, fires, ends, told, to } = await declared(t)
  await declare()
  await fires(2)
  await ends(3)
  await fires(7)
  await ends(8)
  await fires(40)
  await to(45)
  assert.deepEqual(told(), ['opened at 2', 'severity at 3', 'worse at 7', 'severity at 8', 'worse at 40'])
})

test('one that returns within the settle time is not', async (t) => {
  const { declare, fires, ends, told, to } = await declared(t)
  await declare()
  await fires(2)
  await ends(3)
  await fires(3.5)
  await to(10)
  assert.deepEqual(told(), ['opened at 2', 'severity at 3'])
})

test('one that flaps is told three more times, and then only after a pause of 15 minutes', async (t) => {
  const { declare, fires, ends, told } = await declared(t)
  await declare()
  for (let minute = 2; minute < 30; minute += 4) {
    await fires(minute)
    await ends(minute + 1)
  }
  await fires(45)
  assert.deepEqual(
    told().filter((one) => !one.startsWith('severity')),
    ['opened at 2', 'worse at 6', 'worse at 10', 'worse at 14', 'worse at 45'],
  )
  assert.deepEqual(
    told().filter((one) => one.startsWith('severity')),
    ['severity at 3', 'severity at 7', 'severity at 11', 'severity at 15'],
  )
})

test('of two critical alerts, one that returns while the other fires is no news', async (t) => {
  const { declare, fires, ends, told, to } = await declared(t)
  await declare()
  await fires(2)
  await fires(3, 'Slow')
  await ends(4)
  await fires(7)
  await to(10)
  assert.deepEqual(told(), ['opened at 2', 'worse at 3'])
})

test('a critical incident that keeps only a declared warning is a warning, and is critical again with its alert', async (t) => {
  const { declare, fires, ends, told, merge, severe, act, incidents, to } = await declared(t)
  await fires(1)
  const [first] = incidents()
  const into = first?.id ?? ''
  await merge((await otherOf(declare, incidents, into)) ?? '', into)
  await to(2)
  assert.deepEqual(severe(into), ['critical', 'critical', 1])
  await ends(3)
  await to(6)
  assert.deepEqual(severe(into), ['warning', 'warning', 3])
  await fires(8)
  await to(9)
  assert.deepEqual(severe(into).slice(0, 2), ['critical', 'critical'])
  await ends(10)
  await to(15)
  await act(into, { status: 'resolved' })
  assert.deepEqual(severe(into), ['critical', 'critical', 4])
  assert.deepEqual(
    told()
      .slice(0, 1)
      .concat(told().filter((one) => one.startsWith('worse'))),
    ['opened at 1', 'worse at 8'],
  )
})

async function otherOf(declare: () => Promise<unknown>, incidents: () => { id: string }[], known: string) {
  await declare()
  return incidents().find(({ id }) => id !== known)?.id
}

for (const [what, isIntoDeclared] of [
  ['the alert into what was declared', true],
  ['what was declared into the alert', false],
] as const) {
  test(`merged in either direction, the severity follows the alert: ${what}`, async (t) => {
    const { declare, fires, ends, merge, severe, incidents, to, act } = await declared(t)
    await fires(1)
    const down = incidents()[0]?.id ?? ''
    const typo = (await otherOf(declare, incidents, down)) ?? ''
    const [from, into] = isIntoDeclared ? [down, typo] : [typo, down]
    await to(2)
    await merge(from, into)
    assert.deepEqual(severe(into)[0], 'critical')
    await ends(3)
    await to(9)
    assert.deepEqual(severe(into)[0], 'warning')
    // A user rates the whole incident.
    await act(into, { severity: 'error' })
    assert.deepEqual(severe(into)[0], 'error')
    await act(into, { status: 'resolved' })
    assert.deepEqual(severe(into).slice(1), ['critical', 2])
  })
}

test('a critical alert in the first minute of a declared warning is told at once', async (t) => {
  const { declare, fires, ends, told, to } = await declared(t)
  await declare()
  await fires(0.5)
  await ends(0.8)
  await to(5)
  assert.deepEqual(told(), ['opened at 0.5', 'severity at 0.8'])
})

test('another critical alert in the first minute of an incident that a user lowered makes it critical at once', async (t) => {
  const { fires, ends, told, act, incidents, severe, to } = await declared(t)
  await fires(0)
  const id = incidents()[0]?.id ?? ''
  await act(id, { severity: 'warning' })
  await fires(0.5, 'Other')
  assert.deepEqual([severe(id)[0], told()], ['critical', ['opened at 0', 'worse at 0.5']])
  await ends(2)
  await ends(3, 'Other')
  await to(5)
  assert.deepEqual(severe(id), ['critical', 'critical', 2.5])
})

test('after a merge into an incident that had recovered, the critical time is the sum of both periods', async (t) => {
  const { fires, ends, send, merge, incidents, severe, to, clock } = await declared(t)
  const web = (more: object) => alertmanager([alert('Bad', { service: 'web' }, more)], { groupKey: 'web' })
  await fires(0)
  await ends(1)
  await to(3)
  await send('metrics', web({ startsAt: clock.now }))
  const [cart, other] = incidents().map(({ id }) => id)
  await merge(other ?? '', cart ?? '')
  await fires(4)
  await to(5)
  await send('metrics', web({ startsAt: clock.now - 1, endsAt: clock.now }))
  await ends(6)
  await to(8)
  assert.deepEqual(severe(cart ?? ''), ['critical', 'critical', 4])
})
