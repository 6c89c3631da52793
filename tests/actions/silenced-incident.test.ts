/** An incident whose alerts fire under a silence: nothing has ended. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { changeIncident, createSilence, mergeIncidents, mergeServices } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { criticalMsOf } from '../helpers/lengths.ts'
import { ownChannel } from '../helpers/own-channel.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** An alert fires at noon. `silence`: covers the service from a minute on, for ten minutes. */
async function world(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const sent: string[] = []
  const until = async (minute: number) => {
    await flow.sweepUntil(NOON + minute * MINUTE, MINUTE / 4)
    sent.push(...pump(deps).map(({ title }) => title))
  }
  const down = (name: string, isOver = false, more = {}) => {
    const times = isOver ? { startsAt: clock.now - 1, endsAt: clock.now } : { startsAt: clock.now }
    return flow.send('metrics', alertmanager([alert(name, { service: 'cart', ...more }, times)], { groupKey: name }))
  }
  const silence = () => {
    const period = { startsAt: clock.now, endsAt: clock.now + 10 * MINUTE, schedule: null, comment: 'Upgrade' }
    return createSilence(deps, acme.key, { matchers: parseMatchers('service="cart"'), ...period }, 'ann')
  }
  const acknowledge = () =>
    changeIncident(deps, acme.key, flow.incidents()[0]?.id ?? '', { status: 'investigating' }, 'ann')
  return { ...flow, sent, until, down, silence, acknowledge }
}

test('who acknowledges it does not say that it is over', async (t) => {
  const { sent, until, down, silence, acknowledge } = await world(t)
  await down('Down')
  await until(1)
  await silence()
  await until(2)
  await acknowledge()
  await until(3)
  assert.equal(
    sent[1],
    'ann is working on it: cart was critical for 1 min until a silence covered it at 12:01 UTC, and still fires.',
  )
})

/** Down is a warning and, from minute 1 to 3, also critical. */
async function pair(t: TestContext) {
  const flow = await world(t)
  const { deps } = flow
  const { until, clock } = flow
  const part = (severity: string, startsAt: number, endsAt?: number) => {
    const times = { startsAt: NOON + startsAt * MINUTE, ...(endsAt && { endsAt: NOON + endsAt * MINUTE }) }
    return alert('Down', { service: 'cart', severity }, times)
  }
  const deliver = (...items: readonly unknown[]) => flow.send('metrics', alertmanager(items))
  await deliver(part('warning', 0))
  await until(1)
  await deliver(part('warning', 0), part('critical', 1))
  await until(3)
  return { ...flow, deps, clock, part, deliver }
}

for (const [when, before, after] of [
  ['within the minute after its critical part ended', 3.5, 4],
  ['after the all-clear', 5, 4],
] as const) {
  test(`a silence over the remaining warning ${when} does not delay the all-clear`, async (t) => {
    const { sent, until, silence, part, deliver } = await pair(t)
    await deliver(part('warning', 0), part('critical', 1, 3))
    await until(before)
    await silence()
    await until(Math.max(before, after))
    assert.match(sent[1] ?? '', /^cart has recovered: it was critical for 2 min, until 12:03 UTC/)
    await until(8)
    await deliver(part('warning', 0, 8))
    await until(16)
    assert.equal(sent.length, 2)
  })
}

test('under a silence, the critical part ends when it is reported', async (t) => {
  const { sent, until, silence, part, deliver } = await pair(t)
  await silence()
  await until(4)
  await deliver(part('warning', 0), part('critical', 1, 4))
  await until(6)
  assert.match(
    sent[1] ?? '',
    /^cart has recovered: it was critical for 2 min, until 12:04 UTC, not counting 1 min under a silence/,
  )
})

test('while the critical part fires under a silence, nothing is over', async (t) => {
  const { sent, until, silence, part, deliver } = await pair(t)
  await silence()
  await until(4)
  await deliver(part('warning', 0, 4), part('critical', 1))
  await until(10)
  assert.equal(sent.length, 1)
})

test('once it has ended, it is over', async (t) => {
  const { sent, until, down, silence, acknowledge } = await world(t)
  await down('Down')
  await until(1)
  await silence()
  await until(2)
  await down('Down', true)
  await until(3)
  await acknowledge()
  await until(4)
  assert.match(sent.at(-1) ?? '', /^ann is working on it: cart was critical for 1 min, until 12:02 UTC/)
})

