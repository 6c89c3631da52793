/** What messages say about ends without a recovery, counts, titles of users, and who is on a group. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { digestTextOf } from '../../src/domain/notification/digest.ts'
import { messageTextOf } from '../../src/domain/notification/words.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { burning, CONTEXT, healed, messageAlert, messageItem, NOW } from '../helpers/messages.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager, grafana, pipeline } from '../helpers/senders.ts'

function paging(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  createChannel(deps, acme.key, { name: 'pager', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  return flow
}

for (const [reason, title] of [
  ['', 'stock has recovered: it was critical for 5 min, until 12:05 UTC.'],
  [
    'Paused',
    'Grafana ended the alert of stock, because its rule was paused: it was critical for 5 min, until 12:05 UTC.',
  ],
  [
    'MissingSeries',
    'Grafana ended the alert of stock, because its query has no data of it any more: it was critical for 5 min, until 12:05 UTC.',
  ],
  [
    'NoData',
    'Grafana ended the alert of stock, because its query has no data: it was critical for 5 min, until 12:05 UTC.',
  ],
  [
    'Error',
    'Grafana ended the alert of stock, because its rule cannot be evaluated: it was critical for 5 min, until 12:05 UTC.',
  ],
] as const) {
  test(`the end of an alert of Grafana with the reason “${reason}”`, async (t) => {
    const flow = paging(t)
    const { send, sweepUntil, deps } = flow
    const item = (more: object) => {
      const one = alert('Old stock', { service: 'stock' }, { startsAt: NOON, fingerprint: 'f', ...more })
      const isTold = reason !== '' && 'endsAt' in more
      return grafana([{ ...one, annotations: isTold ? { grafana_state_reason: reason } : {} }])
    }
    await send('dashboard', item({}), { at: NOON })
    pump(deps)
    await send('dashboard', item({ endsAt: NOON + 5 * MINUTE }), { at: NOON + 5 * MINUTE })
    await sweepUntil(NOON + 7 * MINUTE)
    assert.deepEqual(
      pump(deps).map((one) => one.title),
      [title],
    )
    assert.equal(flow.alerts()[0]?.severity, 'critical')
  })
}

test('an end without a recovery is no all-clear, in a digest either', () => {
  const paused = (name: string, annotations: Record<string, string>) =>
    messageItem(
      {
        kind: 'recovered',
        service: { name, namespace: '', cluster: '' },
        alerts: [messageAlert({ endsAt: NOW - 2 * MINUTE, resolution: 'reported', annotations })],
      },
      { id: name, title: `${name}: Down`, problem: healed(), firingAlerts: 0 },
    )
  const items = [paused('cart', { grafana_state_reason: 'Paused' }), paused('web', {})]
  assert.equal(messageTextOf(items[0] ?? assert.fail(), CONTEXT).tone, 'warning')
  assert.equal(messageTextOf(items[1] ?? assert.fail(), CONTEXT).tone, 'resolved')
  const { title, body } = digestTextOf(items, CONTEXT)
  assert.equal(title, 'web has recovered after 4 min.')
  assert.match(body, /Grafana ended the alerts of cart, because its rule was paused\./)
})

test('failed pipelines are not among the alerts that fire, nor among all alerts', async (t) => {
  const { send, deps, sweepUntil } = paging(t)
  const fires = (name: string) =>
    send('metrics', alertmanager([alert(name, { service: 'cart' }, { startsAt: NOON })], { groupKey: name }))
  await send('ci', pipeline('failed', 'shop/cart', { at: NOON }))
  await fires('Down')
  await fires('Slow')
  await sweepUntil(NOON + 2 * MINUTE)
  const { body } = pump(deps).at(-1) ?? assert.fail()
  assert.match(body, / 2 alerts\. /)
})

test('what still fires after a recovery is named once for each condition and severity', () => {
  const over = messageAlert({ id: 'b', endsAt: NOW - 2 * MINUTE })
  const warning = messageAlert({ severity: 'warning' })
  const alerts = [warning, { ...warning, id: 'c' }, over]
  const said = { problem: healed(), firingAlerts: 2, alertCount: 3 }
  assert.match(
    messageTextOf(messageItem({ kind: 'recovered', alerts }, said), CONTEXT).body,
    /Still firing: Down \(warning\)\. /,
  )
  const none = messageItem({ kind: 'recovered', alerts: [over] }, { ...said, firingAlerts: 0 })
  assert.doesNotMatch(messageTextOf(none, CONTEXT).body, /firing/)
})

for (const [what, owners, expected] of [
  ['each', ['Ann', 'Ann', 'Bob'], 'Ann and Bob are on it.'],
  ['one', ['Ann', null, null], 'Ann is on 1 of 3 incidents.'],
  ['none', [null, null, null], 'Nobody is on it.'],
] as const) {
  test(`a message about a group of which ${what} is acknowledged`, () => {
    const members = owners.map((acknowledgedBy, index) => ({
      ...{ id: `${index}`, number: index + 1, title: 'Down', severity: 'critical', status: 'open' },
      ...{ startedAt: NOW, acknowledgedBy, problem: 'on', isFiring: true },
      service: { name: `service-${index}`, namespace: '', cluster: '' },
    }))
    const group = { leader: members[0], cause: 'redis', incidents: members }
    const { body } = digestTextOf([messageItem({ kind: 'group', group: group as never })], CONTEXT)
    assert.ok(body.includes(expected), body)
  })
}

test('a title that a user wrote is in the messages, and one that incmon wrote is not', async (t) => {
  const { send, deps, acme, incidents, clock } = paging(t)
  await send('metrics', alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON })]))
  const change = (to: object) => changeIncident(deps, acme.key, incidents()[0]?.id ?? '', to, 'anna')
  const titles = [pump(deps)]
  clock.now = NOON + MINUTE / 2
  await change({ title: 'Nobody can pay' })
  await change({ status: 'investigating' })
  titles.push(pump(deps))
  assert.deepEqual(
    titles.flat().map(({ title }) => title),
    [
      'cart has been critical since 12:00 UTC (just now).',
      'anna is working on it: “Nobody can pay” (cart) has been critical since 12:00 UTC (30 s).',
    ],
  )
  const untouched = messageItem({ kind: 'again' }, { title: 'Old name: Down', problem: burning() })
  assert.doesNotMatch(messageTextOf(untouched, CONTEXT).title, /Old name/)
})

test('the number of conditions that a message does not name is right', () => {
  const names = Array.from({ length: 25 }, (_, index) => `Alert${String(index).padStart(2, '0')}`)
  const alerts = names.slice(0, 20).map((name) => messageAlert({ name, id: name }))
  const { body } = messageTextOf(
    messageItem({ alerts }, { problem: burning(4, { firing: names, had: names }) }),
    CONTEXT,
  )
  assert.match(body, /Also firing: Alert03, .*, Alert09 and 15 more\./)
})

test('a recovery names all conditions, or how many more there were', () => {
  const over = (names: readonly string[]) => {
    const ended = { endsAt: NOW - 2 * MINUTE, resolution: 'reported' } as const
    const alerts = names.map((name) => messageAlert({ name, id: name, ...ended }))
    const incident = { problem: healed(4, { had: names }), firingAlerts: 0 }
    return messageTextOf(messageItem({ kind: 'recovered', alerts }, incident), CONTEXT).body
  }
  assert.match(over(['A', 'B', 'C']), /It was: A; B; C\./)
  assert.match(over(['A', 'B', 'C', 'D']), /It was: A; B; C; D\./)
  assert.match(over([...'ABCDEFGHIJ']), /It was: A; B; C; D, E, F and 4 more\./)
})

test('who hears late of a declared incident hears who declared it', () => {
  const declared = { origin: 'manual', title: 'Checkout is down', declaredBy: 'Bob', problem: burning() } as const
  const opened = messageTextOf(messageItem({}, declared), CONTEXT)
  assert.match(opened.title, /^Bob declared an incident: “Checkout is down”/)
  const escalation = messageTextOf(messageItem({ kind: 'escalation' }, declared), CONTEXT)
  assert.match(escalation.body, /Bob declared it\./)
})

test('an incident that a user lowered is a warning since then, and its recovery says how long it went on', async (t) => {
  const { send, sweepUntil, deps, acme, incidents } = paging(t)
  const down = (more: object) => send('metrics', alertmanager([alert('Down', { service: 'cart' }, more)]))
  await down({ startsAt: NOON })
  pump(deps)
  await sweepUntil(NOON + MINUTE)
  const id = incidents()[0]?.id ?? ''
  await changeIncident(deps, acme.key, id, { severity: 'warning' }, 'Ann')
  await changeIncident(deps, acme.key, id, { status: 'investigating' }, 'Ann')
  await sweepUntil(NOON + 2 * MINUTE)
  const titles = pump(deps).map(({ title }) => title)
  await down({ startsAt: NOON, endsAt: NOON + 3 * MINUTE })
  await sweepUntil(NOON + 5 * MINUTE)
  titles.push(...pump(deps).map(({ title }) => title))
  assert.match(titles[0] ?? '', /^Ann is working on it: cart has had a warning since 12:01 UTC \(1 min\)/)
  assert.match(
    titles[1] ?? '',
    /^cart has recovered: it was critical for 2 min by its alerts, until 12:02 UTC; the severity of the incident was critical for 1 min of that time\.$/,
  )
})

test('that somebody takes an acknowledgement back is told, unless somebody else has it by then', async (t) => {
  const { send, sweepUntil, deps, acme, incidents } = paging(t)
  const told = () => pump(deps).map(({ items, title }) => `${items.map(({ kind }) => kind)}: ${title}`)
  const change = (status: string, by: string) =>
    changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status } as never, by)
  await send('metrics', alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON })]))
  await change('investigating', 'Ann')
  told()
  await sweepUntil(NOON + MINUTE)
  await change('open', 'Ann')
  assert.match(told().join(), /^reopened: Nobody is working on it any more: cart has been critical since 12:00 UTC/)
  await change('investigating', 'Bob')
  await change('open', 'Bob')
  await change('investigating', 'Cid')
  const all = told().join()
  assert.match(all, /Cid is working on it/)
  assert.doesNotMatch(all, /any more/)
})

test('a digest says of which incidents somebody took the acknowledgement back, and not that they were reopened', () => {
  const items = ['cart', 'web'].map((name) =>
    messageItem({ kind: 'reopened', isTakenBack: true, service: { name, namespace: '', cluster: '' } }, { id: name }),
  )
  const { title, body } = digestTextOf(items, CONTEXT)
  assert.match(`${title} ${body}`, / Nobody is working on cart and web any more\.$/)
  assert.doesNotMatch(`${title} ${body}`, /reopened/)
})
