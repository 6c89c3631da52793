/** After a merge of incidents, each alert counts in one incident, and messages are about the service that is critical. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import { changeIncident, createIncident, mergeIncidents } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { ownChannel } from '../helpers/own-channel.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

type Labels = Readonly<Record<string, string>>

/** A fires on a, and B on b, since noon. At minute 1, the incident of b is merged into that of a. */
async function merged(t: TestContext, node = false) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  const wanted = {
    name: 'all',
    kind: 'slack',
    target: 'https://example.com/x',
    remindAfter: 1,
    remindEvery: 1,
  } as const
  createChannel(deps, acme.key, wanted)
  const sent: string[] = []
  const until = async (minute: number) => {
    while (clock.now < NOON + minute * MINUTE) {
      await flow.sweepUntil(Math.min(NOON + minute * MINUTE, clock.now + MINUTE / 6), MINUTE / 6)
      remind(deps)
      sent.push(...pump(deps).map(({ items, title, body }) => `${items.at(-1)?.kind}: ${title} ${body}`))
    }
  }
  const told = () => sent.splice(0)
  const minuteOf = () => (clock.now - NOON) / MINUTE
  const report = (name: string, service: string, from = minuteOf(), to?: number, more: Labels = {}) => {
    const times = { startsAt: NOON + from * MINUTE, ...(to === undefined ? {} : { endsAt: NOON + to * MINUTE }) }
    const labels = service === '' ? more : { service, ...more }
    return flow.send('metrics', alertmanager([alert(name, labels, times)], { groupKey: `${name} ${service}` }))
  }
  const [into, from] = node ? ['node/worker-1', 'b'] : ['a', 'b']
  await report('A', node ? '' : into, 0, undefined, node ? { node: 'worker-1' } : {})
  await report('B', from, 0)
  await until(1)
  const idOf = (name: string) => flow.incidents().find(({ title }) => title.startsWith(name))?.id ?? ''
  const merge = (one: string, other: string) =>
    mergeIncidents(deps, acme.key, { from: idOf(one), into: idOf(other) }, 'Dana')
  await merge(`${from}: `, `${into}: `)
  await until(1.5)
  told()
  const states = () =>
    flow.incidents().flatMap(({ title, status, alert_count: alerts, problem }) => {
      return status === 'resolved' ? [] : [`${title} ${status} ${alerts} ${JSON.parse(problem).firing.join('+')}`]
    })
  return { ...flow, until, told, report, merge, idOf, states }
}

test('a condition that begins where a merged one goes on joins the incident of the merge', async (t) => {
  const { report, until, told, states } = await merged(t)
  await report('A', 'a', 0, 1.5)
  await report('C', 'b')
  await until(2)
  assert.deepEqual(states(), ['a: A open 3 B of b+C of b'])
  const [worse, ...others] = told()
  assert.match(worse ?? '', /^worse: b got worse: C of b is firing, too\. C of b: C fires\./)
  assert.deepEqual(others.length, 0)
})

test('so does a further alert of the merged condition, and a warning beside it', async (t) => {
  const { report, until, states } = await merged(t)
  await report('B', 'b', 2, undefined, { shard: '2' })
  await report('W', 'b', 2, undefined, { severity: 'warning' })
  await report('C', 'b')
  await until(2)
  assert.deepEqual(states(), ['a: A open 5 A+B of b+C of b'])
})

test('a warning alone opens nothing and joins nothing', async (t) => {
  const { report, until, told, states } = await merged(t)
  await report('W', 'b', 2, undefined, { severity: 'warning' })
  await until(2)
  assert.deepEqual([told().filter((text) => !text.startsWith('reminder')), states()], [[], ['a: A open 2 A+B of b']])
})

test('while only the merged part goes on, reminders name its service, once a minute', async (t) => {
  const { report, until, told } = await merged(t)
  await report('A', 'a', 0, 1.5)
  await until(6)
  const all = told()
  assert.ok(all.length >= 3 && all.length <= 5, all.join('\n'))
  for (const text of all)
    assert.match(
      text,
      /^reminder: Nobody has acknowledged this yet: b has been critical since 12:00 UTC.*\. B of b: B fires/,
    )
})

test('its time is its own, and not that of what was merged with it', async (t) => {
  const { report, until, told, merge } = await merged(t)
  await until(3)
  await report('C', 'c')
  await until(4)
  await merge('c: ', 'a: ')
  await report('A', 'a', 0, 4)
  await report('B', 'b', 0, 4)
  await until(6)
  assert.match(told().at(-1) ?? '', /: c has been critical since 12:03 UTC \(2 min\)\. C of c: C fires\./)
})

test('while both go on, messages name the service of the incident', async (t) => {
  const { until, told } = await merged(t)
  await until(3)
  assert.match(told()[0] ?? '', /: a has been critical since 12:00 UTC, last .*\. A: A fires\. Also firing: B of b\./)
})

