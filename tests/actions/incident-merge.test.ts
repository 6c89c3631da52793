/** A merge carries over what is still on: nobody gets an all-clear while it goes on, and nobody hears anything twice. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { problemAt } from '../../src/domain/incident/problem.ts'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { toProblem } from '../../src/store/incident/live-incidents.ts'
import { findPostmortem } from '../../src/store/incident/postmortems.ts'
import { changeIncident, createIncident, mergeIncidents } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { criticalMsOf } from '../helpers/lengths.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

function world(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme, send, incidents, clock } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const fire = (service: string, from: number, end?: number) => {
    const times = { startsAt: NOON + from * MINUTE, ...(end === undefined ? {} : { endsAt: NOON + end * MINUTE }) }
    const body = alertmanager([alert('Down', { service }, times)], { groupKey: service })
    return send('metrics', body, { at: NOON + (end ?? from) * MINUTE })
  }
  const of = (service: string) => {
    const own = flow.service(service)
    return incidents().find(({ service_id: id }) => id === own?.key)
  }
  const id = (service: string) => of(service)?.id ?? ''
  const declare = async (service: string) => {
    await send('metrics', alertmanager([alert('Known', { service, severity: 'info' }, { startsAt: clock.now })]))
    const wanted = { title: 'Customers pay twice', serviceId: flow.service(service)?.id ?? '', severity: 'critical' }
    return createIncident(deps, acme.key, wanted as never, 'Dana')
  }
  const merge = (from: string, into: string) =>
    mergeIncidents(deps, acme.key, { from: id(from), into: id(into) }, 'Dana')
  const resolve = (service: string) => changeIncident(deps, acme.key, id(service), { status: 'resolved' }, 'Dana')
  const told = () => {
    const rows = deps.db.sql.selectFrom('outbox').innerJoin('incidents', 'incidents.id', 'outbox.incident_id')
    const services = rows.innerJoin('services', 'services.id', 'incidents.service_id')
    return deps.db
      .all(services.select(['outbox.kind', 'services.name']).orderBy('outbox.id'))
      .map(({ kind, name }) => `${name} ${kind}`)
  }
  const state = (service: string) => {
    const problem = toProblem(of(service)?.problem ?? '{}')
    return [of(service)?.status, problemAt(problem, clock.now), problem.firing.join()]
  }
  return { ...flow, fire, declare, merge, resolve, told, state, of }
}

const DECLARED = '“Customers pay twice” of cart'

for (const [what, isDeclared, fires, names] of [
  ['a declared incident', true, false, DECLARED],
  ['an incident whose alert fires', false, true, 'Down of cart'],
  ['a declared incident whose service fires, too', true, true, `Down of cart,${DECLARED}`],
] as const) {
  test(`${what} is merged into a recovered one, which is on again until what was merged is over`, async (t) => {
    const { fire, declare, merge, told, state, sweepUntil, resolve, of } = world(t)
    await fire('web', 0)
    await fire('web', 0, 2)
    await sweepUntil(NOON + 4 * MINUTE)
    assert.deepEqual(state('web'), ['monitoring', 'off', ''])
    if (isDeclared) await declare('cart')
    if (fires) await fire('cart', 4)
    await merge('cart', 'web')
    await sweepUntil(NOON + 60 * MINUTE)
    assert.deepEqual(state('web'), ['open', 'on', names])
    assert.deepEqual(state('cart').slice(0, 2), ['resolved', 'off'])
    // What got worse in the first minute is queued for its end, and not sent after the merge.
    const before = ['web opened', 'web recovered', 'cart opened', ...(isDeclared && fires ? ['cart worse'] : [])]
    assert.deepEqual(told(), [...before, 'cart resolved', 'web again'])
    if (isDeclared) await resolve('web')
    if (fires) await fire('cart', 4, 61)
    await sweepUntil(NOON + 63 * MINUTE)
    assert.deepEqual(state('web').slice(0, 2), [isDeclared ? 'resolved' : 'monitoring', 'off'])
    assert.deepEqual(told().slice(before.length + 2), [isDeclared ? 'web resolved' : 'web recovered'])
    const criticalMs = criticalMsOf(toProblem(of('web')?.problem ?? '{}'), 0)
    assert.equal(criticalMs / MINUTE, isDeclared && !fires ? 58 : 59)
  })
}

test('what somebody declared goes on after the alerts of the incident into which it was merged', async (t) => {
  const { fire, declare, merge, told, state, sweepUntil, resolve } = world(t)
  await fire('web', 0)
  await declare('cart')
  await merge('cart', 'web')
  await fire('web', 0, 2)
  await sweepUntil(NOON + 60 * MINUTE)
  assert.deepEqual(state('web'), ['open', 'on', DECLARED])
  assert.deepEqual(told(), ['web opened', 'cart opened', 'cart resolved'])
  await resolve('web')
  await sweepUntil(NOON + 99 * MINUTE)
  assert.deepEqual([...state('web'), ...told().slice(3)], ['resolved', 'off', '', 'web resolved'])
})

for (const isDeclared of [true, false]) {
  test(`the postmortem ${isDeclared ? 'counts what was declared for another service, and names it' : 'of one service names no other'}`, async (t) => {
    const { fire, declare, merge, sweepUntil, resolve, of, deps, acme } = world(t)
    await fire('web', 0)
    if (isDeclared) {
      await declare('cart')
      await merge('cart', 'web')
    }
    await fire('web', 0, 2)
    await sweepUntil(NOON + 10 * MINUTE)
    await resolve('web')
    const written = findPostmortem(deps.db, acme.key, of('web')?.id ?? '')
    const text = markdown(written?.document ?? assert.fail('no postmortem'))
    assert.match(
      text,
      isDeclared ? /Critical for:\*\* 10 min, counting “Customers pay twice” of cart/ : /Critical for:\*\* 2 min \(/,
    )
    assert.match(text, isDeclared ? /Services: shop\/web, shop\/cart\n/ : /Services: shop\/web\n/)
  })
}

test('an incident that was merged into a merged one is no other incident', async (t) => {
  const { fire, merge, sweepUntil, resolve, of, deps, acme } = world(t)
  for (const service of ['web', 'cart', 'pay', 'mail']) await fire(service, 0)
  await merge('pay', 'cart')
  await merge('cart', 'web')
  await sweepUntil(NOON + 2 * MINUTE)
  await resolve('web')
  const text = markdown(findPostmortem(deps.db, acme.key, of('web')?.id ?? '')?.document ?? assert.fail('none'))
  assert.match(text, /Other incidents that opened during this one: “mail: Down” \(incident 4\) \(E/)
})

test('a recovered incident that is merged into a recovered one brings no message about it', async (t) => {
  const { fire, merge, told, state, sweepUntil } = world(t)
  for (const service of ['web', 'cart']) await fire(service, 0)
  for (const service of ['web', 'cart']) await fire(service, 0, 2)
  await sweepUntil(NOON + 4 * MINUTE)
  await merge('cart', 'web')
  await sweepUntil(NOON + 9 * MINUTE)
  assert.deepEqual(state('web').slice(0, 2), ['monitoring', 'off'])
  assert.deepEqual(told().slice(4), ['cart resolved'])
})

test('an alert after the merge opens an incident of its own, which recovers by itself', async (t) => {
  const { fire, declare, merge, told, sweepUntil, incidents } = world(t)
  await fire('web', 0)
  await declare('cart')
  await merge('cart', 'web')
  await sweepUntil(NOON + 5 * MINUTE)
  await fire('cart', 10)
  await fire('cart', 10, 12)
  await sweepUntil(NOON + 15 * MINUTE)
  const titles = incidents().map(({ title, status }) => [title, status])
  assert.deepEqual(titles.at(-1), ['cart: Down', 'monitoring'])
  assert.deepEqual(told().slice(-2), ['cart opened', 'cart recovered'])
})
