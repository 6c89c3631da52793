/** An alert that Alertmanager sends with a later start, although it never reported the end. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { open } from '../../src/domain/alert/alert.ts'
import { skippedEndOf } from '../../src/domain/alert/ending.ts'
import { toProblem } from '../../src/store/incident/live-incidents.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { criticalMsOf } from '../helpers/lengths.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager, watchdog } from '../helpers/senders.ts'
import { firing as signal } from '../helpers/signals.ts'

/** Returns a flow whose receiver reports ends or not, and what its channel was told: `again at 3`, in minutes. */
async function skipping(t: TestContext, { reportsEnds = false } = {}) {
  const flow = makeFlow(t)
  const { deps, acme, clock, incidents } = flow
  createChannel(deps, acme.key, { name: 'pager', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  if (reportsEnds) {
    const ended = alert('Old', { service: 'old' }, { startsAt: NOON - 2, endsAt: NOON - 1 })
    await flow.send('metrics', alertmanager([ended], { groupKey: 'old' }))
  }
  const told: string[] = []
  const titles: string[] = []
  /** Sends Down, or other alerts, that fire since `startsAt`, at a minute after noon. */
  const fires = async (minute: number, startsAt = minute, names = ['Down']) => {
    await flow.sweepUntil(NOON + minute * MINUTE, MINUTE / 2)
    const items = names.map((name) => alert(name, { service: 'cart' }, { startsAt: NOON + startsAt * MINUTE }))
    await flow.send('metrics', alertmanager(items, { groupKey: names.join() }))
    for (const { items, title } of pump(deps)) {
      const sent = items.filter(({ service }) => service.name === 'cart')
      told.push(...sent.map(({ kind }) => `${kind} at ${(clock.now - NOON) / MINUTE}`))
      titles.push(title)
    }
  }
  /** Sends the heartbeat of Prometheus, which fires since `startsAt`. */
  const beats = async (minute: number, startsAt: number) => {
    await flow.sweepUntil(NOON + minute * MINUTE, MINUTE / 2)
    await flow.send('metrics', watchdog({ startsAt: NOON + startsAt * MINUTE }))
  }
  const change = (to: object) => changeIncident(deps, acme.key, incidents()[0]?.id ?? '', to, 'anna')
  const problem = () => {
    const problem = toProblem(incidents()[0]?.problem ?? '{}')
    const since = problem.since ?? 0
    return [(since - NOON) / MINUTE, criticalMsOf(problem, since) / MINUTE]
  }
  return { ...flow, fires, beats, change, problem, told, titles }
}

test('without reported ends, it is critical again since the new start, and nobody is on it any more', async (t) => {
  const { fires, change, problem, told, titles, incidents } = await skipping(t)
  await fires(0)
  await fires(1, 0)
  await change({ status: 'investigating' })
  await fires(4)
  assert.deepEqual(
    [told, problem()],
    [
      ['opened at 0', 'again at 4'],
      [4, 1],
    ],
  )
  assert.equal(titles[1], 'cart is critical again: cart has been critical since 12:04 UTC (just now, 1 min in all).')
  assert.deepEqual([incidents()[0]?.status, incidents()[0]?.acknowledged_at], ['open', null])
})

test('all alerts of a group that begin anew were over together', async (t) => {
  const { fires, told } = await skipping(t)
  await fires(0, 0, ['Down', 'Slow'])
  await fires(4, 4, ['Down', 'Slow'])
  assert.deepEqual(told, ['opened at 0', 'again at 4'])
})

test('it flaps after three returns', async (t) => {
  const { fires, told } = await skipping(t)
  for (const minute of [0, 3, 6, 9]) await fires(minute)
  assert.deepEqual(told, ['opened at 0', 'again at 3', 'again at 6', 'flapping at 9'])
})

test('what a user resolved while it fired is back', async (t) => {
  const { fires, change, told } = await skipping(t)
  await fires(0)
  await change({ status: 'resolved' })
  await fires(4, 0)
  await fires(8)
  assert.deepEqual(told, ['opened at 0', 'resolved at 4', 'again at 8'])
})

for (const [what, minute, startsAt, more] of [
  ['that is as late as a clock can be ahead', 1.5, 1.5, {}],
  ['from before the last delivery, as after a restart of Alertmanager', 3, -0.5, {}],
  ['of a receiver that reports ends, which are missing only if they were short', 4, 4, { reportsEnds: true }],
] as const) {
  test(`a later start ${what} is no return`, async (t) => {
    const { fires, told, problem } = await skipping(t, more)
    await fires(0, -1)
    await fires(minute, startsAt)
    assert.deepEqual([told, problem()[0]], [['opened at 0'], -1])
  })
}

test('while another alert of the incident goes on, it is none either', async (t) => {
  const { fires, told, problem } = await skipping(t)
  await fires(0, 0, ['Other'])
  await fires(0)
  await fires(2, 0)
  await fires(5)
  assert.deepEqual(
    [told, problem()],
    [
      ['opened at 0', 'worse at 2'],
      [0, 0],
    ],
  )
})

/** Repeats the heartbeat and what fires each minute. */
async function repeated(t: TestContext, until: number, alertUntil = until) {
  const world = await skipping(t)
  for (let minute = 0; minute <= until; minute += 1) {
    await world.beats(minute, -60)
    if (minute <= alertUntil) await world.fires(minute, 0)
  }
  return world
}

for (const [order, at, beatAt] of [
  ['after', 9, 8.9],
  ['before', 9, 9.1],
] as const) {
  test(`a start that a stop of Prometheus moved is no return, ${order} its heartbeat`, async (t) => {
    const { beats, fires, change, told, problem, incidents } = await repeated(t, 2)
    await change({ status: 'investigating' })
    if (beatAt < at) await beats(beatAt, beatAt)
    await fires(at)
    if (beatAt > at) await beats(beatAt, beatAt)
    await fires(10, at)
    assert.deepEqual(
      [told, problem(), incidents()[0]?.status],
      [['opened at 0', `acknowledged at ${at}`], [0, 0], 'investigating'],
    )
  })
}

test('what was left out before Prometheus was stopped was over', async (t) => {
  const { beats, fires, told, problem } = await repeated(t, 14, 2)
  await beats(20, 20)
  await fires(20)
  assert.deepEqual(told, ['opened at 0', 'again at 20'])
  assert.equal(problem()[0], 20)
})

test('what fired on after Prometheus was back, and then began anew, was over', async (t) => {
  const { beats, fires, told, problem } = await repeated(t, 2)
  await beats(9, 9)
  await fires(9)
  await beats(11, 9)
  await fires(12.5)
  assert.deepEqual([told, problem()[0]], [['opened at 0', 'again at 12.5'], 12.5])
})

const DELIVERY = { reportsEnds: true, repeatTimeout: 5 * MINUTE, heardAt: null }
for (const [what, startsAt, expiresAt, expected] of [
  ['later than its repeats take ended when it was last sent', 6, null, 0],
  ['within the time of its repeats goes on', 4, null, null],
  ['after an end that does not count yet goes on', 9, 2, null],
] as const) {
  test(`of a receiver that reports ends, an alert with a start ${what}`, () => {
    const at = (minutes: number | null) => minutes && NOON + minutes * MINUTE
    const firing = open(signal({ source: 'metrics', startsAt: NOON, at: NOON }), NOON)
    const sent = { fingerprint: firing.fingerprint, startsAt: NOON + startsAt * MINUTE }
    const found = skippedEndOf({ ...firing, expiresAt: at(expiresAt) }, null, sent, DELIVERY)
    assert.equal(found && (found - NOON) / MINUTE, expected)
  })
}
