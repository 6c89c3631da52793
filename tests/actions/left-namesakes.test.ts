/** After a user resolved an incident while its alert fires on, another alert of the same name begins. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { changeOrganization } from '../../src/actions/organizations.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

type Labels = Readonly<Record<string, string>>

/** Leaves `Disk` of `cart` on `h1` on at minute 1. It has been firing since noon. */
async function leftOn(t: TestContext, first: Labels = { instance: 'h1' }, ...others: Labels[]) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const sent: string[] = []
  const until = async (minute: number) => {
    while (clock.now < NOON + minute * MINUTE) {
      await flow.sweepUntil(Math.min(NOON + minute * MINUTE, clock.now + MINUTE / 4), MINUTE / 4)
      sent.push(...pump(deps).map(({ title }) => title))
    }
  }
  /** Returns what was told since the last call. */
  const told = () => {
    sent.push(...pump(deps).map(({ title }) => title))
    return sent.splice(0)
  }
  const report = (all: readonly Labels[], from: number, to?: number) => {
    const times = { startsAt: NOON + from * MINUTE, ...(to === undefined ? {} : { endsAt: NOON + to * MINUTE }) }
    const items = all.map((labels) => alert('Disk', { service: 'cart', ...labels }, times))
    return flow.send('metrics', alertmanager(items, { groupKey: JSON.stringify(all[0]) }))
  }
  const stateOf = () => flow.incidents().map(({ status, alert_count: count }) => `${status}: ${count}`)
  await report([first, ...others], 0)
  await until(1)
  await changeIncident(deps, acme.key, flow.incidents()[0]?.id ?? '', { status: 'resolved' }, 'Dana')
  await until(2)
  told()
  return { ...flow, until, told, report, stateOf, first }
}

for (const label of ['instance', 'shard', 'region', 'pod', 'device'])
  test(`one with another ${label} brings the incident back at once`, async (t) => {
    const { told, report, stateOf } = await leftOn(t, { [label]: 'cart-1' })
    await report([{ [label]: 'cart-2' }], 2)
    const [again, ...others] = told()
    assert.equal(again, `cart is critical again: Disk (${label} cart-2) is firing, too.`)
    assert.deepEqual([others, stateOf()], [[], ['open: 2']])
  })

for (const label of ['device', 'mountpoint', 'cpu'])
  test(`one with another ${label} of the same node brings the incident of the node back at once`, async (t) => {
    const of = (value: string) => ({ job: 'node', instance: 'worker-1:9100', service: '', [label]: value })
    const { told, report, stateOf, services } = await leftOn(t, of('0'))
    await report([of('1')], 2)
    const [again, ...others] = told()
    assert.match(again ?? '', /^node\/worker-1 is critical again: /)
    assert.deepEqual([others, stateOf()], [[], ['open: 2']])
    assert.deepEqual(
      services().map(({ name }) => name),
      ['node/worker-1'],
    )
  })

test('of a pod, it opens an incident although the pod is on a node whose incident a user left on', async (t) => {
  const node = { job: 'node', instance: 'worker-1:9100', service: '', device: 'sda' }
  const { told, report, stateOf, until } = await leftOn(t, node)
  await report([{ service: 'cart', node: 'worker-1', pod: 'cart-1' }], 2)
  await until(9)
  assert.equal(told().length, 1)
  assert.deepEqual(stateOf(), ['resolved: 1', 'open: 1'])
})

test('five pods bring it back once, and the next ones join it', async (t) => {
  const { until, told, report, stateOf } = await leftOn(t, { pod: 'cart-0' })
  const pods = Array.from({ length: 8 }, (_, n) => ({ pod: `cart-${n + 1}` }))
  await report(pods.slice(0, 5), 2)
  await until(3)
  await report(pods, 2)
  await until(7)
  assert.deepEqual([told().length, stateOf()], [1, ['open: 9']])
})

