/** A user resolves the incident of a sender that is still silent: messages say so, and the problem is on until it is back. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import { problemAt } from '../../src/domain/incident/problem.ts'
import { toProblem } from '../../src/store/incident/live-incidents.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager, watchdog } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE

/** The heartbeat arrives every two minutes until 12:10, and Dana resolves the incident of its absence at 12:30. */
async function silent(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 10 })
  const told = async (minute: number) => {
    const sent: string[] = []
    while (clock.now < after(minute)) {
      await flow.sweepUntil(Math.min(after(minute), clock.now + MINUTE / 2), MINUTE / 2)
      remind(deps)
      sent.push(...pump(deps).map(({ items, title }) => `${items[0]?.kind}: ${title}`))
    }
    return sent
  }
  for (const minute of [0, 2, 4, 6, 8, 10]) {
    await told(minute)
    await flow.send('metrics', watchdog({ startsAt: NOON }))
  }
  await told(30)
  const id = flow.incidents()[0]?.id ?? ''
  const change = (status: 'open' | 'resolved') => changeIncident(deps, acme.key, id, { status }, 'Dana')
  await change('resolved')
  const states = () =>
    flow.incidents().map(({ status, problem }) => `${status} ${problemAt(toProblem(problem), clock.now)}`)
  return { ...flow, told, change, states }
}

test('the message does not say that the heartbeat is back, and nothing is told when it is', async (t) => {
  const { send, told, states } = await silent(t)
  assert.deepEqual(await told(70), [
    'resolved: Dana resolved the incident, but Alertmanager (incmon) has sent no heartbeat since 12:10 UTC (20 min).',
  ])
  assert.deepEqual(states(), ['resolved on'])
  await send('metrics', watchdog({ startsAt: NOON }))
  assert.deepEqual([states(), await told(75)], [['resolved off'], []])
})

test('the problem is on for a day, also after a restart, and another outage has another incident', async (t) => {
  const { send, told, states, restart, sweepUntil } = await silent(t)
  await sweepUntil(after(24 * 60), 60 * MINUTE)
  restart()
  assert.deepEqual(states(), ['resolved on'])
  for (const minute of [0, 2, 4]) {
    await sweepUntil(after(24 * 60 + minute))
    await send('metrics', watchdog({ startsAt: NOON }))
  }
  assert.deepEqual(states(), ['resolved off'])
  await told(24 * 60 + 20)
  assert.deepEqual(states(), ['resolved off', 'open on'])
})

for (const days of [1, 3, 30])
  test(`after ${days} days and a restart, it ends with the heartbeat, and the next outage is told`, async (t) => {
    const { send, told, states, restart, sweepUntil, clock } = await silent(t)
    const from = days * 24 * 60
    await sweepUntil(after(from - 60), 60 * MINUTE)
    clock.now = after(from)
    restart()
    await told(from + 1)
    for (const minute of [2, 4, 6]) {
      await told(from + minute)
      await send('metrics', watchdog({ startsAt: NOON }))
    }
    assert.deepEqual(states(), ['resolved off'])
    const sent = await told(from + 30)
    assert.match(sent[0] ?? '', /^sender-silent: /)
    assert.deepEqual(states(), ['resolved off', 'open on'])
  })

test('a user who reopens it finds it on, and it is resolved when the heartbeat is back', async (t) => {
  const { send, told, states, change } = await silent(t)
  await told(35)
  await change('open')
  assert.deepEqual(states(), ['open on'])
  await told(40)
  await send('metrics', watchdog({ startsAt: NOON }))
  assert.match(`${await told(41)}`, /^resolved: Alertmanager \(incmon\) sends its heartbeat again after 30 min/)
})

test('one of several heartbeats is named', async (t) => {
  const { send, told, deps, acme, incidents, states } = await silent(t)
  const beat = (name: string, minute: number, until?: number) =>
    alert(
      name,
      { severity: 'none' },
      { startsAt: after(minute), ...(until === undefined ? {} : { endsAt: after(until) }) },
    )
  for (const minute of [40, 42, 44]) {
    await told(minute)
    await send('metrics', alertmanager([beat('Watchdog', 0), beat('DeadMansSwitch', 0)], { groupKey: 'beats' }))
  }
  await send('metrics', alertmanager([beat('Watchdog', 0), beat('DeadMansSwitch', 0, 44)], { groupKey: 'beats' }))
  await told(45)
  await changeIncident(deps, acme.key, incidents().at(-1)?.id ?? '', { status: 'resolved' }, 'Dana')
  assert.match(
    `${await told(45.5)}`,
    /^resolved: Dana resolved the incident, but .* has not sent one of its heartbeats since 12:44 UTC/,
  )
  assert.deepEqual(states(), ['resolved off', 'resolved on'])
})
