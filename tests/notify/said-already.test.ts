/** What a message has named is not told again as worse. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { SECOND } from '../../src/domain/units.ts'
import { acknowledgeIncidents } from '../../src/engine/changes/incidents/incident-changes.ts'
import { createSilence } from '../../src/engine/changes/silences/silences.ts'
import { changeIncident } from '../helpers/acts.ts'
import { NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Returns a flow with one channel that sends what is due only when a test says so, and what was sent. */
function pager(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme, clock, incidents } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const told: string[] = []
  const at = (second: number) => {
    clock.now = NOON + second * SECOND
  }
  const fires = async (second: number, name: string, service = 'cart', isOver = false) => {
    at(second)
    const times = isOver ? { startsAt: NOON, endsAt: clock.now } : { startsAt: clock.now }
    await flow.send('metrics', alertmanager([alert(name, { service }, times)], { groupKey: `${service} ${name}` }))
  }
  const sends = async (second: number) => {
    at(second)
    while (await deps.engine.sweep());
    for (const { items, title } of pump(deps))
      told.push(`${second}: ${items.map(({ kind }) => kind).join(' ')}: ${title}`)
  }
  const user = (to: object) => changeIncident(deps, acme.key, incidents()[0]?.id ?? '', to, 'anna')
  return { ...flow, fires, sends, told, user }
}

const kinds = (told: readonly string[]) => told.map((one) => one.split(': ').slice(0, 2).join(': '))

test('an opening that was delayed and names both alerts is the only message about them', async (t) => {
  const { fires, sends, told } = pager(t)
  await fires(0, 'A')
  await fires(1, 'B')
  await sends(2)
  await sends(60)
  await sends(120)
  assert.deepEqual(kinds(told), ['2: opened'])
})

test('the same in a digest of several incidents that names the alerts of each', async (t) => {
  const { fires, sends, told } = pager(t)
  for (const service of ['s1', 's2', 's3']) await fires(0, 'Down', service)
  await sends(1)
  for (const service of ['s4', 's5']) await fires(2, 'Down', service)
  for (const service of ['s4', 's5']) await fires(3, 'Slow', service)
  await sends(31)
  await sends(70)
  assert.deepEqual(kinds(told), ['1: opened', '1: opened', '1: opened', '31: opened opened'])
})

test('a return and what fires anew with it are told in one message, and what it names not told again', async (t) => {
  const { fires, sends, told } = pager(t)
  await fires(0, 'A')
  await sends(0)
  await fires(20, 'A', 'cart', true)
  await sends(81)
  await fires(700, 'A')
  await fires(701, 'B')
  await sends(702)
  await sends(800)
  assert.deepEqual(kinds(told), ['0: opened', '81: recovered', '702: again worse'])
})

test('what an opening did not name yet is told as worse', async (t) => {
  const { fires, sends, told } = pager(t)
  await fires(0, 'A')
  await sends(0)
  await fires(1, 'B')
  await sends(60)
  assert.deepEqual(kinds(told), ['0: opened', '60: worse'])
})

test('what only the message about an acknowledgement has named is told as worse', async (t) => {
  const { fires, sends, told, user } = pager(t)
  await fires(0, 'A')
  await sends(0)
  await fires(10, 'B')
  await user({ status: 'investigating' })
  await sends(11)
  await sends(61)
  assert.deepEqual(kinds(told), ['0: opened', '11: acknowledged', '61: worse'])
})

for (const [what, at, before] of [
  ['an acknowledgement', 61, []],
  ['an acknowledgement that followed another new alert', 100, ['B']],
  ['an acknowledgement in the first minute', 30, []],
] as const)
  test(`sent together with ${what}, only what is new is called worse`, async (t) => {
    const { fires, sends, told, user } = pager(t)
    await fires(0, 'A')
    await sends(0)
    for (const name of before) await fires(70, name)
    await sends(71)
    await user({ status: 'investigating' })
    await fires(at, 'C')
    await sends(Math.max(at, 60))
    assert.match(told.at(-1) ?? '', /worse: cart got worse: C is firing, too\.$/)
  })

for (const [what, slow, expected] of [
  [
    'counts without naming its conditions is told as worse',
    (service: string) => `Slow ${service}`,
    ['10', '11'].map((one) => `70: worse: s${one} got worse: Slow s${one} is firing, too.`),
  ],
  ['names for several services at once is not told again', () => 'Slow', []],
] as const)
  test(`what a digest ${what}`, async (t) => {
    const { fires, sends, told } = pager(t)
    for (const service of ['s1', 's2', 's3']) await fires(0, 'Down', service)
    await sends(1)
    for (const service of ['s4', 's5', 's6', 's7', 's8', 's9', 's10', 's11']) {
      await fires(2, 'Down', service)
      await fires(3, slow(service), service)
    }
    await sends(31)
    await sends(70)
    assert.deepEqual(told.slice(4), expected)
  })

