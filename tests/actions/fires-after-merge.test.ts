/** An alert whose incident was merged or resolved by hand: who hears of it when it fires on or fires anew, and since when. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { changeIncident, createIncident, createSilence, mergeIncidents } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE

function merging(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const report = (service: string, from: number, until?: number, name = 'Bad') => {
    const period = { startsAt: after(from), ...(until === undefined ? {} : { endsAt: after(until) }) }
    const body = alertmanager([alert(name, { service, severity: 'critical' }, period)], { groupKey: service })
    return flow.send('metrics', body, { at: after(until ?? from) })
  }
  const merge = (from: number, into: number) => {
    const [a, b] = [flow.incidents()[from]?.id ?? '', flow.incidents()[into]?.id ?? '']
    return mergeIncidents(deps, acme.key, { from: a, into: b }, 'anna')
  }
  const silence = (service: string, until: number) => {
    const period = { startsAt: flow.clock.now, endsAt: after(until), schedule: null, comment: 'Upgrade' }
    return createSilence(deps, acme.key, { matchers: parseMatchers(`service="${service}"`), ...period }, 'anna')
  }
  const resolve = () => changeIncident(deps, acme.key, flow.incidents()[0]?.id ?? '', { status: 'resolved' }, 'anna')
  const until = (minutes: number) => flow.sweepUntil(after(minutes), MINUTE / 2)
  /** Returns the kinds of the messages from a minute on. */
  const told = (from: number) =>
    deps.db
      .all(deps.db.sql.selectFrom('outbox').select('kind').where('created_at', '>=', after(from)).orderBy('id'))
      .map(({ kind }) => kind)
  const states = () =>
    flow.incidents().map(({ title, status, problem, alert_count: alerts }) => {
      const { since } = JSON.parse(problem)
      return [title, status, since && (since - NOON) / MINUTE, alerts]
    })
  return { ...flow, report, merge, silence, resolve, until, told, states }
}

type Flow = ReturnType<typeof merging>

/** Returns a flow in which pay has failed since noon and web for a minute, and pay's incident was merged into web's. */
async function merged(t: TestContext) {
  const flow = merging(t)
  await flow.report('pay', 0)
  await flow.report('web', 1)
  await flow.until(2)
  await flow.merge(0, 1)
  return flow
}

test('an alert that fires anew after the merge opens one incident, since its new start', async (t) => {
  const { report, until, told, states } = await merged(t)
  await report('pay', 0, 3)
  await report('web', 1, 3)
  await until(6)
  await report('pay', 6)
  await until(9)
  assert.deepEqual(told(6), ['opened'])
  assert.deepEqual(states(), [
    ['pay: Bad', 'resolved', null, 0],
    ['web: Bad', 'monitoring', null, 1],
    ['pay: Bad', 'open', 6, 1],
  ])
})

test('the same with an incident that a user declared, which goes on', async (t) => {
  const { report, merge, until, told, states, deps, acme, service } = merging(t)
  await report('pay', 0)
  await report('web', 0, 0)
  const declared = { title: 'Typo', serviceId: service('web')?.id ?? '', severity: 'warning' } as const
  await createIncident(deps, acme.key, declared, 'anna')
  await until(1)
  await merge(0, 1)
  await report('pay', 0, 2)
  await until(4)
  await report('pay', 4)
  await until(6)
  assert.deepEqual(told(4), ['opened'])
  assert.deepEqual(states().slice(1), [
    ['Typo', 'open', 0, 0],
    ['pay: Bad', 'open', 4, 1],
  ])
})

test('an alert that has fired since before the merge opens none', async (t) => {
  const { report, until, told, states } = await merged(t)
  await report('web', 1, 3)
  await report('pay', 0)
  await until(8)
  assert.deepEqual(told(3), [])
  assert.deepEqual(states()[1], ['web: Bad', 'open', 0, 2])
})

test('an alert under a silence whose incident was merged brings back that one when the silence ends', async (t) => {
  const { report, merge, silence, until, told, states } = merging(t)
  await report('pay', 0)
  await report('web', 0)
  await until(1)
  await silence('pay', 6)
  await until(2)
  await merge(0, 1)
  await report('web', 0, 3)
  await until(5)
  assert.deepEqual(told(3), [])
  await until(8)
  assert.deepEqual(told(5), ['again'])
  assert.deepEqual(states(), [
    ['pay: Bad', 'resolved', null, 0],
    ['web: Bad', 'open', 6, 2],
  ])
})

test('an incident that a user resolved under a silence does not come back when the silence ends', async (t) => {
  const { report, silence, resolve, until, told, states } = merging(t)
  await report('pay', 0)
  await silence('pay', 4)
  await until(2)
  await resolve()
  await until(6)
  assert.deepEqual(told(3), [])
  assert.deepEqual(states(), [['pay: Bad', 'resolved', 4, 1]])
  await report('pay', 0, 7)
  await until(9)
  await report('pay', 9)
  assert.deepEqual(told(3), ['again'])
})

test('another alert that fires when the silence ends brings it back', async (t) => {
  const { report, silence, resolve, until, told } = merging(t)
  await report('pay', 0)
  await silence('pay', 4)
  await until(2)
  await resolve()
  await report('pay', 3, undefined, 'Worse')
  await until(6)
  assert.deepEqual(told(3), ['again'])
})

for (const [what, acts, expected] of [
  ['while the rest goes on', async () => {}, ['web: Bad', 'open', 0, 2]],
  ['after the rest has ended, too', ({ report }: Flow) => report('web', 1, 3), ['web: Bad', 'open', 0, 2]],
  [
    'while somebody works on the rest',
    ({ deps, acme, incidents }: Flow) =>
      changeIncident(deps, acme.key, incidents()[1]?.id ?? '', { status: 'investigating' }, 'anna'),
    ['web: Bad', 'investigating', 0, 2],
  ],
] as const)
  test(`an alert that fires anew within a minute stays in the incident into which its own was merged, ${what}`, async (t) => {
    const flow = await merged(t)
    const { report, until, told, states } = flow
    await until(3)
    await acts(flow)
    await report('pay', 0, 3)
    await until(3.5)
    await report('pay', 3.5)
    await until(8)
    assert.deepEqual(told(3.1), [])
    assert.equal(states().length, 2)
    const [title, status, , alerts] = states()[1] ?? []
    assert.deepEqual([title, status, alerts], [expected[0], expected[1], expected[3]])
  })
