/** When reminders count from that follow a late message, what was said by then, and what goes on beside what is over. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import { changeIncident, createSilence, mergeServices } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** A channel with a reminder two minutes after each message. Times are in minutes after noon. */
function world(t: TestContext, more: object = {}) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  const target = {
    name: 'all',
    kind: 'slack',
    target: 'https://example.com/x',
    remindAfter: 2,
    remindEvery: 2,
  } as const
  createChannel(deps, acme.key, { ...target, ...more })
  const report = (service: string, from: number, to?: number, name = 'Down') => {
    const times = { startsAt: NOON + from * MINUTE, ...(to === undefined ? {} : { endsAt: NOON + to * MINUTE }) }
    return flow.send('metrics', alertmanager([alert(name, { service }, times)], { groupKey: service }))
  }
  /** Returns what was sent until a minute, each with its minute. `isStopped`: nothing happens until then. */
  const told = async (minute: number, isStopped = false, step = MINUTE / 6) => {
    const sent: string[] = []
    if (isStopped) clock.now = NOON + minute * MINUTE - MINUTE / 6
    while (clock.now < NOON + minute * MINUTE) {
      await flow.sweepUntil(clock.now + step, step)
      remind(deps)
      for (const { items, title } of pump(deps)) {
        const at = Math.floor((clock.now - NOON) / 6_000) / 10
        sent.push(`${at} ${items.map(({ kind }) => kind).join(' ')}: ${title}`)
      }
    }
    return sent
  }
  const kinds = async (minute: number, isStopped = false) =>
    (await told(minute, isStopped)).map((one) => one.split(':')[0])
  const idOf = (service: string) => flow.incidents().find(({ title }) => title.startsWith(`${service}: `))?.id ?? ''
  const user = (service: string, to: object) => changeIncident(deps, acme.key, idOf(service), to, 'Dana')
  const silence = (service: string, until: number) => {
    const matchers = [{ name: 'service', op: '=' as const, value: service }]
    const times = { startsAt: clock.now, endsAt: NOON + until * MINUTE, schedule: null }
    return createSilence(deps, acme.key, { matchers, ...times, comment: 'work' }, 'Dana')
  }
  const merge = (from: string, into: string) =>
    mergeServices(deps, acme.key, flow.service(from)?.id ?? '', flow.service(into)?.id ?? '')
  return { ...flow, report, told, kinds, user, silence, merge }
}

const quietHours = { from: '12:00', to: '12:10', timeZone: 'UTC' }

for (const [what, late, more, prepare] of [
  ['incmon stood still', 6, {}, async () => {}],
  [
    'a silence ended while incmon stood still',
    6,
    {},
    async ({ kinds, silence }) => {
      await kinds(0.7)
      await silence('cart', 3)
    },
  ],
  ['quiet hours ended while incmon stood still', 12, { rules: [{ quietHours }] }, async () => {}],
] as const satisfies readonly (readonly [
  string,
  number,
  object,
  (flow: ReturnType<typeof world>) => Promise<unknown>,
])[])
  test(`a reminder counts from the time at which a message was sent: ${what}`, async (t) => {
    const flow = world(t, more)
    const { report, kinds } = flow
    await kinds(0.5)
    await report('cart', 0.5)
    await prepare(flow)
    const [first, second, ...others] = [...(await kinds(late, true)), ...(await kinds(late + 2.5))]
    assert.deepEqual(others, [])
    assert.match(first ?? '', new RegExp(`^${late} (opened|again)( reminder)?$`))
    assert.match(second ?? '', new RegExp(`^${late + 2}(\\.\\d)? reminder$`))
  })

for (const [what, severities, expected] of [
  ['a severity that a silence covered', ['warning', 'critical'], ['again']],
  ['the same severity after two changes', ['error', 'warning', 'critical'], ['again']],
  ['a severity below the first', ['info', 'warning'], ['again']],
] as const)
  test(`the message at the end of a silence says ${what}, which is not told once more`, async (t) => {
    const { report, told, user, silence } = world(t, { remindAfter: 0 })
    await report('cart', 0)
    await told(0.5)
    await silence('cart', 1.03)
    await told(0.9)
    for (const severity of severities) await user('cart', { severity })
    const sent = await told(2, false, 1_000)
    assert.deepEqual(
      sent.map((one) => one.replace(/^[\d.]+ (\w+):.*/, '$1')),
      expected,
    )
  })

test('a severity that changes after that message is told', async (t) => {
  const { report, told, user, silence } = world(t, { remindAfter: 0 })
  await report('cart', 0)
  await told(0.5)
  await silence('cart', 3)
  await user('cart', { severity: 'warning' })
  await told(4)
  await user('cart', { severity: 'critical' })
  assert.match(`${await told(5)}`, /^[\d.]+ severity: cart is critical now/)
})

for (const [what, act] of [
  ['a user rates it differently before that is known', ({ user }) => user('cart', { severity: 'error' })],
  [
    'a user rates it differently twice before that is known',
    async ({ user }) => {
      await user('cart', { severity: 'warning' })
      await user('cart', { severity: 'info' })
    },
  ],
] as const satisfies readonly (readonly [string, (flow: ReturnType<typeof world>) => Promise<unknown>])[])
  test(`the all-clear says how severe a problem was, although ${what}`, async (t) => {
    const flow = world(t, { remindAfter: 0 })
    await flow.report('cart', 0)
    await flow.told(0.5)
    await flow.report('cart', 0, 0.5)
    await flow.told(0.8)
    await act(flow)
    assert.match(
      `${await flow.told(3)}`,
      /^[\d.]+ recovered: cart has recovered: it was critical for 30 s, until 12:00 UTC\.$/,
    )
  })

test('after the all-clear, another severity is a correction', async (t) => {
  const { report, told, user } = world(t, { remindAfter: 0 })
  await report('cart', 0)
  await told(0.5)
  await report('cart', 0, 0.5)
  await told(3)
  await user('cart', { severity: 'error' })
  await user('cart', { status: 'resolved' })
  assert.match(`${await told(4)}`, /resolved: cart: Dana resolved the incident\. It had errors for 30 s\.$/)
})

for (const [what, prepare] of [
  ['burns', async () => {}],
  ['is silenced', ({ silence }) => silence('shop', 60)],
  ['burns in an incident that was resolved before a restart', async ({ restart }) => restart()],
] as const satisfies readonly (readonly [string, (flow: ReturnType<typeof world>) => Promise<unknown>])[])
  test(`an all-clear names what a user had left on, and what since the merge of its service ${what}`, async (t) => {
    const flow = world(t, { remindAfter: 0 })
    const { report, told, user, merge } = flow
    await report('shop', 0, undefined, 'Slow')
    await report('cart', 0)
    await told(0.5)
    await user('shop', { status: 'resolved' })
    await prepare(flow)
    await merge('shop', 'cart')
    await told(1)
    await report('cart', 0, 1)
    const [over, ...others] = await told(4)
    assert.match(over ?? '', /^2 recovered: Down of cart is over, but “shop: Slow” goes on: what is over was critical/)
    assert.deepEqual(others, [])
  })
