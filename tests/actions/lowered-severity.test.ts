/** Who is told about an automatic incident whose severity a user lowered. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { changeIncident, createSilence } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { ownChannel } from '../helpers/own-channel.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Returns a flow in which cart is down since noon, and Anna rated its incident as a warning two minutes later. */
async function lowered(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme, send, clock } = flow
  const common = { kind: 'slack', target: 'https://example.com/x', rules: [{ minSeverity: 'critical' }] } as const
  createChannel(deps, acme.key, { name: 'boss', ...common, remindAfter: 5 })
  const fire = (name: string, at: number, endsAt?: number) => {
    const period = { startsAt: NOON + at * MINUTE, ...(endsAt !== undefined && { endsAt: NOON + endsAt * MINUTE }) }
    return send('metrics', alertmanager([alert(name, { service: 'cart' }, period)], { groupKey: name }))
  }
  await fire('Down', 0)
  await flow.sweepUntil(NOON + 2 * MINUTE)
  await changeIncident(deps, acme.key, flow.incidents()[0]?.id ?? '', { severity: 'warning' }, 'anna')
  const told = () => deps.db.all(deps.db.sql.selectFrom('outbox').select('kind').orderBy('id')).map(({ kind }) => kind)
  const severity = () => flow.incidents()[0]?.severity
  const remindAt = (minutes: number) => {
    clock.now = NOON + minutes * MINUTE
    remind(deps)
  }
  const entries = () =>
    deps.db.all(deps.db.sql.selectFrom('timeline').select(['kind', 'text', 'actor']).where('kind', '=', 'edited'))
  return { ...flow, fire, told, severity, remindAt, entries }
}

test('the channels for critical incidents are reminded no more', async (t) => {
  const { told, remindAt, fire, sweepUntil } = await lowered(t)
  for (const minute of [6, 20]) remindAt(minute)
  assert.deepEqual(told(), ['opened'])
  await fire('Down', 0, 21)
  await sweepUntil(NOON + 23 * MINUTE)
  assert.deepEqual(told(), ['opened', 'recovered'])
})

test('another critical alert makes the incident critical again, and is told', async (t) => {
  const { told, fire, severity, entries, remindAt } = await lowered(t)
  await fire('Full', 3)
  assert.deepEqual([told(), severity()], [['opened', 'worse'], 'critical'])
  assert.deepEqual(
    entries().map(({ text, actor }) => [text, actor]),
    [
      ['severity changed from critical to warning', 'anna'],
      ['severity changed from warning to critical', null],
    ],
  )
  remindAt(9)
  assert.deepEqual(told(), ['opened', 'worse', 'reminder'])
})

test('the same alert that fires anew after the all-clear leaves the severity as the user chose, and is not told', async (t) => {
  const { told, fire, severity, sweepUntil, remindAt } = await lowered(t)
  await fire('Down', 0, 3)
  await sweepUntil(NOON + 5 * MINUTE)
  await fire('Down', 6)
  await sweepUntil(NOON + 8 * MINUTE)
  remindAt(15)
  assert.deepEqual([told(), severity()], [['opened', 'recovered'], 'warning'])
})

test('who has not heard the all-clear yet hears nothing of a warning that is back', async (t) => {
  const { told, fire, severity, sweepUntil } = await lowered(t)
  await fire('Down', 0, 3)
  await fire('Down', 3.5)
  await sweepUntil(NOON + 8 * MINUTE)
  assert.deepEqual([told(), severity()], [['opened'], 'warning'])
})

test('another critical alert after the recovery brings the incident back as critical', async (t) => {
  const { fire, severity, sweepUntil, told } = await lowered(t)
  await fire('Down', 0, 3)
  await sweepUntil(NOON + 5 * MINUTE)
  await fire('Full', 6)
  assert.deepEqual([told(), severity()], [['opened', 'recovered', 'again'], 'critical'])
})

test('they do not hear who works on it, nor that nobody does any more', async (t) => {
  const { told, deps, acme, incidents } = await lowered(t)
  for (const status of ['investigating', 'open'] as const)
    await changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status }, 'anna')
  assert.deepEqual(told(), ['opened'])
})

for (const [what, wait] of [
  ['under a silence', 'silence'],
  ['in quiet hours', 'quiet'],
  ['while the receiver fails', 'failure'],
] as const)
  test(`a severity that a user raised and lowered further ${what} is not told as a change`, async (t) => {
    const quietHours = { from: '12:00', to: '12:10', timeZone: 'UTC' }
    const world = ownChannel(t, wait === 'quiet' ? [{ quietHours }] : [])
    const { addOwn, fires, user, until, texts, receiver, deps, acme, clock } = world
    addOwn()
    await fires(1, 'cart')
    await until(2)
    const period = { startsAt: clock.now, endsAt: NOON + 10 * MINUTE, schedule: null, comment: 'work' }
    if (wait === 'silence')
      await createSilence(deps, acme.key, { ...period, matchers: parseMatchers('service="cart"') }, 'anna')
    if (wait === 'failure') receiver.status = 503
    await user(3, { severity: 'error' })
    await user(5, { severity: 'critical' })
    await user(7, { severity: 'warning' })
    receiver.status = 200
    await until(20)
    assert.doesNotMatch(texts.join(' | '), /changed by/)
    assert.match(texts.at(-1) ?? '', wait === 'failure' ? /^cart has been critical/ : /^cart has had a warning since/)
  })