test('after the merged part is over, another condition of its service opens an incident with that alone', async (t) => {
  const { report, until, told, states } = await merged(t)
  await report('B', 'b', 0, 2)
  await until(4)
  told()
  await report('C', 'b')
  await until(4.2)
  assert.deepEqual(states(), ['a: A open 2 A', 'b: C open 1 C'])
  assert.match(told()[0] ?? '', /^opened: b has been critical since 12:04 UTC \(.*\)\. C: C fires\. (?!Also)/)
})

test('what fires again in one incident is told once', async (t) => {
  const { report, until, told, states } = await merged(t)
  await report('A', 'a', 0, 2)
  await report('C', 'b', 2)
  await until(3)
  await report('B', 'b', 0, 3)
  await report('C', 'b', 2, 3)
  await until(6)
  told()
  await report('B', 'b', 6)
  await until(6.5)
  assert.equal(told().length, 1)
  assert.deepEqual(states().filter((one) => one.includes('open')).length, 1)
})

for (const status of ['open', 'investigating', 'monitoring'] as const) {
  test(`a merged incident that a user makes ${status} again is refused, and goes on in the other one`, async (t) => {
    const { until, told, states, deps, acme, idOf } = await merged(t)
    await assert.rejects(changeIncident(deps, acme.key, idOf('b: '), { status }, 'Dana'), {
      code: 'conflict',
      message: 'this incident was merged into incident 1: reopen that one, or open another one',
    })
    await until(4)
    const texts = told().filter((text) => text.startsWith('reminder'))
    assert.ok(
      texts.every((text) => text.includes(': a has been critical')),
      texts.join('\n'),
    )
    assert.deepEqual(states(), ['a: A open 2 A+B of b'])
  })
}

test('the incident that took it can be reopened, but not one that was resolved before it was merged', async (t) => {
  const { until, deps, acme, idOf, merge, service } = await merged(t)
  const change = (title: string, status: 'open' | 'resolved') =>
    changeIncident(deps, acme.key, idOf(title), { status }, 'Dana')
  await change('a: ', 'resolved')
  await change('a: ', 'open')
  const declared = { title: 'c: Typo', serviceId: service('a')?.id ?? '', severity: 'warning' } as const
  await createIncident(deps, acme.key, declared, 'Dana')
  await change('c: ', 'resolved')
  await merge('c: ', 'a: ')
  await until(3)
  await assert.rejects(change('c: ', 'open'), { code: 'conflict' })
})

test('merged into the incident of a node, a condition counts there alone', async (t) => {
  const { report, until, states } = await merged(t, true)
  await report('C', 'b')
  await until(3)
  const counted = states().flatMap((one) => one.match(/B( of b)?(?=\+|$)/g) ?? [])
  assert.deepEqual(counted.length, 1, states().join('\n'))
})

test('two merges in a row name each condition after its own service only', async (t) => {
  const { report, until, told, merge } = await merged(t)
  await report('C', 'c', 1.5)
  await report('A', 'a', 0, 1.5)
  await report('B', 'b', 0, 1.5)
  await until(2)
  await merge('a: ', 'c: ')
  await until(2.6)
  // Both fire anew more than a minute after their ends, in incidents of their own.
  await report('B', 'b')
  await report('A', 'a')
  await until(3)
  await report('C', 'c', 1.5, 3)
  await until(4.2)
  const over = told().find((text) => text.startsWith('recovered')) ?? ''
  assert.match(over, /It was: C: C fires; A of a and B of b\./)
})

for (const [what, rules, expected] of [
  ['a channel that knows both', [], /^cart: Dana merged the incident into “Typo”, where Down of cart goes on\./],
  [
    'a channel that knows only the declared one',
    [{ services: ['shop'] }],
    /^shop: Dana merged an incident that goes on into this one: Down of cart\./,
  ],
  ['a channel that knows only the critical one', [{ minSeverity: 'critical' }], /merged/],
] as const)
  test(`after a critical incident is merged into a declared one, ${what} hears of a merge and no changed severity`, async (t) => {
    const { addOwn, fires, ends, until, texts, deps, acme, service, incidents } = ownChannel(t, [...rules])
    await fires(0.5, 'shop')
    await ends(0.7, 'shop')
    await until(40)
    addOwn()
    const serviceId = service('shop')?.id ?? ''
    await createIncident(deps, acme.key, { title: 'Typo', serviceId, severity: 'error' }, 'anna')
    await fires(41, 'cart')
    await until(42)
    const idOf = (title: RegExp) => incidents().find((one) => title.test(one.title))?.id ?? ''
    await mergeIncidents(deps, acme.key, { from: idOf(/^cart/), into: idOf(/^Typo/) }, 'Dana')
    await until(43)
    assert.match(texts.at(-1) ?? '', expected)
    assert.doesNotMatch(texts.join(' | '), /changed by/)
  })
