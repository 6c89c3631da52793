/** Critical alerts of metrics on a failed node: somebody hears of each, with the node's incident or by itself. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { changeIncident, createSilence } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'

const NODE = 'worker-2'

function failedNode(t: TestContext) {
  const flow = makeFlow(t)
  createChannel(flow.deps, flow.acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x' })
  const fail = () => flow.send('cluster', kubernetesEvent('NodeNotReady', NODE, { kind: 'Node' }))
  const down = (service: string, minute: number, labels: Record<string, string> = {}) => {
    const startsAt = NOON + minute * MINUTE
    const one = alert('Down', { service, node: NODE, severity: 'critical', ...labels }, { startsAt })
    return flow.send('metrics', alertmanager([one], { groupKey: service }), { at: startsAt })
  }
  /** Returns what was told, without reminders, and in which minute. */
  const told = () =>
    flow.deps.db
      .all(flow.deps.db.sql.selectFrom('outbox').select(['kind', 'created_at']).orderBy('id'))
      .map(({ kind, created_at: at }) => [kind, (at - NOON) / MINUTE])
      .filter(([kind]) => kind !== 'reminder')
  const act = (status: 'investigating' | 'resolved') =>
    changeIncident(flow.deps, flow.acme.key, flow.incidents()[0]?.id ?? '', { status }, 'anna')
  const titles = () => flow.incidents().map(({ title, status }) => [title, status])
  return { ...flow, fail, down, told, act, titles }
}

for (const [what, labels] of [
  ['a pod', { pod: 'cart-5d4f8c7b9-x2kqp' }],
  ['a program on the host', {}],
] as const)
  test(`a critical alert of ${what} makes the acknowledged incident of its node worse`, async (t) => {
    const { fail, down, told, act, sweepUntil, incidents } = failedNode(t)
    await fail()
    await sweepUntil(NOON + 2 * MINUTE)
    await act('investigating')
    await down('cart', 3, labels)
    await sweepUntil(NOON + 4 * MINUTE)
    assert.deepEqual(told(), [
      ['opened', 1],
      ['acknowledged', 2],
      ['worse', 4],
    ])
    assert.deepEqual(
      incidents().map(({ alert_count }) => alert_count),
      [2],
    )
  })

test('an alert that began in the minute in which the node failed is no news a minute later', async (t) => {
  const { fail, down, told, sweepUntil } = failedNode(t)
  await fail()
  await down('cart', 0)
  await sweepUntil(NOON + 5 * MINUTE)
  assert.deepEqual(told(), [['opened', 1]])
})

test('a warning on a failed node is not told', async (t) => {
  const { fail, down, told, sweepUntil } = failedNode(t)
  await fail()
  await sweepUntil(NOON + 2 * MINUTE)
  await down('cart', 3, { severity: 'warning' })
  await sweepUntil(NOON + 6 * MINUTE)
  assert.deepEqual(told(), [['opened', 1]])
})

test('while a silence covers the node, its alerts open incidents five minutes after its failure', async (t) => {
  const { fail, down, titles, sweepUntil, deps, acme } = failedNode(t)
  const until = { startsAt: NOON, endsAt: NOON + 60 * MINUTE, schedule: null, comment: 'Upgrade' }
  await createSilence(deps, acme.key, { matchers: parseMatchers(`service="node/${NODE}"`), ...until }, 'anna')
  await fail()
  await down('cart', 2)
  await sweepUntil(NOON + 5 * MINUTE - 1)
  assert.deepEqual(titles(), [])
  await sweepUntil(NOON + 5 * MINUTE)
  assert.deepEqual(titles(), [['cart: Down', 'open']])
})

test('after a user resolved the incident of a node, a new alert opens its own, and a known one does not', async (t) => {
  const { fail, down, titles, sweepUntil, act } = failedNode(t)
  await fail()
  await down('cart', 2)
  await sweepUntil(NOON + 3 * MINUTE)
  await act('resolved')
  await down('pay', 6)
  await sweepUntil(NOON + 8 * MINUTE)
  assert.deepEqual(titles(), [
    [`node/${NODE}: NodeNotReady`, 'resolved'],
    ['pay: Down', 'open'],
  ])
})

test('when a node is ready again, its incident is over, and what goes on counts by itself', async (t) => {
  const { fail, down, titles, sweepUntil, send } = failedNode(t)
  await fail()
  await down('cart', 2)
  await sweepUntil(NOON + 10 * MINUTE)
  await send('cluster', kubernetesEvent('NodeReady', NODE, { kind: 'Node' }))
  await sweepUntil(NOON + 16 * MINUTE, MINUTE / 2)
  assert.deepEqual(titles(), [
    [`node/${NODE}: NodeNotReady`, 'monitoring'],
    ['cart: Down', 'open'],
  ])
})