test('while something else is critical, that is said', async (t) => {
  const { sent, until, down, acknowledge } = await world(t)
  await down('Down')
  await until(2)
  await acknowledge()
  await until(3)
  assert.match(sent.at(-1) ?? '', /^ann is working on it: cart has been critical since 12:00 UTC/)
})

for (const [what, begins, since] of [
  ['goes on since before the silence', 3, '12:01'],
  ['began under the silence', 4.5, '12:01'],
  ['began after the rest had ended', 5.5, '12:05'],
] as const) {
  test(`after a silence, the time counts from ${since} if what ${what} is left`, async (t) => {
    const { addOwn, fires, ends, until, texts, deps, acme, clock } = ownChannel(t)
    addOwn()
    await fires(1, 'cart')
    if (begins < 4) await fires(begins, 'cart', 'Full')
    await until(4)
    const period = { startsAt: clock.now, endsAt: clock.now + 3 * MINUTE, schedule: null, comment: 'work' }
    await createSilence(deps, acme.key, { ...period, matchers: parseMatchers('service="cart"') }, 'Dana')
    if (begins === 4.5) await fires(begins, 'cart', 'Full')
    await ends(5, 'cart')
    if (begins > 5) await fires(begins, 'cart', 'Full')
    await until(8)
    assert.match(texts.at(-1) ?? '', new RegExp(`^cart has been critical since ${since} UTC`))
  })
}

for (const [what, isResolved] of [
  ['ended', false],
  ['was resolved by a user', true],
] as const) {
  test(`what begins under a silence after the incident ${what} was silenced until the silence ends`, async (t) => {
    const { addOwn, fires, ends, user, until, texts, deps, acme, clock } = ownChannel(t)
    addOwn()
    await fires(1, 'cart')
    if (isResolved) await user(1.5, { status: 'resolved' })
    await ends(2, 'cart')
    await until(2.5)
    const period = { startsAt: clock.now, endsAt: clock.now + 3 * MINUTE, schedule: null, comment: 'work' }
    await createSilence(deps, acme.key, { ...period, matchers: parseMatchers('service="cart"') }, 'Dana')
    await fires(3.5, 'cart', 'Full')
    await ends(7, 'cart', 'Full')
    await until(9)
    assert.match(texts.at(-1) ?? '', /, not counting 2 min under a silence/)
  })
}

/** Down fires at 1, a user resolves the incident, and a silence covers the service. In minutes after noon. */
async function leftOn(t: TestContext, { resolved, from, to }: { resolved: number; from: number; to: number }) {
  const flow = ownChannel(t)
  const { addOwn, fires, user, until, deps, acme, clock } = flow
  const silence = async () => {
    await until(from)
    const period = { startsAt: clock.now, endsAt: NOON + to * MINUTE, schedule: null, comment: 'work' }
    await createSilence(deps, acme.key, { ...period, matchers: parseMatchers('service="cart"') }, 'Dana')
  }
  addOwn()
  await fires(1, 'cart')
  if (from < resolved) await silence()
  await user(resolved, { status: 'resolved' })
  if (from >= resolved) await silence()
  return flow
}

for (const [what, times, told] of [
  ['begins after the resolution and ends within half an hour', { resolved: 3, from: 4, to: 20 }, 33],
  ['covers the half hour after the resolution', { resolved: 3, from: 30, to: 45 }, 45],
  ['began before the resolution', { resolved: 5, from: 4, to: 20 }, 35],
] as const) {
  test(`what a user left on still fires after a silence that ${what}`, async (t) => {
    const { until, sent, incidents } = await leftOn(t, times)
    await until(50)
    assert.deepEqual(sent.slice(-1), [`still-firing of cart at ${told}`])
    assert.equal(incidents().length, 1)
  })
}

test('what a user left on and ended under a silence opens a new incident when it fires again', async (t) => {
  const { until, ends, fires, sent } = await leftOn(t, { resolved: 3, from: 4, to: 20 })
  await ends(10, 'cart')
  await until(40)
  assert.ok(sent.every((text) => !text.startsWith('still-firing')))
  await fires(60, 'cart')
  assert.match(sent.at(-1) ?? '', /^(opened|again) of cart at 60$/)
})

