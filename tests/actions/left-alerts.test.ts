/** What a user left on by resolving its incident: it does nothing in another incident until it has ended once. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { changeIncident, createIncident, createSilence, mergeServices } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

function world(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  const target = 'https://example.com/x'
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target, remindAfter: 3, remindEvery: 60 })
  let sent: string[] = []
  const until = async (minute: number) => {
    while (clock.now < NOON + minute * MINUTE) {
      await flow.sweepUntil(Math.min(NOON + minute * MINUTE, clock.now + MINUTE / 4), MINUTE / 4)
      remind(deps)
      sent.push(...pump(deps).map(({ items, title }) => `${items[0]?.kind}: ${title}`))
    }
  }
  /** Returns what was told since the last call. */
  const told = () => {
    const all = sent
    sent = []
    return all
  }
  const report = (name: string, service: string, from: number, to?: number) => {
    const times = { startsAt: NOON + from * MINUTE, ...(to === undefined ? {} : { endsAt: NOON + to * MINUTE }) }
    return flow.send('metrics', alertmanager([alert(name, { service }, times)], { groupKey: `${service} ${name}` }))
  }
  const idOf = (title: string) => flow.incidents().findLast((one) => one.title === title)?.id ?? ''
  const resolve = (title: string) => changeIncident(deps, acme.key, idOf(title), { status: 'resolved' }, 'Dana')
  const mergeService = (from: string, into: string) =>
    mergeServices(deps, acme.key, flow.service(from)?.id ?? '', flow.service(into)?.id ?? '')
  const problemOf = (title: string) => {
    const { status, problem } = flow.incidents().findLast((one) => one.title === title) ?? {}
    return [status, JSON.parse(problem ?? '{}').firing]
  }
  /** Leaves `Down` of `cart` on, lets an alert of `web` fire, and merges one service into the other. */
  const leaveAndMerge = async (name: string, from: string, into: string) => {
    await report('Down', 'cart', 0)
    await until(1)
    await resolve('cart: Down')
    await report(name, 'web', 1)
    await until(2)
    await mergeService(from, into)
  }
  return { ...flow, until, told, report, idOf, resolve, mergeService, leaveAndMerge, problemOf }
}

for (const [from, into] of [
  ['web', 'cart'],
  ['cart', 'web'],
] as const) {
  test(`it does not make worse the incident of the other service when ${from} is merged into ${into}`, async (t) => {
    const { until, told, report, resolve, mergeService, problemOf } = world(t)
    await report('Slow', 'web', 0)
    await report('Down', 'cart', 0)
    await until(2)
    await resolve('cart: Down')
    await until(2.5)
    told()
    await mergeService(from, into)
    await until(3.5)
    await report('Slow', 'web', 0, 3.5)
    await until(40)
    const [reminder, ...others] = told()
    assert.match(reminder ?? '', /^reminder: .* has been critical/)
    assert.deepEqual(
      others.map((one) => one.replace(/:.*/, '')),
      ['recovered', 'still-firing', 'resolved'],
    )
    assert.deepEqual(problemOf(`${into}: Slow`), ['resolved', []])
  })
}

test('an alert of the same name that a user left on does not keep the incident open', async (t) => {
  const { until, told, report, leaveAndMerge, problemOf } = world(t)
  await leaveAndMerge('Down', 'cart', 'web')
  await report('Down', 'web', 1, 3)
  await until(5)
  assert.deepEqual(problemOf('web: Down'), ['monitoring', []])
  assert.match(told().at(-1) ?? '', /^recovered: Down of web is over, but “cart: Down” goes on: /)
})

test('it counts in the incident of the other service as soon as it fires anew', async (t) => {
  const { until, told, report, leaveAndMerge, problemOf } = world(t)
  await leaveAndMerge('Slow', 'cart', 'web')
  await report('Down', 'cart', 0, 3)
  await until(4)
  told()
  await report('Down', 'cart', 4)
  await until(5)
  assert.deepEqual(problemOf('web: Slow'), ['open', ['Down', 'Slow']])
  assert.match(told()[0] ?? '', /^worse: web got worse: Down/)
})

test('it does not count in an incident that a user declared besides its own before', async (t) => {
  const { deps, acme, service, until, told, report, resolve, problemOf } = world(t)
  await report('Down', 'cart', 0)
  const declared = { title: 'Typo', serviceId: service('cart')?.id ?? '', severity: 'warning' } as const
  await createIncident(deps, acme.key, declared, 'Dana')
  await until(2)
  await resolve('cart: Down')
  await until(2.5)
  told()
  await until(6)
  assert.deepEqual(problemOf('Typo'), ['open', []])
  assert.deepEqual(
    told().map((one) => one.replace(/ \(cart\).*/, '')),
    ['reminder: Nobody has acknowledged this yet: “Typo”'],
  )
})

test('it belongs to an incident that a user declares later', async (t) => {
  const { deps, acme, service, until, report, resolve, problemOf } = world(t)
  await report('Down', 'cart', 0)
  await until(1)
  await resolve('cart: Down')
  const declared = { title: 'Outage', serviceId: service('cart')?.id ?? '', severity: 'error' } as const
  await createIncident(deps, acme.key, declared, 'Dana')
  await until(2)
  assert.deepEqual(problemOf('Outage'), ['open', ['Down']])
})

test('another alert of the same name counts besides it', async (t) => {
  const { until, told, leaveAndMerge, problemOf } = world(t)
  await leaveAndMerge('Down', 'web', 'cart')
  await until(6)
  assert.deepEqual(problemOf('cart: Down'), ['open', ['Down']])
  assert.match(told().at(-1) ?? '', /^reminder: .*cart has been critical since 12:01/)
})

test('a silence of the other service that ends brings its incident back in one message', async (t) => {
  const { deps, acme, clock, until, told, report, resolve, mergeService } = world(t)
  await report('Down', 'cart', 0)
  await until(1)
  await resolve('cart: Down')
  const period = { startsAt: clock.now, endsAt: NOON + 3 * MINUTE, schedule: null, comment: 'Upgrade' }
  await createSilence(deps, acme.key, { matchers: parseMatchers('service="web"'), ...period }, 'Dana')
  await report('Slow', 'web', 1)
  await until(2)
  await mergeService('cart', 'web')
  await until(2.5)
  told()
  await until(5)
  assert.equal(told().length, 1)
})
