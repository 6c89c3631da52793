/** Prometheus stops and Alertmanager goes on: it reports the end of the heartbeat and of all alerts, which proves nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPrometheus } from '../../src/intake/prometheus.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { type AlertMore, alert, alertmanager, type Body, iso, times, watchdog } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE
const beat = (more: AlertMore = {}, labels = {}) =>
  alert('Watchdog', { severity: 'none', namespace: 'monitoring', ...labels }, { startsAt: NOON, ...more })
const down = (more: AlertMore = {}, labels = {}) =>
  alert('Down', { service: 'cart', ...labels }, { startsAt: NOON, ...more })
const beats = (...alerts: readonly Body[]) => alertmanager(alerts, { groupKey: 'beats' })
const over = (minutes: number) => ({ startsAt: NOON, endsAt: after(minutes) })

/** The heartbeat and an alert arrive every 2 minutes until 12:08. Prometheus stops then; its alerts end at about 12:12. */
async function stopPrometheus(flow: Flow, labels = {}): Promise<void> {
  for (const at of times(NOON, after(9), 2 * MINUTE)) {
    await flow.sweepUntil(at)
    await flow.send('metrics', beats(beat({}, labels)), { at })
    await flow.send('metrics', alertmanager([down({}, labels)]), { at })
  }
  await flow.sweepUntil(after(13))
}

function fateOf(flow: Flow, name = 'Down') {
  const one = flow.alerts().find((alert) => alert.name === name)
  return [one?.status, one?.resolution, one?.ends_at === null ? null : ((one?.ends_at ?? 0) - NOON) / MINUTE]
}

const FIRING = ['firing', null, null]
const states = (flow: Flow) => flow.incidents().map(({ cause, status }) => `${cause} ${status}`)

for (const [when, send] of [
  [
    'after the end of the heartbeat',
    async ({ send, sweepUntil }: Flow) => {
      await send('metrics', beats(beat(over(12))))
      await sweepUntil(after(16))
      await send('metrics', alertmanager([down(over(12.5))]))
    },
  ],
  ['together with it', ({ send }: Flow) => send('metrics', alertmanager([down(over(11)), beat(over(12))]))],
  [
    'shortly before it',
    async ({ send }: Flow) => {
      await send('metrics', alertmanager([down(over(12.5))]))
      await send('metrics', beats(beat(over(12))))
    },
  ],
  [
    'minutes before it, with an all-clear',
    async ({ send, sweepUntil }: Flow) => {
      await send('metrics', alertmanager([down(over(11))]))
      await sweepUntil(after(16))
      await send('metrics', beats(beat(over(12))))
    },
  ],
] as const) {
  test(`an end that Alertmanager reports ${when} proves nothing`, async (t) => {
    const flow = makeFlow(t)
    await stopPrometheus(flow)
    await send(flow)
    await flow.sweepUntil(after(20))
    assert.deepEqual([fateOf(flow), states(flow)], [FIRING, ['service open', 'silence open']])
    flow.restart()
    await flow.sweepUntil(after(120))
    assert.deepEqual([fateOf(flow), states(flow)], [FIRING, ['service open', 'silence open']])
    // The problem has no gap.
    const { since, periods } = JSON.parse(flow.incidents()[0]?.problem ?? '')
    assert.deepEqual([since, periods.length], [NOON, 1])
  })
}

test('the incident of a sender opens as soon as the end of its heartbeat is reported', async (t) => {
  const flow = makeFlow(t)
  await stopPrometheus(flow)
  await flow.send('metrics', beats(beat(over(12))))
  await flow.sweepUntil(after(13.1))
  assert.deepEqual(states(flow), ['service open', 'silence open'])
  assert.equal(flow.incidents()[1]?.started_at, after(12))
})

for (const [what, repeats, fate] of [
  ['goes on if it is repeated', true, FIRING],
  ['ended as reported if it is not repeated', false, ['resolved', 'reported', 12.5]],
] as const) {
  test(`when the heartbeat is back, an alert ${what} within 15 minutes`, async (t) => {
    const flow = makeFlow(t)
    await stopPrometheus(flow)
    await flow.send('metrics', beats(beat(over(12))))
    await flow.send('metrics', alertmanager([down(over(12.5))]))
    for (const at of times(after(30), after(80), 2 * MINUTE)) {
      await flow.sweepUntil(at)
      await flow.send('metrics', beats(beat({ startsAt: after(30) })), { at })
      if (at === after(38) && repeats) await flow.send('metrics', alertmanager([down({ startsAt: after(37) })]), { at })
      if (at <= after(44)) assert.deepEqual(fateOf(flow), FIRING)
    }
    assert.deepEqual(fateOf(flow), fate)
    assert.deepEqual(flow.incidents().find(({ cause }) => cause === 'silence')?.status, 'resolved')
  })
}

