/** A channel whose rules read alerts: which alerts of an incident it hears of that have joined after the opening. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { mergeIncidents } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { ownChannel } from '../helpers/own-channel.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'

const NODE = 'worker-2'
const SHOP = [{ namespaces: ['shop'] }]
const TEAM = [{ matchers: parseMatchers('team="payments"') }]

function world(t: Parameters<typeof ownChannel>[0], rules: Parameters<typeof ownChannel>[1]) {
  const own = ownChannel(t, rules)
  own.addOwn()
  const nodeFails = () => own.send('cluster', kubernetesEvent('NodeNotReady', NODE, { kind: 'Node' }))
  /** An alert about a service begins. */
  const fire = async (minute: number, service: string, labels: Record<string, string> = {}) => {
    await own.until(minute)
    const one = alert('Down', { service, ...labels }, { startsAt: own.clock.now })
    await own.send('metrics', alertmanager([one], { groupKey: `${service} ${JSON.stringify(labels)}` }))
  }
  return { ...own, nodeFails, fire }
}

for (const [what, rules] of [
  ['namespace', SHOP],
  ['label', TEAM],
] as const) {
  test(`a channel for a ${what} hears of a failed node as soon as an alert of it belongs to the incident`, async (t) => {
    const { nodeFails, fire, until, sent } = world(t, rules)
    await nodeFails()
    await fire(0, 'cart', { node: NODE, team: 'payments' })
    await fire(0, 'web', { node: NODE, team: 'payments' })
    await until(4)
    assert.deepEqual(sent, [`opened of node/${NODE} at 1`])
  })

  test(`a channel for a ${what} hears when its first alert joins a node that failed minutes ago, once`, async (t) => {
    const { nodeFails, fire, until, sent } = world(t, rules)
    await nodeFails()
    await fire(3, 'cart', { node: NODE, team: 'payments' })
    await until(6)
    assert.equal(sent.filter((one) => one.startsWith('opened')).length, 1)
  })
}

test('a warning that joins a critical incident tells the channel that only its label matches', async (t) => {
  const { fire, until, sent } = world(t, TEAM)
  await fire(0, 'cart')
  await fire(2, 'cart', { team: 'payments', severity: 'warning', pod: 'cart-1' })
  await until(5)
  assert.deepEqual(sent, ['opened of cart at 2.5'])
})

test('a second pod with another label tells the channel that its label matches', async (t) => {
  const { fire, until, sent } = world(t, TEAM)
  await fire(0, 'cart', { pod: 'cart-1' })
  await fire(2, 'cart', { pod: 'cart-2', team: 'payments' })
  await until(5)
  assert.deepEqual(sent, ['opened of cart at 2.5'])
})

test('a merge tells the channel once that what it was told of goes on in the other incident', async (t) => {
  const { fire, until, sent, incidents, deps, acme } = world(t, TEAM)
  await fire(0, 'cart')
  await fire(0, 'web', { team: 'payments' })
  await until(3)
  const [cart, web] = incidents()
  await mergeIncidents(deps, acme.key, { from: web?.id ?? '', into: cart?.id ?? '' }, 'anna')
  await until(5)
  assert.deepEqual(sent, ['opened of web at 0.5', 'resolved of web at 3.5'])
})

test('an alert that does not match tells nothing', async (t) => {
  const { nodeFails, fire, until, sent } = world(t, [{ namespaces: ['bank'] }])
  await nodeFails()
  await fire(0, 'cart', { node: NODE })
  await until(4)
  assert.deepEqual(sent, [])
})

test('a matching warning tells nothing after the problem is over', async (t) => {
  const { fire, send, until, sent, clock } = world(t, TEAM)
  await fire(0, 'cart')
  await until(2)
  const over = alert('Down', { service: 'cart' }, { startsAt: NOON, endsAt: clock.now })
  await send('metrics', alertmanager([over], { groupKey: 'cart {}' }))
  await fire(5, 'cart', { team: 'payments', severity: 'warning', pod: 'cart-1' })
  await until(8)
  assert.deepEqual(sent, [])
})

test('in quiet hours, the channel hears of it at their end, unless it is over by then', async (t) => {
  const quietHours = { from: '12:00', to: '12:10', timeZone: 'UTC' }
  const { fire, until, sent, clock } = world(t, [{ ...TEAM[0], quietHours }])
  await fire(0, 'cart')
  await fire(2, 'cart', { team: 'payments', severity: 'warning', pod: 'cart-1' })
  await until(12)
  assert.deepEqual(sent, ['opened of cart at 10'])
  assert.equal(clock.now, NOON + 12 * MINUTE)
})
