/** A sender with several heartbeats, such as an Alertmanager behind two Prometheus: one of them ends. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { withEngine } from '../../src/actions/deps.ts'
import { readPrometheus } from '../../src/intake/prometheus.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { type AlertMore, alert, alertmanager, iso, times } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE
const beat = (cluster: string, more: AlertMore = {}) =>
  alert('Watchdog', { severity: 'none', namespace: 'monitoring', cluster }, { startsAt: NOON, ...more })
const over = (minutes: number) => ({ startsAt: NOON, endsAt: after(minutes) })

/** Both heartbeats arrive every 2 minutes until 12:08. */
async function two(t: TestContext) {
  const flow = makeFlow(t)
  createChannel(flow.deps, flow.acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x' })
  const send = async (minute: number, ...beats: readonly ReturnType<typeof beat>[]) => {
    await flow.sweepUntil(after(minute))
    await flow.send('metrics', alertmanager(beats, { groupKey: 'beats' }))
  }
  for (const at of times(NOON, after(9), 2 * MINUTE)) await send((at - NOON) / MINUTE, beat('eu'), beat('us'))
  const states = () =>
    flow.incidents().map(({ title, status, started_at: at, problem }) => {
      return [title.replace(/:.*/, ''), status, (at - NOON) / MINUTE, JSON.parse(problem).had]
    })
  return { ...flow, beats: send, states }
}

const EU = ['the heartbeat of cluster eu']

test('if one of two heartbeats ends, an incident opens at once, and is resolved when it is back', async (t) => {
  const { beats, states } = await two(t)
  await beats(10, beat('eu', over(9.5)), beat('us'))
  assert.deepEqual(states(), [['heartbeat ended', 'open', 9.5, EU]])
  for (const minute of [12, 14, 16]) await beats(minute, beat('us'))
  assert.deepEqual(states(), [['heartbeat ended', 'open', 9.5, EU]])
  await beats(18, beat('eu', { startsAt: after(17) }), beat('us'))
  assert.deepEqual(states(), [['heartbeat ended', 'resolved', 9.5, EU]])
})

test('the same if only the end is delivered', async (t) => {
  const { beats, states } = await two(t)
  await beats(10, beat('eu', over(9.5)))
  await beats(12, beat('us'))
  assert.deepEqual(states(), [['heartbeat ended', 'open', 9.5, EU]])
})

test('if both end, there is one incident, for the sender', async (t) => {
  const { beats, states, sweepUntil } = await two(t)
  await beats(10, beat('eu', over(9.5)), beat('us', over(9.5)))
  await sweepUntil(after(11))
  assert.deepEqual(states(), [['sender silent', 'open', 9.5, []]])
  // One of them is back.
  await beats(20, beat('us', { startsAt: after(19) }))
  assert.deepEqual(states(), [
    ['sender silent', 'resolved', 9.5, []],
    ['heartbeat ended', 'open', 9.5, EU],
  ])
})

test('an incident that a user resolved does not open again while the heartbeat stays away', async (t) => {
  const { beats, states, deps, acme, incidents } = await two(t)
  await beats(10, beat('eu', over(9.5)), beat('us'))
  await changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status: 'resolved' }, 'ann')
  for (const minute of [12, 14, 16]) await beats(minute, beat('us'))
  assert.deepEqual(states(), [['heartbeat ended', 'resolved', 9.5, EU]])
})

/** Restarts incmon at a minute, as after a stop. */
async function restartAt(flow: ReturnType<typeof makeFlow>, minute: number) {
  flow.clock.now = after(minute)
  flow.restart()
  Object.assign(flow.deps, withEngine({ ...flow.deps, awaitsRepeats: true }))
  await flow.deps.engine.load()
  while (await flow.deps.engine.sweep());
}

for (const [what, restartsAt, minutes, expected] of [
  ['opens an incident', null, [4, 5, 6, 7, 8], [['heartbeat ended', 'open', 3]]],
  ['opens none soon after a stop', 12, [12, 13, 14, 17], []],
  ['opens one 6 minutes after a stop', 12, [12, 13, 14, 17, 18, 19], [['heartbeat ended', 'open', 3]]],
] as const) {
  test(`a heartbeat of one of two Prometheus that is not repeated in time ${what}`, async (t) => {
    const flow = makeFlow(t)
    const push = async (minute: number, clusters: readonly string[]) => {
      await flow.sweepUntil(after(minute))
      const alerts = clusters.map((cluster) => ({
        labels: { alertname: 'Watchdog', severity: 'none', namespace: 'monitoring', cluster },
        ...{ annotations: {}, startsAt: iso(NOON), endsAt: iso(after(minute + 4)) },
      }))
      const intake = readPrometheus(alerts, flow.clock.now)
      await flow.submit({ ...flow.delivery('metrics', alertmanager([])), intake })
    }
    for (const minute of [0, 1, 2, 3]) await push(minute, ['eu', 'us'])
    if (restartsAt !== null) await restartAt(flow, restartsAt)
    for (const minute of minutes) await push(minute, ['us'])
    const shown = () =>
      flow
        .incidents()
        .map(({ title, status, started_at: at }) => [title.replace(/:.*/, ''), status, (at - NOON) / MINUTE])
    assert.deepEqual(shown(), expected)
    // What was told before a stop is not told again after it.
    const [told] = flow.incidents()
    if (restartsAt === null || !told) return
    await changeIncident(flow.deps, flow.acme.key, told.id, { status: 'resolved' }, 'ann')
    for (const minute of [20, 21]) await push(minute, ['us'])
    await restartAt(flow, 40)
    for (const minute of [40, 41, 45, 46, 47, 48]) await push(minute, ['us'])
    assert.deepEqual(shown(), [['heartbeat ended', 'resolved', 3]])
  })
}

test('an end during a stop that is reported after it opens an incident at once', async (t) => {
  const flow = await two(t)
  await restartAt(flow, 30)
  await flow.beats(31, beat('eu', over(15)), beat('us'))
  for (const minute of [33, 35]) await flow.beats(minute, beat('us'))
  assert.deepEqual(flow.states(), [['heartbeat ended', 'open', 15, EU]])
})
