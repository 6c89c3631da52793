/** Reminders of an alert that its Alertmanager no longer sends, for example because it is silenced there. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, times } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE
const CART = { service: 'cart', severity: 'critical' }
const WEB = { service: 'web', severity: 'warning' }

/** An Alertmanager that repeats the alerts of two groups each minute, reports ends, and reminds a channel after 10 minutes. */
async function muted(t: TestContext) {
  const flow = makeFlow(t)
  createChannel(flow.deps, flow.acme.key, { name: 'one', kind: 'slack', target: 'https://example.com/x' })
  const group = (labels: Record<string, string>, at: number, endsAt?: number) =>
    flow.send('metrics', alertmanager([alert('Down', labels, { startsAt: NOON, ...(endsAt && { endsAt }) })]), { at })
  await group({ service: 'till', severity: 'info' }, NOON, NOON)
  /** Both groups until a minute, then only the second one until another. */
  const repeat = async (from: number, both: number, web: number) => {
    for (const at of times(after(from), after(web + 1), MINUTE)) {
      await flow.sweepUntil(at)
      if (at <= after(both)) await group(CART, at)
      await group(WEB, at)
      remind(flow.deps)
    }
  }
  const reminders = () => {
    const sql = flow.deps.db.sql.selectFrom('outbox').select('due_at').where('kind', '=', 'reminder')
    return flow.deps.db.all(sql).map((row) => (row.due_at - NOON) / MINUTE)
  }
  return { ...flow, group, repeat, reminders }
}

test('an alert that is repeated leads to a reminder', async (t) => {
  const { repeat, reminders } = await muted(t)
  await repeat(0, 12, 12)
  assert.deepEqual(reminders(), [10])
})

test('an alert that its Alertmanager leaves out of its repeats leads to none', async (t) => {
  const { repeat, reminders } = await muted(t)
  await repeat(0, 3, 30)
  assert.deepEqual(reminders(), [])
})

test('when the Alertmanager sends the alert again, a reminder is due at once', async (t) => {
  const { repeat, reminders } = await muted(t)
  await repeat(0, 3, 20)
  await repeat(21, 21, 21)
  assert.deepEqual(reminders(), [21])
})

test('an end that is reported after the silence leads to no reminder', async (t) => {
  const { repeat, reminders, group } = await muted(t)
  await repeat(0, 3, 20)
  await group(CART, after(21), after(5))
  await repeat(22, 0, 23)
  assert.deepEqual(reminders(), [])
})

test('if the Alertmanager sends nothing at all, the reminder is sent', async (t) => {
  const { repeat, reminders, deps, sweepUntil } = await muted(t)
  await repeat(0, 3, 3)
  await sweepUntil(after(10))
  remind(deps)
  assert.deepEqual(reminders(), [10])
})

test('before incmon knows how often the alert is repeated, the reminder is sent', async (t) => {
  const { group, reminders, deps, sweepUntil } = await muted(t)
  await group(CART, NOON)
  await group(WEB, NOON)
  await sweepUntil(after(9))
  await group(WEB, after(9))
  await sweepUntil(after(10))
  remind(deps)
  assert.deepEqual(reminders(), [10])
})
