/** Reminders about a problem that may be over: its alert was not repeated, or another one says that it ended. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import { createIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { type AlertMore, alert, alertmanager, crashLoop, times, watchdog } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE
const over = (minutes: number) => ({ startsAt: NOON, endsAt: after(minutes) })

/** A channel that is reminded after 10 minutes and then every 10. `until` checks each minute. */
function reminding(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  const target = 'https://example.com/x'
  createChannel(deps, acme.key, { name: 'one', kind: 'slack', target, remindAfter: 10, remindEvery: 10 })
  /** Sends an alert of cart in a group of its own. */
  const send = (name: string, more: AlertMore = {}, labels = {}) =>
    flow.send(
      'metrics',
      alertmanager([alert(name, { service: 'cart', ...labels }, { startsAt: NOON, ...more })], { groupKey: name }),
    )
  const until = async (minute: number, every: () => Promise<unknown> = async () => {}) => {
    while (flow.clock.now < after(minute)) {
      await flow.sweepUntil(flow.clock.now + MINUTE)
      await every()
      remind(deps)
    }
  }
  const reminders = () => {
    const sql = deps.db.sql.selectFrom('outbox').select('due_at').where('kind', '=', 'reminder').orderBy('id')
    return deps.db.all(sql).map((row) => (row.due_at - NOON) / MINUTE)
  }
  return { ...flow, sendAlert: send, until, reminders }
}

test('without ends, an alert that was repeated once and then no more leads to no reminder', async (t) => {
  const { sendAlert, until, reminders } = reminding(t)
  await sendAlert('Down')
  await until(2)
  await sendAlert('Down')
  await until(40)
  assert.deepEqual(reminders(), [])
})

test('the same, but its sender has a heartbeat and sends nothing at all', async (t) => {
  const { sendAlert, until, reminders, send } = reminding(t)
  await send('metrics', watchdog({ startsAt: NOON }))
  await sendAlert('Down')
  await until(2)
  await send('metrics', watchdog({ startsAt: NOON }))
  await sendAlert('Down')
  await until(21)
  // At 12:18, of the incident about the sender.
  assert.deepEqual(reminders(), [10, 18, 20])
})

test('with ends, an alert of a slow group leads to reminders, although the heartbeat is frequent', async (t) => {
  const { sendAlert, until, reminders, send } = reminding(t)
  await sendAlert('Other', over(0), { service: 'till' })
  await send('metrics', watchdog({ startsAt: NOON }))
  await sendAlert('Down')
  await until(31, () => send('metrics', watchdog({ startsAt: NOON })))
  assert.deepEqual(reminders(), [10, 20, 30])
})

test('the same if the first end comes after many heartbeats', async (t) => {
  const { sendAlert, until, reminders, send } = reminding(t)
  await until(20, () => send('metrics', watchdog({ startsAt: NOON })))
  await sendAlert('Other', over(20), { service: 'till' })
  await sendAlert('Down', { startsAt: after(20) })
  await until(51, () => send('metrics', watchdog({ startsAt: NOON })))
  assert.deepEqual(reminders(), [30, 40, 50])
})

test('of an alert whose end does not count, nobody is reminded once its sender has left it out of three repeats', async (t) => {
  const { sendAlert, until, reminders, send } = reminding(t)
  const beat = (more = {}) => send('metrics', watchdog({ startsAt: NOON, ...more }))
  const other = () => sendAlert('Other', {}, { service: 'till', severity: 'warning' })
  await until(4, async () => {
    await beat()
    await sendAlert('Down')
    await other()
  })
  await until(6)
  await sendAlert('Down', over(5))
  await beat({ endsAt: after(5) })
  // While nothing arrives, it may go on. The heartbeat is back at 12:12, and the alert is left out.
  await until(11)
  await until(19, async () => {
    await beat({ startsAt: after(12) })
    await other()
  })
  // The second one is about the sender.
  assert.deepEqual(reminders(), [11])
})

test('nobody is reminded of what a silent sender does not repeat when it is back', async (t) => {
  const { sendAlert, until, reminders, send } = reminding(t)
  const beat = () => send('metrics', watchdog({ startsAt: NOON }))
  await until(4, async () => {
    await beat()
    await sendAlert('Down')
  })
  await until(9)
  await until(14, beat)
  assert.deepEqual(reminders(), [])
  await sendAlert('Down')
  await until(15, beat)
  assert.deepEqual(reminders(), [15])
})

test('if one of two critical alerts is left out, the other one leads to reminders', async (t) => {
  const { sendAlert, until, reminders } = reminding(t)
  await sendAlert('Other', over(0), { service: 'till' })
  for (const name of ['Down', 'Slow']) await sendAlert(name)
  await until(4, () => sendAlert('Down'))
  await until(21, () => sendAlert('Slow'))
  assert.deepEqual(reminders(), [10, 20])
})

test('a warning that is repeated does not stand for the critical alert that is left out', async (t) => {
  const { sendAlert, until, reminders } = reminding(t)
  await sendAlert('Other', over(0), { service: 'till' })
  await until(4, () => sendAlert('Down'))
  await until(30, () => sendAlert('Busy', {}, { severity: 'warning' }))
  assert.deepEqual(reminders(), [])
})

test('what a user declared leads to reminders, whatever its alerts do', async (t) => {
  const { sendAlert, until, reminders, deps, acme, service } = reminding(t)
  await sendAlert('Busy', {}, { severity: 'info' })
  await createIncident(
    deps,
    acme.key,
    { serviceId: service('cart')?.id ?? '', title: 'Typo', severity: 'error' },
    'anna',
  )
  await sendAlert('Down')
  await until(2)
  await sendAlert('Down')
  await until(21)
  assert.deepEqual(reminders(), [10, 20])
})

/** A pod of cart crashes until 12:08. An alert about cart begins at 12:01. */
async function crashing(t: TestContext, name: string) {
  const flow = reminding(t)
  const pod = 'cart-6c9f8d7b5d-abcd0'
  const labels = { pod, severity: 'warning' }
  const crash = () => flow.send('cluster', crashLoop(pod, { at: flow.clock.now, count: 9 }))
  await crash()
  for (const at of times(after(2), after(9), 2 * MINUTE)) {
    await flow.until((at - NOON) / MINUTE)
    await crash()
    if (at === after(2)) await flow.sendAlert(name, {}, labels)
  }
  return {
    ...flow,
    crash,
    end: () => flow.sendAlert(name, over((flow.clock.now - NOON) / MINUTE), labels),
  }
}

test('nobody is reminded of a crash loop if the alert about it has ended since', async (t) => {
  const { until, end, reminders, incidents } = await crashing(t, 'KubePodCrashLooping')
  assert.equal(incidents().length, 1)
  await until(9)
  await end()
  await until(16)
  assert.deepEqual(reminders(), [])
})

test('if the pod goes on crashing, a reminder is sent', async (t) => {
  const { until, end, crash, reminders } = await crashing(t, 'KubePodCrashLooping')
  await until(9)
  await end()
  await until(11)
  await crash()
  await until(16)
  assert.equal(reminders().length, 1)
})

test('the end of an alert about something else leaves the reminder', async (t) => {
  const { until, end, reminders } = await crashing(t, 'KubeJobFailed')
  await until(9)
  await end()
  await until(16)
  assert.equal(reminders().length, 1)
})
