/** Nothing ends, goes silent or causes a reminder because the clock jumped: senders get time to repeat, as after a start. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { withEngine } from '../../src/actions/deps.ts'
import { remind } from '../../src/actions/notifications.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { fate, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, times, watchdog } from '../helpers/senders.ts'

const HOUR = 60 * MINUTE
const DOWN = alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON })])

/** Makes a flow with a channel, whose clock can jump. */
function makeJumping(t: TestContext) {
  const flow = makeFlow(t)
  let jumps = 0
  Object.assign(flow.deps, withEngine({ ...flow.deps, jumps: () => jumps }))
  createChannel(flow.deps, flow.acme.key, { name: 'one', kind: 'slack', target: 'https://example.com/x' })
  const sweep = async () => {
    while (await flow.deps.engine.sweep());
  }
  const jump = (by: number) => {
    flow.clock.now += by
    jumps += 1
  }
  const kinds = () => {
    remind(flow.deps)
    return flow.deps.db.all(flow.deps.db.sql.selectFrom('outbox').select('kind').orderBy('id')).map(({ kind }) => kind)
  }
  return { ...flow, jump, sweep, kinds }
}

for (const [what, by] of [
  ['two hours', 2 * HOUR],
  ['25 hours', 25 * HOUR],
  ['a year', 365 * 24 * HOUR],
] as const) {
  test(`after a jump by ${what}, an alert that is repeated never ended and nobody is reminded before`, async (t) => {
    const flow = makeJumping(t)
    await flow.send('metrics', DOWN)
    flow.jump(by)
    assert.deepEqual(flow.kinds(), ['opened'])
    await flow.sweep()
    await flow.sweepUntil(flow.clock.now + 5 * MINUTE)
    assert.deepEqual([fate(flow)[0], flow.kinds()], ['firing', ['opened']])
    await flow.send('metrics', DOWN)
    assert.deepEqual(
      [fate(flow), flow.kinds()],
      [
        ['firing', null, null],
        ['opened', 'reminder'],
      ],
    )
  })
}

test('after a jump, an alert that nobody repeats ends six minutes later, with its last report', async (t) => {
  const flow = makeJumping(t)
  for (const at of times(NOON, NOON + 5 * MINUTE, MINUTE)) await flow.send('metrics', DOWN, { at })
  flow.jump(25 * HOUR)
  await flow.sweep()
  await flow.sweepUntil(flow.clock.now + 5 * MINUTE)
  assert.equal(fate(flow)[0], 'firing')
  await flow.sweepUntil(flow.clock.now + MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 4])
})

test('after a jump forward and back, an end does not wait for the time in between', async (t) => {
  const flow = makeJumping(t)
  for (const at of times(NOON, NOON + 5 * MINUTE, MINUTE)) await flow.send('metrics', DOWN, { at })
  for (const by of [25 * HOUR, -25 * HOUR]) {
    flow.jump(by)
    await flow.sweep()
  }
  await flow.sweepUntil(NOON + 12 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 4])
})

test('after a jump, no heartbeat is missed in the first minutes', async (t) => {
  const flow = makeJumping(t)
  for (const at of times(NOON, NOON + HOUR, 5 * MINUTE)) await flow.send('metrics', watchdog(), { at })
  flow.jump(25 * HOUR)
  await flow.sweepUntil(flow.clock.now + 5 * MINUTE)
  assert.deepEqual(flow.incidents(), [])
  await flow.sweepUntil(flow.clock.now + 2 * MINUTE)
  assert.equal(flow.incidents().length, 1)
})
