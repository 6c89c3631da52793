/** Who is told about an incident that a user declared as a warning, while a critical alert fires on it and afterwards. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import type { ChannelSettings } from '../../src/domain/notification/channel.ts'
import { toProblem } from '../../src/store/incident/live-incidents.ts'
import { changeIncident, createIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { criticalMsOf } from '../helpers/lengths.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Returns a flow in which Anna declared a warning on cart at noon, for channels that want only critical incidents. */
async function declared(t: TestContext, ...channels: readonly Partial<ChannelSettings>[]) {
  const flow = makeFlow(t)
  const { deps, acme, send, service, clock } = flow
  for (const [index, settings] of channels.entries()) {
    const rules = [{ minSeverity: 'critical' as const }]
    createChannel(deps, acme.key, {
      name: `${index}`,
      kind: 'slack',
      target: 'https://example.com/x',
      rules,
      ...settings,
    })
  }
  await send('metrics', alertmanager([alert('Busy', { service: 'cart', severity: 'info' }, { startsAt: NOON })]))
  const incident = { serviceId: service('cart')?.id ?? '', title: 'Typo', severity: 'warning' } as const
  await createIncident(deps, acme.key, incident, 'anna')
  const outbox = () => {
    const joined = deps.db.sql.selectFrom('outbox').innerJoin('channels', 'channels.id', 'outbox.channel_id')
    const rows = deps.db.all(
      joined.select(['channels.name', 'outbox.kind', 'outbox.due_at as at']).orderBy('outbox.id'),
    )
    return rows.map(({ name, kind, at }) => [name, kind, (at - NOON) / MINUTE])
  }
  const down = (endsAt?: number) => {
    const period = { startsAt: NOON + 2 * MINUTE, ...(endsAt && { endsAt }) }
    return send('metrics', alertmanager([alert('Down', { service: 'cart' }, period)]))
  }
  const act = (change: object) => changeIncident(deps, acme.key, flow.incidents()[0]?.id ?? '', change, 'anna')
  const remindAt = (minutes: number) => {
    clock.now = NOON + minutes * MINUTE
    remind(deps)
  }
  const burn = async () => {
    await flow.sweepUntil(NOON + 2 * MINUTE)
    await down()
  }
  return { ...flow, outbox, down, act, remindAt, burn }
}

test('reminders and escalations follow the rules for critical while a critical alert fires', async (t) => {
  const { outbox, remindAt, burn } = await declared(t, { remindAfter: 5 }, { escalateAfter: 3 })
  await burn()
  for (const minute of [3, 7]) remindAt(minute)
  assert.deepEqual(outbox(), [
    ['0', 'opened', 2],
    ['1', 'escalation', 3],
    ['0', 'reminder', 7],
  ])
})

test('once the critical alert has ended, nobody is reminded, but who was told hears the end', async (t) => {
  const { outbox, remindAt, down, act, sweepUntil, burn } = await declared(t, {}, { escalateAfter: 3 })
  await burn()
  await sweepUntil(NOON + 3 * MINUTE)
  await down(NOON + 3 * MINUTE)
  await sweepUntil(NOON + 4 * MINUTE)
  for (const minute of [5, 20]) remindAt(minute)
  await act({ status: 'resolved' })
  assert.deepEqual(outbox(), [
    ['0', 'opened', 2],
    ['0', 'severity', 4],
    ['0', 'resolved', 20],
  ])
})

test('who wants only critical incidents hears nothing of one without a critical alert', async (t) => {
  const { outbox, remindAt, act } = await declared(t, {}, { escalateAfter: 3 })
  remindAt(20)
  await act({ status: 'investigating' })
  await act({ status: 'resolved' })
  assert.deepEqual(outbox(), [])
})

test('a critical alert that fires on when a user resolves the incident goes on in it until it ends', async (t) => {
  const { burn, act, down, sweepUntil, incidents } = await declared(t)
  const states = () =>
    incidents().map(({ status, problem }) => {
      const { since, ...known } = toProblem(problem)
      return [status, since !== null, criticalMsOf(known, since ?? 0) / MINUTE]
    })
  await burn()
  await sweepUntil(NOON + 3 * MINUTE)
  await act({ status: 'resolved' })
  assert.deepEqual(states(), [['resolved', true, 0]])
  await sweepUntil(NOON + 6 * MINUTE)
  await down(NOON + 6 * MINUTE)
  await sweepUntil(NOON + 8 * MINUTE)
  assert.deepEqual(states(), [['resolved', false, 6]])
})

test('an alert that belongs to an older incident of the service makes the declared one neither critical nor worse', async (t) => {
  const { burn, send, outbox, incidents, deps, acme, service, sweepUntil } = await declared(t, {})
  await burn()
  const second = { serviceId: service('cart')?.id ?? '', title: 'Typo two', severity: 'warning' } as const
  await createIncident(deps, acme.key, second, 'ben')
  await sweepUntil(NOON + 4 * MINUTE)
  const worse = alert('Worse', { service: 'cart' }, { startsAt: NOON + 4 * MINUTE })
  await send('metrics', alertmanager([worse], { groupKey: 'worse' }))
  await sweepUntil(NOON + 6 * MINUTE)
  assert.deepEqual(outbox(), [
    ['0', 'opened', 2],
    ['0', 'worse', 4],
  ])
  assert.deepEqual(
    incidents().map(({ problem }) => JSON.parse(problem).firing),
    [['Down', 'Worse'], []],
  )
})
