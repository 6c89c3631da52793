/** An alert that a user resolves while its sender goes on reporting it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { toProblem } from '../../src/store/incident/live-incidents.ts'
import { resolveAlert } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { criticalMsOf } from '../helpers/lengths.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE

/** `Bad` fires at noon, and a user resolves it a minute later. */
async function resolved(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const report = async (minutes: number, startsAt = NOON, more: object = {}) => {
    await flow.sweepUntil(after(minutes))
    const items = [alert('Bad', { service: 'pay', severity: 'critical' }, { startsAt, ...more })]
    return flow.send('metrics', alertmanager(items))
  }
  await report(0)
  await flow.sweepUntil(after(1))
  await resolveAlert(deps, acme.key, flow.alerts()[0]?.id ?? '', 'Ann')
  const told = () =>
    deps.db
      .all(deps.db.sql.selectFrom('outbox').select(['kind', 'facts', 'created_at as at']).orderBy('id'))
      .map(({ kind, facts, at }) => [kind, JSON.parse(facts).wasWrong, (at - NOON) / MINUTE])
  const states = () =>
    flow.incidents().map(({ status, problem }) => [status, criticalMsOf(toProblem(problem), 0) / MINUTE])
  return { ...flow, report, told, states }
}

test('repeats within half an hour do not count', async (t) => {
  const { report, told, states } = await resolved(t)
  for (const minute of [2, 10, 20, 30]) await report(minute)
  assert.deepEqual(told(), [
    ['opened', false, 0],
    ['recovered', false, 1],
  ])
  assert.deepEqual(states(), [['monitoring', 1]])
})

test('a later repeat shows that the all-clear was wrong', async (t) => {
  const { report, told, incidents, timeline } = await resolved(t)
  for (const minute of [10, 20, 30, 31, 40]) await report(minute)
  const [incident] = incidents()
  const why = incident && timeline(incident).find(({ kind }) => kind === 'reopened')?.text
  assert.equal(why, 'the problem has been going on all the time')
  assert.deepEqual(told().at(-1), ['again', true, 31])
  assert.equal(told().filter(([kind]) => kind === 'again' || kind === 'opened').length, 2)
  const problem = toProblem(incidents()[0]?.problem ?? '{}')
  assert.deepEqual([incidents().length, problem.since, problem.periods.length], [1, NOON, 1])
})

test('a new start within half an hour is a new problem', async (t) => {
  const { report, told } = await resolved(t)
  await report(5, after(5))
  assert.deepEqual(told().at(-1), ['again', false, 5])
})

test('an end that the sender reports afterwards opens nothing, and nor does a repeat that comes late', async (t) => {
  const { report, told, states } = await resolved(t)
  await report(20, NOON, { endsAt: after(19) })
  await report(40, NOON, { endsAt: after(19) })
  assert.deepEqual(
    told().map(([kind]) => kind),
    ['opened', 'recovered', 'resolved'],
  )
  assert.deepEqual(states(), [['resolved', 1]])
})

test('the same holds for Kubernetes events', async (t) => {
  const flow = makeFlow(t)
  const crash = (minutes: number) =>
    flow.send('cluster', kubernetesEvent('BackOff', 'cart-5d4f8c7b9-x2kqp', { at: after(minutes) }), {
      at: after(minutes),
    })
  await crash(0)
  await flow.sweepUntil(after(1))
  await resolveAlert(flow.deps, flow.acme.key, flow.alerts()[0]?.id ?? '', 'Ann')
  assert.equal(flow.alerts().at(-1)?.status, 'resolved')
  await crash(20)
  await flow.sweepUntil(after(40))
  await crash(40)
  assert.equal(flow.alerts().at(-1)?.status, 'firing')
})