for (const [what, send] of [
  ['lies minutes before it', (flow: Flow) => flow.send('metrics', alertmanager([down(over(8.5))]))],
  [
    'comes from another receiver',
    (flow: Flow) => flow.send('metrics', alertmanager([down(over(12))], { receiver: 'other', groupKey: 'other' })),
  ],
  [
    'lies so long after it that only a Prometheus that runs can know it',
    async (flow: Flow) => {
      await flow.sweepUntil(after(35))
      await flow.send('metrics', alertmanager([down(over(34))]))
    },
  ],
] as const) {
  test(`an end that ${what} counts, although the heartbeat ended`, async (t) => {
    const flow = makeFlow(t)
    await stopPrometheus(flow)
    await flow.send('metrics', beats(beat(over(12))))
    await send(flow)
    assert.equal(fateOf(flow)[0], 'resolved')
  })
}

test('the end of the heartbeat of another cluster doubts nothing', async (t) => {
  const flow = makeFlow(t)
  await stopPrometheus(flow, { cluster: 'eu' })
  await flow.send('metrics', beats(beat({}, { cluster: 'us' })))
  await flow.send('metrics', beats(beat({}, { cluster: 'eu' }), beat(over(12), { cluster: 'us' })))
  await flow.send('metrics', alertmanager([down(over(12), { cluster: 'eu' })]))
  assert.equal(fateOf(flow)[0], 'resolved')
  await flow.sweepUntil(after(15))
  assert.deepEqual(states(flow), ['service monitoring', 'silence open'])
})

test('of two heartbeats of one receiver, the one that ended counts for its own cluster', async (t) => {
  const flow = makeFlow(t)
  await stopPrometheus(flow, { cluster: 'eu' })
  for (const at of times(after(13), after(40), 2 * MINUTE)) {
    await flow.sweepUntil(at)
    await flow.send('metrics', beats(beat(over(12), { cluster: 'eu' }), beat({}, { cluster: 'us' })), { at })
    if (at === after(15)) await flow.send('metrics', alertmanager([down(over(12), { cluster: 'eu' })]))
  }
  assert.deepEqual([fateOf(flow), states(flow)], [FIRING, ['service open', 'silence open']])
})

test('a heartbeat that never comes back doubts an end for a day', async (t) => {
  const flow = makeFlow(t)
  await stopPrometheus(flow)
  await flow.send('metrics', alertmanager([down(over(12)), beat(over(12))]))
  await flow.sweepUntil(after(12 + 23 * 60), 10 * MINUTE)
  assert.deepEqual(fateOf(flow), FIRING)
  await flow.sweepUntil(after(14 + 24 * 60), 10 * MINUTE)
  assert.deepEqual(fateOf(flow), ['resolved', 'reported', 12])
})

test('a heartbeat that was never seen to fire doubts nothing', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([down()]))
  await flow.sweepUntil(after(13))
  await flow.send('metrics', watchdog(over(12)))
  await flow.send('metrics', alertmanager([down(over(12))]))
  await flow.sweepUntil(after(15))
  assert.deepEqual([fateOf(flow)[0], states(flow)], ['resolved', ['service monitoring']])
})

/** Prometheus sends its alerts every minute, and says that they end 4 minutes later. */
const direct = (body: Body, at: number) => ({ ...body, status: undefined, endsAt: iso(at + 4 * MINUTE) })

for (const [what, lasts, fate] of [
  ['that stopped prove nothing', 10, FIRING],
  ['that goes on count', 30, ['resolved', 'inferred', 9]],
] as const) {
  test(`missing repeats of a Prometheus ${what}`, async (t) => {
    const flow = makeFlow(t)
    for (const at of times(NOON, after(lasts))) {
      await flow.sweepUntil(at)
      const all = at < after(10) ? [direct(down(), at), direct(beat(), at)] : [direct(beat(), at)]
      const body = { ...flow.delivery('metrics', alertmanager([]), { at }), intake: readPrometheus(all, at) }
      await flow.submit(body)
    }
    await flow.sweepUntil(after(30))
    assert.deepEqual(fateOf(flow), fate)
    assert.deepEqual(states(flow).includes('silence open'), lasts === 10)
  })
}
