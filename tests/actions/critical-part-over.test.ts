/** Who hears that the critical part of a declared incident is over. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { changeIncident, createIncident, mergeIncidents } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Anna declares a warning on cart at noon. The channel `pager` wants only what is critical. */
async function declared(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme, clock, incidents } = flow
  const add = (name: string, more: object) =>
    createChannel(deps, acme.key, { name, kind: 'slack', target: 'https://example.com/x', remindAfter: 0, ...more })
  add('pager', { rules: [{ minSeverity: 'critical' }] })
  add('warnings', { rules: [{ minSeverity: 'warning', events: ['opened'] }] })
  const sent: string[] = []
  const to = async (minute: number) => {
    while (clock.now < NOON + minute * MINUTE) {
      await flow.sweepUntil(clock.now + MINUTE / 2, MINUTE / 2)
      const at = (clock.now - NOON) / MINUTE
      sent.push(...pump(deps).map(({ channel, title }) => `${channel} at ${at}: ${title}`))
    }
  }
  const down = async (minute: number, isOver = false) => {
    await to(minute)
    const times = isOver ? { startsAt: clock.now - 1, endsAt: clock.now } : { startsAt: clock.now }
    await flow.send('metrics', alertmanager([alert('Down', { service: 'cart' }, times)]))
  }
  const busy = alert('Busy', { service: 'cart', severity: 'info' }, { startsAt: NOON })
  await flow.send('metrics', alertmanager([busy], { groupKey: 'Busy' }))
  const declare = () =>
    createIncident(
      deps,
      acme.key,
      { serviceId: flow.service('cart')?.id ?? '', title: 'Typo', severity: 'warning' },
      'anna',
    )
  const change = (to: object) => changeIncident(deps, acme.key, incidents()[0]?.id ?? '', to, 'anna')
  const merge = () => {
    const [first, second] = incidents()
    return mergeIncidents(deps, acme.key, { from: second?.id ?? '', into: first?.id ?? '' }, 'anna')
  }
  const told = () => sent.filter((one) => one.startsWith('pager'))
  return { ...flow, to, fires: down, ends: (minute: number) => down(minute, true), declare, change, merge, sent, told }
}

const OPENED = 'pager at 2.5: anna declared an incident: “Typo” (cart) has been critical since 12:02 UTC (30 s).'

test('who was told that it is critical hears, once and after a minute, that it is a warning again', async (t) => {
  const { declare, fires, ends, to, told, sent } = await declared(t)
  await declare()
  await fires(2)
  await ends(4)
  await to(20)
  assert.deepEqual(told(), [
    OPENED,
    'pager at 5: cart has a warning now (previously critical): “Typo” (cart) has had a warning since 12:04 UTC (1 min, 3 min in all).',
  ])
  assert.deepEqual(sent.length, 3)
})

test('who hears nothing of changes in severity does not', async (t) => {
  const { declare, fires, ends, to, sent } = await declared(t)
  await declare()
  await fires(2)
  await ends(4)
  await to(20)
  assert.deepEqual(
    sent.filter((one) => one.startsWith('warnings')),
    ['warnings at 0.5: anna declared an incident: “Typo” (cart) has had a warning since 12:00 UTC (30 s).'],
  )
})

test('a critical alert that is back within the minute goes on', async (t) => {
  const { declare, fires, ends, to, told } = await declared(t)
  await declare()
  await fires(2)
  await ends(4)
  await fires(4.5)
  await to(20)
  assert.deepEqual(told(), [OPENED])
})

test('if a user resolves the incident within the minute, that is told instead', async (t) => {
  const { declare, fires, ends, change, to, told } = await declared(t)
  await declare()
  await fires(2)
  await ends(4)
  await change({ status: 'resolved' })
  await to(20)
  assert.deepEqual(told(), [
    OPENED,
    'pager at 4.5: cart: anna resolved the incident. It was critical for 2 min, and went on for 4 min in all.',
  ])
})

test('what was merged into a critical incident and goes on is told, too', async (t) => {
  const { declare, fires, ends, merge, to, told } = await declared(t)
  await fires(1)
  await to(2)
  await declare()
  await merge()
  await ends(4)
  await to(20)
  assert.deepEqual(told().slice(1), [
    'pager at 5: cart has a warning now (previously critical): “Typo”, merged into cart, has had a warning since 12:02 UTC (3 min).',
  ])
})
