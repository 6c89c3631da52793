/** Who hears what goes on after a merge: the channels that were told that it goes on in another incident. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import { mergeIncidents, mergeServices } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** A channel for each of the services cart, web and ledger. Cart and web are down at noon. */
async function world(t: TestContext, rule: object = {}) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  for (const name of ['cart', 'web', 'ledger'])
    createChannel(deps, acme.key, {
      ...{ name, kind: 'slack', target: 'https://example.com/x', remindAfter: 3, remindEvery: 60 },
      rules: [{ services: [name], ...rule }],
    })
  const sent: string[] = []
  const until = async (minute: number) => {
    while (clock.now < NOON + minute * MINUTE) {
      await flow.sweepUntil(Math.min(NOON + minute * MINUTE, clock.now + MINUTE / 4), MINUTE / 4)
      remind(deps)
      sent.push(...pump(deps).map(({ channel, items, title }) => `${channel} ${items[0]?.kind}: ${title}`))
    }
  }
  const down = (service: string, name: string, isOver = false) => {
    const times = isOver ? { startsAt: NOON, endsAt: clock.now } : { startsAt: clock.now }
    return flow.send('metrics', alertmanager([alert(name, { service }, times)], { groupKey: `${service} ${name}` }))
  }
  const incident = (service: string) => {
    const own = flow.service(service)?.key
    return flow.incidents().find(({ service_id: id }) => id === own)?.id ?? ''
  }
  const merge = (from: string, into: string) =>
    mergeIncidents(deps, acme.key, { from: incident(from), into: incident(into) }, 'Dana')
  /** What a channel was told after the merge. */
  const told = (channel: string) => sent.filter((one) => one.startsWith(channel)).slice(1)
  await down('cart', 'Down')
  await down('web', 'Slow')
  await until(1)
  return { ...flow, until, down, merge, told, sent, incident }
}

test('the channel of the merged service is reminded of what goes on there, and hears its end', async (t) => {
  const { until, down, merge, told } = await world(t)
  await merge('cart', 'web')
  await until(5)
  await down('cart', 'Down', true)
  await down('web', 'Slow', true)
  await until(8)
  assert.deepEqual(
    told('cart').map((one) => one.replace(/: .*/, '')),
    ['cart resolved', 'cart reminder', 'cart recovered'],
  )
  assert.match(told('cart')[0] ?? '', /merged the incident into “web: Slow”, where Down of cart and Slow go on/)
  assert.match(told('web').at(-1) ?? '', /web \(with cart\) has recovered: it was critical for 5 min/)
  assert.deepEqual(told('ledger'), [])
})

test('so does one after two merges', async (t) => {
  const { until, down, merge, told } = await world(t)
  await down('ledger', 'Late')
  await until(2)
  await merge('cart', 'web')
  await merge('web', 'ledger')
  await until(3)
  for (const [service, name] of [
    ['cart', 'Down'],
    ['web', 'Slow'],
    ['ledger', 'Late'],
  ] as const)
    await down(service, name, true)
  await until(8)
  assert.match(told('cart').at(-1) ?? '', /^cart recovered/)
  assert.match(told('web').at(-1) ?? '', /^web recovered/)
})

test('nobody is reminded of what went on in the other incident alone', async (t) => {
  const { until, down, merge, told } = await world(t)
  await merge('cart', 'web')
  await until(2)
  await down('cart', 'Down', true)
  await until(9)
  assert.deepEqual(
    told('cart').map((one) => one.replace(/: .*/, '')),
    ['cart resolved'],
  )
})

test('the channel hears nothing that gets worse elsewhere in the other incident', async (t) => {
  const { until, down, merge, told } = await world(t)
  await merge('cart', 'web')
  await until(2)
  await down('web', 'Broken')
  await until(3)
  assert.match(told('web').at(-1) ?? '', /got worse: Broken/)
  assert.equal(told('cart').length, 1)
})

test('a channel that was told of an incident that was over when it was merged does not', async (t) => {
  const { until, down, merge, told } = await world(t)
  await down('cart', 'Down', true)
  await until(3)
  await merge('cart', 'web')
  await until(5)
  await down('web', 'Slow', true)
  await until(8)
  assert.deepEqual(
    told('cart').filter((one) => /web/.test(one) && /recovered|reminder/.test(one)),
    [],
  )
})

for (const [from, into] of [
  ['cart', 'web'],
  ['web', 'cart'],
] as const) {
  test(`after ${from} was merged into ${into}, the channels of both services hear the end`, async (t) => {
    const { deps, acme, until, down, sent, service } = await world(t)
    await mergeServices(deps, acme.key, service(from)?.id ?? '', service(into)?.id ?? '')
    await until(2)
    await down('cart', 'Down', true)
    await down('web', 'Slow', true)
    await until(5)
    for (const channel of ['cart', 'web'])
      assert.equal(sent.filter((one) => one.startsWith(`${channel} recovered`)).length, 1, sent.join('\n'))
    assert.equal(sent.filter((one) => one.startsWith('ledger')).length, 0)
  })
}

test('a channel that wants no ends hears none', async (t) => {
  const { until, down, merge, told } = await world(t, { events: ['opened'] })
  await merge('cart', 'web')
  await until(2)
  await down('cart', 'Down', true)
  await down('web', 'Slow', true)
  await until(8)
  assert.deepEqual(told('cart'), [])
})