test('of a hundred pods one by one, the first brings it back', async (t) => {
  const { told, report, stateOf } = await leftOn(t, { pod: 'cart-0' })
  await report([{ pod: 'cart-1' }], 2)
  assert.equal(told().length, 1)
  for (let n = 2; n < 100; n += 1) await report([{ pod: `cart-${n}` }], 2)
  assert.deepEqual([told(), stateOf()], [[], ['open: 100']])
})

test('one that was already burning for long does not hide it', async (t) => {
  const { until, told, report, first } = await leftOn(t)
  for (const minute of [8, 14, 20]) {
    await until(minute)
    await report([first], 0)
  }
  assert.deepEqual(told(), [])
  await report([{ instance: 'h2' }], 20)
  assert.equal(told().length, 1)
})

test('a warning brings nothing back', async (t) => {
  const { until, told, report, stateOf } = await leftOn(t)
  await report([{ instance: 'h2', severity: 'warning' }], 2)
  await until(10)
  assert.deepEqual([told(), stateOf()], [[], ['resolved: 1']])
})

test('a warning that becomes critical brings it back', async (t) => {
  const { until, told, report } = await leftOn(t)
  await report([{ instance: 'h2', severity: 'warning' }], 2)
  await until(3)
  await report([{ instance: 'h2', severity: 'critical' }], 2)
  await until(4)
  assert.equal(told().length, 1)
})

test('a repeat of what was left on brings nothing back', async (t) => {
  const { until, told, report, first, stateOf } = await leftOn(t)
  await report([first], 0)
  await until(4)
  await report([first], 0)
  await until(10)
  assert.deepEqual([told(), stateOf()], [[], ['resolved: 1']])
})

test('what was left on too, has ended and fires anew brings it back', async (t) => {
  const both = [{ instance: 'h1' }, { instance: 'h0' }]
  for (const order of [both, both.toReversed()]) {
    const { until, told, report } = await leftOn(t, ...order)
    await report(order.slice(1), 0, 3)
    await until(5)
    assert.deepEqual(told(), [])
    await report(order.slice(1), 5)
    assert.equal(told().length, 1)
  }
})

test('an exporter that restarts brings nothing back', async (t) => {
  const { until, told, report, stateOf } = await leftOn(t, { instance: 'h1', endpoint: 'a' })
  await report([{ instance: 'h1', endpoint: 'b' }], 2)
  await until(3)
  await report([{ instance: 'h1', endpoint: 'a' }], 0, 3)
  await until(10)
  assert.deepEqual([told(), stateOf()], [[], ['resolved: 1']])
})

test('while another alert has brought it back, it joins', async (t) => {
  const { until, told, report, stateOf, send } = await leftOn(t)
  await send('metrics', alertmanager([alert('Slow', { service: 'cart' }, { startsAt: NOON + 2 * MINUTE })]))
  await until(4)
  assert.equal(told().length, 1)
  await report([{ instance: 'h2' }], 4)
  await until(6)
  assert.deepEqual([told(), stateOf()], [[], ['open: 3']])
})

test('with automatic incidents off, it brings nothing back', async (t) => {
  const { until, told, report, deps, acme, stateOf } = await leftOn(t)
  await changeOrganization(deps, acme.key, { settings: { 'auto-incidents': 'off' } })
  await report([{ instance: 'h2' }], 2)
  await until(4)
  assert.deepEqual([told(), stateOf()], [[], ['resolved: 1']])
})

test('no all-clear was wrong if it is reported after the end of what was left on', async (t) => {
  const { until, told, report, first } = await leftOn(t)
  await until(5)
  await report([first], 0, 5)
  await report([{ instance: 'h2' }], 4)
  await until(6)
  assert.deepEqual(told(), ['cart is critical again: cart has been critical since 12:00 UTC (5 min).'])
})

test('after that end, it has been critical since the new start', async (t) => {
  const { until, told, report, first } = await leftOn(t)
  await until(5)
  await report([first], 0, 5)
  await until(6)
  await report([{ instance: 'h2' }], 6)
  assert.deepEqual(told(), ['cart is critical again: cart has been critical since 12:06 UTC (just now, 5 min in all).'])
})
