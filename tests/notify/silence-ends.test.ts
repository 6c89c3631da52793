/** What a channel hears when a silence ends while the problem goes on. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { acknowledgeIncidents } from '../../src/engine/changes/incidents/incident-changes.ts'
import { createSilence } from '../../src/engine/changes/silences/silences.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { startReceiver } from './receiver.ts'
import { notifying } from './world.ts'

/** The cart fails at noon, and a silence covers it from 12:02 until 12:05. `then`: what happens at 12:03. */
async function silenced(t: TestContext, then: (world: ReturnType<typeof notifying>) => Promise<unknown>) {
  const world = notifying(t)
  const { url, received } = await startReceiver(t)
  world.channel('webhook', url)
  await world.fail('cart')
  await world.settled(() => received.length === 1)
  await world.sweepUntil(NOON + 2 * MINUTE)
  const wanted = {
    matchers: [{ name: 'service', op: '=', value: 'cart' }],
    ...{ startsAt: world.clock.now, endsAt: NOON + 5 * MINUTE, schedule: null, comment: 'deploy' },
  } as const
  await world.deps.engine.run(world.acme.key, (ctx, now) => createSilence(ctx, wanted, 'Ann', now))
  await world.sweepUntil(NOON + 3 * MINUTE)
  await then(world)
  await world.sweepUntil(NOON + 8 * MINUTE)
  await world.settled(() => world.messages().every(({ status }) => status === 'delivered'))
  return received.slice(1).map(({ text }) => {
    const { type, data } = JSON.parse(text)
    return `${type}: ${data.message.title} ${data.message.body}`
  })
}

test('a channel hears once that the problem has gone on all the time', async (t) => {
  const told = await silenced(t, async () => {})
  assert.equal(told.length, 1)
  assert.match(
    told[0] ?? '',
    /^incident\.again: cart has been critical since 12:00 UTC, last reported at 12:00 UTC; its silence ended at 12:05 UTC\. /,
  )
  assert.match(told[0] ?? '', /Nobody is on it\./)
})

test('if somebody works on it, the message says so', async (t) => {
  const told = await silenced(t, ({ deps, acme, incidents }) => {
    const ids = incidents().map(({ id }) => id)
    return deps.engine.run(acme.key, (ctx, now) => acknowledgeIncidents(ctx, ids, 'Ann', now))
  })
  assert.match(told.at(-1) ?? '', /: cart has been critical since .* Ann is on it\./)
})

test('a problem that ended during the silence has only recovered', async (t) => {
  const told = await silenced(t, ({ send, clock }) => {
    const ended = { startsAt: NOON, endsAt: clock.now }
    return send('metrics', alertmanager([alert('Down', { service: 'cart', severity: 'critical' }, ended)]))
  })
  assert.deepEqual(
    told.map((text) => text.replace(/:.*/, '')),
    ['incident.recovered'],
  )
})

test('a problem that ends under a silence has recovered a minute later, although the silence goes on', async (t) => {
  const world = notifying(t)
  await world.fail('cart')
  const matchers = [{ name: 'service', op: '=', value: 'cart' }] as const
  const wanted = { matchers, startsAt: NOON, endsAt: NOON + 60 * MINUTE, schedule: null, comment: 'deploy' }
  await world.deps.engine.run(world.acme.key, (ctx, now) => createSilence(ctx, wanted, 'Ann', now))
  await world.sweepUntil(NOON + 3 * MINUTE)
  const status = () => world.incidents().map((one) => one.status)
  assert.deepEqual(status(), ['open'])
  const ended = { startsAt: NOON, endsAt: world.clock.now }
  await world.send('metrics', alertmanager([alert('Down', { service: 'cart', severity: 'critical' }, ended)]))
  await world.sweepUntil(NOON + 5 * MINUTE)
  assert.deepEqual(status(), ['monitoring'])
})

test('a new condition during the silence is the news', async (t) => {
  const told = await silenced(t, ({ send, clock }) =>
    send(
      'metrics',
      alertmanager([alert('Errors', { service: 'cart', severity: 'critical' }, { startsAt: clock.now })]),
    ),
  )
  assert.equal(told.length, 1)
  assert.match(told[0] ?? '', /Errors/)
})

test('a condition that began during the silence goes on alone with the problem, and nothing got worse', async (t) => {
  const told = await silenced(t, async ({ send, clock }) => {
    const critical = { service: 'cart', severity: 'critical' }
    await send('metrics', alertmanager([alert('Errors', critical, { startsAt: clock.now })], { groupKey: 'errors' }))
    await send('metrics', alertmanager([alert('Down', critical, { startsAt: NOON, endsAt: clock.now + MINUTE })]))
  })
  assert.equal(told.length, 1)
  // The two overlapped.
  assert.match(
    told[0] ?? '',
    /^incident\.again: cart has been critical since 12:00 UTC.*; its silence ended at 12:05 UTC/,
  )
})

test('what is critical only since the silence is not as old as the warning that it covered', async (t) => {
  const told = await silenced(t, async ({ deps, acme, incidents, send, clock, sweepUntil }) => {
    await changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { severity: 'warning' }, 'Ann')
    await sweepUntil(NOON + 6 * MINUTE)
    const critical = { service: 'cart', severity: 'critical' }
    await send('metrics', alertmanager([alert('Full', critical, { startsAt: clock.now })], { groupKey: 'full' }))
    await changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status: 'investigating' }, 'Ann')
  })
  assert.match(told.at(-1) ?? '', /: cart has been critical since 12:06 UTC, last reported at 12:06 UTC\. /)
})

for (const [seconds, count] of [
  [14, 0],
  [70, 1],
] as const)
  test(`what is back after ${seconds} s beside a silenced alert is told ${count === 0 ? 'by nobody' : 'once'}`, async (t) => {
    const world = notifying(t)
    const { url, received } = await startReceiver(t)
    world.channel('webhook', url)
    const report = (names: readonly string[], ended?: number) => {
      const times = { startsAt: ended === undefined ? world.clock.now : NOON, ...(ended ? { endsAt: ended } : {}) }
      const alerts = names.map((name) => alert(name, { service: 'cart', severity: 'critical' }, times))
      return world.send('metrics', alertmanager(alerts))
    }
    await report(['A', 'B'])
    await world.settled(() => received.length === 1)
    await world.sweepUntil(NOON + 2 * MINUTE)
    const matchers = [{ name: 'alertname', op: '=', value: 'B' }] as const
    const wanted = { matchers, startsAt: world.clock.now, endsAt: NOON + 60 * MINUTE, schedule: null, comment: 'b' }
    await world.deps.engine.run(world.acme.key, (ctx, now) => createSilence(ctx, wanted, 'Ann', now))
    await world.sweepUntil(NOON + 3 * MINUTE)
    const told = () => received.map(({ text }) => JSON.parse(text).type)
    const before = told().length
    await report(['A'], world.clock.now)
    await world.sweepUntil(world.clock.now + seconds * 1_000)
    await report(['A'])
    await world.sweepUntil(NOON + 8 * MINUTE)
    await world.settled(() => world.messages().every(({ status }) => status === 'delivered'))
    assert.deepEqual(told().slice(before), Array(count).fill('incident.again'))
  })