test('what joins what a user left on does not count its time under a silence', async (t) => {
  const { fires, texts, incidents, clock } = await leftOn(t, { resolved: 3, from: 4, to: 10 })
  await fires(15, 'cart', 'Full')
  assert.match(texts.at(-1) ?? '', /^cart is critical again: Full is firing, too\./)
  const { problem } = incidents()[0] ?? { problem: '{}' }
  assert.equal(criticalMsOf(JSON.parse(problem), clock.now), 8 * MINUTE)
})

test('the end of a silence is told although its incident was merged into another one that has ended', async (t) => {
  const { addOwn, fires, ends, until, sent, texts, deps, acme, clock, incidents } = ownChannel(t)
  addOwn()
  await fires(1, 'cart')
  await fires(1, 'shop')
  await until(2)
  const period = { startsAt: clock.now, endsAt: clock.now + 3 * MINUTE, schedule: null, comment: 'work' }
  await createSilence(deps, acme.key, { ...period, matchers: parseMatchers('service="cart"') }, 'Dana')
  const [cart, shop] = incidents()
  await mergeIncidents(deps, acme.key, { from: cart?.id ?? '', into: shop?.id ?? '' }, 'anna')
  await ends(4.5, 'shop')
  await until(8)
  assert.equal(sent.at(-1), 'again of shop at 5')
  assert.match(texts.at(-1) ?? '', /^cart has been critical since 12:01 UTC \(4 min; its silence ended at 12:05 UTC\)/)
})

for (const [what, other, since] of [
  ['opened the incident and ended', [3, 5], '12:01'],
  ['opened the incident, ended and was told as over', [3, 4], '12:01'],
  ['had opened the incident before', [0.5, 4], '12:01'],
] as const)
  test(`after a silence, what has fired under it all the time is as old as it is if something else ${what}`, async (t) => {
    const { addOwn, fires, ends, until, texts, deps, acme, clock } = ownChannel(t)
    addOwn()
    const [from, to] = other
    const period = { startsAt: clock.now, endsAt: NOON + 9 * MINUTE, schedule: null, comment: 'work' }
    await createSilence(deps, acme.key, { ...period, matchers: parseMatchers('alertname="Full"') }, 'Dana')
    if (from < 1) await fires(from, 'cart')
    await fires(1, 'cart', 'Full')
    if (from > 1) await fires(from, 'cart')
    await ends(to, 'cart')
    await until(12)
    const [title = ''] = texts.filter((text) => text.includes('its silence ended at 12:09'))
    assert.match(title, new RegExp(`^cart has been critical since ${since} UTC`))
    assert.match(title, /Full: Full fires\./)
  })

test('what was named before and fires again beside a silence is told', async (t) => {
  const { addOwn, fires, ends, until, sent, deps, acme, clock } = ownChannel(t)
  addOwn()
  await fires(1, 'cart')
  await fires(1, 'cart', 'Full')
  await until(3)
  const period = { startsAt: clock.now, endsAt: clock.now + 60 * MINUTE, schedule: null, comment: 'work' }
  await createSilence(deps, acme.key, { ...period, matchers: parseMatchers('alertname="Down"') }, 'Dana')
  await ends(4, 'cart', 'Full')
  await until(10)
  await fires(12, 'cart', 'Full')
  await until(14)
  assert.equal(sent.at(-1), 'again of cart at 12')
})

for (const isEmpty of [true, false]) {
  test(`what a user left on opens nothing when its service is merged into ${isEmpty ? 'an empty' : 'a'} service`, async (t) => {
    const { addOwn, fires, ends, user, until, sent, service, deps, acme } = ownChannel(t)
    addOwn()
    await fires(1, 'cart')
    if (isEmpty) await ends(1, 'shop')
    else await fires(1, 'shop')
    await user(3, { status: 'resolved' })
    const idOf = (name: string) => service(name)?.id ?? ''
    const before = sent.length
    await mergeServices(deps, acme.key, idOf('cart'), idOf('shop'))
    await until(20)
    assert.deepEqual(
      sent.slice(before).filter((text) => /^(again|opened)/.test(text)),
      [],
    )
  })
}
