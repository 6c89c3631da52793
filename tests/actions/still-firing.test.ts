/** Whether people hear that alerts go on after a user resolved their incident, if a silence covers them for a while. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { changeIncident, createIncident, createSilence, mergeIncidents } from '../helpers/acts.ts'
import { MINUTE } from '../helpers/factory.ts'
import { ownChannel } from '../helpers/own-channel.ts'

/** The cart fails at minute 1, and a user resolves its incident at minute 5. */
function world(t: TestContext) {
  const flow = ownChannel(t)
  const { deps, acme, clock, until } = flow
  flow.addOwn()
  const silence = async (from: number, to: number) => {
    await until(from)
    const period = { startsAt: clock.now, endsAt: clock.now + (to - from) * MINUTE, schedule: null, comment: 'work' }
    await createSilence(deps, acme.key, { ...period, matchers: parseMatchers('service="cart"') } as never, 'Dana')
  }
  const idOf = (title: string) => flow.incidents().find((one) => one.title === title)?.id ?? ''
  const merge = (from: string, into: string) =>
    mergeIncidents(deps, acme.key, { from: idOf(from), into: idOf(into) }, 'Dana')
  const resolveOf = (title: string) => changeIncident(deps, acme.key, idOf(title), { status: 'resolved' }, 'Dana')
  const declare = (name: string) => {
    const wanted = { title: 'Slow', serviceId: flow.service(name)?.id ?? '', severity: 'warning' } as const
    return createIncident(deps, acme.key, wanted, 'Dana')
  }
  return { ...flow, silence, merge, resolveOf, declare, resolve: () => flow.user(5, { status: 'resolved' }) }
}

const TOLD = ['opened of cart at 1', 'resolved of cart at 5']

for (const [what, from, to, at] of [
  ['that covers the 30th minute after the resolution', 15, 40, 40],
  ['that ended before the 30th minute', 15, 25, 35],
  ['that began before the resolution', 3, 40, 40],
  ['that ended soon after the resolution', 3, 7, 35],
] as const) {
  test(`people hear, once, that an alert still fires after a silence ${what}`, async (t) => {
    const { fires, silence, resolve, until, restart, sent } = world(t)
    await fires(1, 'cart')
    if (from < 5) await silence(from, to)
    await resolve()
    if (from > 5) await silence(from, to)
    await until(20)
    restart()
    await until(50)
    assert.deepEqual(sent, [...TOLD, `still-firing of cart at ${at}`])
  })
}

test('they hear nothing if it ends under the silence, and of what fires after that as of a new problem', async (t) => {
  const { fires, ends, silence, resolve, until, sent } = world(t)
  await fires(1, 'cart')
  await resolve()
  await silence(15, 40)
  await ends(38, 'cart')
  await until(60)
  assert.deepEqual(sent, TOLD)
  await fires(80, 'cart')
  assert.deepEqual(sent, [...TOLD, 'opened of cart at 80'])
})

test('they hear nothing while the silence goes on', async (t) => {
  const { fires, silence, resolve, until, sent } = world(t)
  await fires(1, 'cart')
  await resolve()
  await silence(6, 200)
  await until(90)
  assert.deepEqual(sent, TOLD)
})

test('an alert that fires anew under the silence brings the incident back at its end, and is not said to be still firing', async (t) => {
  const { fires, ends, silence, resolve, until, sent } = world(t)
  await fires(1, 'cart')
  await resolve()
  await silence(15, 40)
  await ends(20, 'cart')
  await fires(36, 'cart')
  await until(60)
  assert.deepEqual(sent.slice(2, 3), ['again of cart at 40'])
  assert.equal(sent.filter((one) => one.startsWith('still-firing')).length, 0)
})

for (const [what, to] of [
  ['without a silence', 0],
  ['under a silence for a while', 20],
] as const) {
  test(`they hear, once, of what was merged from another service, ${what}`, async (t) => {
    const { fires, ends, silence, merge, resolveOf, until, restart, sent } = world(t)
    await fires(1, 'cart')
    await fires(1, 'web')
    await until(3)
    await merge('cart: Down', 'web: Down')
    await until(5)
    await resolveOf('web: Down')
    if (to > 0) await silence(6, to)
    await ends(10, 'web')
    await until(34)
    assert.deepEqual(sent.slice(2), ['resolved of cart at 3.5', 'resolved of web at 5.5'])
    restart()
    await until(80)
    assert.deepEqual(sent.slice(4), ['still-firing of web at 35'])
  })
}

test('they hear of what was merged into an incident that a user declared and resolved', async (t) => {
  const { fires, merge, declare, resolveOf, until, sent, ends } = world(t)
  await fires(1, 'cart')
  await fires(1, 'web')
  await ends(2, 'web')
  await declare('web')
  await until(3)
  await merge('cart: Down', 'Slow')
  await until(5)
  await resolveOf('Slow')
  await until(34)
  const { length } = sent
  await until(80)
  assert.deepEqual(sent.slice(length), ['still-firing of web at 35'])
})

test('they hear nothing of what was merged and has ended', async (t) => {
  const { fires, ends, merge, resolveOf, until, sent } = world(t)
  await fires(1, 'cart')
  await fires(1, 'web')
  await until(3)
  await merge('cart: Down', 'web: Down')
  await until(5)
  await resolveOf('web: Down')
  await ends(10, 'web')
  await ends(20, 'cart')
  await until(80)
  assert.equal(sent.length, 4)
})