test('after quiet hours, the new alerts of all services are told, whoever works on them', async (t) => {
  const { deps, acme, clock, fires, sends, told, incidents } = pager(t)
  const quietHours = { from: '12:00', to: '12:15', timeZone: 'UTC' }
  const rules = [{ quietHours }]
  const quiet = { name: 'quiet', kind: 'slack', target: 'https://example.com/y', remindAfter: 0, rules } as const
  createChannel(deps, acme.key, quiet)
  const services = [...'abcdefgh']
  for (const service of services) await fires(30, 'Down', service)
  await sends(100)
  const ids = incidents().map(({ id }) => id)
  await deps.engine.run(acme.key, (ctx, now) => acknowledgeIncidents(ctx, ids, 'anna', now))
  await sends(200)
  for (const service of services) await fires(300, 'Disk', service)
  for (const second of [301, 335]) await sends(second)
  const before = told.length
  clock.now = NOON + 901 * SECOND
  await sends(901)
  assert.deepEqual(
    told.slice(before).map((one) => one.replace(/^.*: (?=a)/, '')),
    ['a, b, c and 5 other services got worse: Disk is firing.'],
  )
})

test('what fires again after an all-clear is told as worse, although the opening has named it', async (t) => {
  const { fires, sends, told } = pager(t)
  await fires(0, 'A')
  await fires(0, 'B')
  await sends(1)
  await fires(20, 'A', 'cart', true)
  await fires(20, 'B', 'cart', true)
  await sends(81)
  await fires(700, 'A')
  await sends(701)
  await fires(800, 'B')
  await sends(801)
  assert.deepEqual(kinds(told), ['1: opened', '81: recovered', '701: again', '801: worse'])
})

type Pager = ReturnType<typeof pager>

/** Silences the alert A from now on, until a second if there is one. */
function silence({ deps, acme, clock }: Pager, until = 3_600) {
  const matchers = [{ name: 'alertname', op: '=', value: 'A' }] as const
  const times = { startsAt: clock.now, endsAt: NOON + until * SECOND, schedule: null }
  return deps.engine.run(acme.key, (ctx, now) => createSilence(ctx, { matchers, ...times, comment: 'A' }, 'anna', now))
}

for (const [what, back, expected] of [
  ['20 s later', [23, 43, 63], '65: worse'],
  ['80 s later', [23, 43, 123], '123: again'],
  ['twice within a minute', [10, 15, 20, 30, 63], '65: worse'],
] as const)
  test(`what fires beside a silenced alert, ends and fires again ${what} is told once`, async (t) => {
    const flow = pager(t)
    const { fires, sends, told } = flow
    const changes: readonly number[] = back
    await fires(0, 'A')
    await sends(3)
    await silence(flow)
    for (let second = 4; second <= 140; second += 1) {
      const index = changes.indexOf(second)
      if (index >= 0) await fires(second, 'B', 'cart', index % 2 === 1)
      await sends(second)
    }
    assert.deepEqual(kinds(told), ['3: opened', expected])
  })

test('the ends of two silences are told once', async (t) => {
  const flow = pager(t)
  const { deps, clock, fires, sends, told } = flow
  await fires(0, 'A')
  await sends(100)
  await silence(flow, 110)
  clock.now = NOON + 111 * SECOND
  while (await deps.engine.sweep());
  await silence(flow, 120)
  for (let second = 113; second <= 130; second += 1) await sends(second)
  assert.deepEqual(kinds(told), ['100: opened', '120: again'])
})

for (const [what, acts] of [
  ['a silence of another alert ends', async (flow: Pager) => silence(flow, 320)],
  [
    'another alert ends and fires again',
    async ({ fires }: Pager) => {
      await fires(150, 'A', 'cart', true)
      await fires(300, 'A')
    },
  ],
  [
    'another alert ends and fires again after somebody acknowledged the incident',
    async ({ fires, user }: Pager) => {
      await user({ status: 'investigating' })
      await fires(150, 'A', 'cart', true)
      await fires(300, 'A')
    },
  ],
] as const)
  test(`an alert that a delayed opening has named is not told as worse when ${what}`, async (t) => {
    const flow = pager(t)
    const { clock, fires, sends, told } = flow
    await fires(0, 'A')
    await fires(5, 'B')
    await sends(6)
    await sends(70)
    clock.now = NOON + 140 * SECOND
    await acts(flow)
    for (let second = 310; second <= 330; second += 1) await sends(second)
    assert.deepEqual(
      kinds(told).filter((one) => !one.endsWith('acknowledged')),
      ['6: opened'],
    )
  })
