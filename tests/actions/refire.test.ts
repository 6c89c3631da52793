/** An alert that fires anew after a user resolved its incident. Alertmanager skips an end if the alert soon fires again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const at = (minutes: number) => NOON + minutes * MINUTE

/** Fires at noon, is resolved by a user 5 minutes later, and is delivered again with each of these starts. */
async function resolvedByHand(
  t: Parameters<typeof makeFlow>[0],
  ...starts: readonly (readonly [number | string, object?])[]
) {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  createChannel(deps, acme.key, { name: 'pager', kind: 'webhook', target: 'https://a.example/', remindAfter: 0 })
  const send = (minute: number, start: number | string, labels: object = {}) => {
    const startsAt = typeof start === 'number' ? new Date(at(start)).toISOString() : start
    return flow.send('metrics', alertmanager([{ ...alert('Down', { service: 'cart', ...labels }), startsAt }]), {
      at: at(minute),
    })
  }
  await send(0, 0)
  flow.clock.now = at(5)
  await changeIncident(deps, acme.key, flow.incidents()[0]?.id ?? '', { status: 'resolved' }, 'ann')
  for (const [index, [start, labels]] of starts.entries()) await send(10 + 5 * index, start, labels)
  await flow.sweepUntil(at(25))
  const outbox = deps.db.all(deps.db.sql.selectFrom('outbox').select('kind').orderBy('id'))
  return { kinds: outbox.map(({ kind }) => kind), statuses: flow.incidents().map(({ status }) => status) }
}

test('a repeat of the resolved problem tells nobody', async (t) => {
  const { kinds, statuses } = await resolvedByHand(t, [0], [0])
  assert.deepEqual([kinds, statuses], [['opened', 'resolved'], ['resolved']])
})

test('a newer start without an end in between is a new problem, told once', async (t) => {
  const { kinds, statuses } = await resolvedByHand(t, [8], [8])
  assert.deepEqual([kinds, statuses], [['opened', 'resolved', 'again'], ['open']])
})

test('a newer start that lies before the resolution is not new', async (t) => {
  const { kinds } = await resolvedByHand(t, [4])
  assert.deepEqual(kinds, ['opened', 'resolved'])
})

test('an alert of the same name from another target is new, and told once', async (t) => {
  const { kinds } = await resolvedByHand(t, [12, { instance: '10.0.0.1:80' }], [12, { instance: '10.0.0.2:80' }])
  assert.deepEqual(kinds, ['opened', 'resolved', 'again'])
})

for (const [what, startsAt] of [
  ['without a start, as from amtool', ''],
  ['with the zero time as its start', '0001-01-01T00:00:00Z'],
  ['with a start in the future', '2030-01-01T00:00:00Z'],
] as const) {
  test(`a repeat ${what} is no new start`, async (t) => {
    const { kinds, statuses } = await resolvedByHand(t, [startsAt], [startsAt])
    assert.deepEqual([kinds, statuses], [['opened', 'resolved'], ['resolved']])
  })
}

/** Each delivery names one alert, which began at `starts` and, if it is over, ended at `ends`, in minutes after noon. */
async function startedAfter(t: Parameters<typeof makeFlow>[0], ...deliveries: readonly (readonly [number, number?])[]) {
  const flow = makeFlow(t)
  const items = deliveries.map(([starts, ends]) => {
    const over = ends === undefined ? {} : { status: 'resolved', endsAt: new Date(at(ends)).toISOString() }
    return { ...alert('Down', { service: 'cart' }), startsAt: new Date(at(starts)).toISOString(), ...over }
  })
  for (const item of items) await flow.send('metrics', alertmanager([item]), { at: at(20) })
  return flow.incidents().map(({ started_at: startedAt }) => (startedAt - NOON) / MINUTE)
}

test('what was over before incmon heard of it does not count', async (t) => {
  assert.deepEqual(await startedAfter(t, [11, 12], [19]), [19])
})

test('an end that is reported late does not move the start of the incident', async (t) => {
  assert.deepEqual(await startedAfter(t, [19], [11, 12]), [19])
})

test('an incident starts with the alert if nothing ended in between', async (t) => {
  assert.deepEqual(await startedAfter(t, [11]), [11])
})
