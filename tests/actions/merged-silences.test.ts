/** What people hear of a part that was merged into an incident, or a service, while a silence covers it or after a user left it on. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { mergeServices } from '../../src/engine/changes/services.ts'
import { createSilence, mergeIncidents } from '../helpers/acts.ts'
import { MINUTE } from '../helpers/factory.ts'
import { ownChannel } from '../helpers/own-channel.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

function world(t: TestContext) {
  const flow = ownChannel(t)
  const { deps, acme, clock, until, incidents, service } = flow
  flow.addOwn()
  const silence = async (from: number, to: number) => {
    await until(from)
    const period = { startsAt: clock.now, endsAt: clock.now + (to - from) * MINUTE, schedule: null, comment: 'work' }
    await createSilence(deps, acme.key, { ...period, matchers: parseMatchers('service="cart"') } as never, 'Dana')
  }
  /** Merges the incident of the cart into that of web. */
  const merge = (names = ['cart', 'web']) => {
    const [from = '', into = ''] = names.map(
      (name) => incidents().find(({ title }) => title === `${name}: Down`)?.id ?? '',
    )
    return mergeIncidents(deps, acme.key, { from, into }, 'Dana')
  }
  const mergeInto = (name: string) => {
    const [from, into] = [service('cart')?.id ?? '', service(name)?.id ?? '']
    return deps.engine.run(acme.key, (ctx, now) => mergeServices(ctx, from, into, now))
  }
  return { ...flow, silence, merge, mergeInto }
}

for (const [what, to, later] of [
  ['within the minute after the rest ended', 6.5, ['again of web at 6.5']],
  ['after that', 9, ['again of web at 9']],
] as const) {
  test(`a merged part whose silence ends ${what} is told`, async (t) => {
    const { fires, ends, silence, merge, until, sent } = world(t)
    await fires(1, 'cart')
    await fires(2, 'web')
    await silence(3, to)
    await merge()
    await ends(6, 'web')
    await until(12)
    assert.deepEqual(sent.slice(3), later)
  })
}

test('a merged part that ends under its silence is over with the rest, at the end that was reported', async (t) => {
  const { fires, ends, silence, merge, until, sent } = world(t)
  await fires(1, 'cart')
  await fires(2, 'web')
  await silence(3, 20)
  await merge()
  await ends(6, 'web')
  await ends(8, 'cart')
  await until(12)
  assert.deepEqual(sent.slice(3), ['recovered of web at 9.5'])
})

test('what a user left on does not come back when its service is merged into another one', async (t) => {
  const { fires, user, mergeInto, until, sent, send } = world(t)
  await send('metrics', alertmanager([alert('Warm', { service: 'web', namespace: 'web', severity: 'warning' })]))
  await fires(1, 'cart')
  await user(2, { status: 'resolved' })
  await mergeInto('web')
  await until(5)
  assert.deepEqual(sent, ['opened of cart at 1', 'resolved of cart at 2'])
  await fires(6, 'web', 'Full')
  assert.deepEqual(sent.slice(2), ['again of web at 6'])
})

test('what goes on is no news when it is merged into an incident that a silence covers', async (t) => {
  const { fires, ends, silence, merge, until, sent } = world(t)
  await fires(1, 'cart')
  await fires(2, 'web')
  await silence(3, 20)
  await merge(['web', 'cart'])
  await until(8)
  assert.deepEqual(sent.slice(2), ['resolved of web at 3.5'])
  await ends(9, 'web')
  await until(24)
  assert.equal(sent.at(-1), 'again of cart at 20')
})

test('a resolved incident whose alert fires on after a merge of services names itself, and says so', async (t) => {
  const { fires, user, mergeInto, until, receiver, texts } = world(t)
  await fires(1, 'cart')
  await fires(1, 'web')
  await until(2)
  receiver.status = 503
  await user(3, { status: 'resolved' })
  await mergeInto('web')
  await until(8)
  receiver.status = 200
  await until(12)
  const text = texts.slice(2).join(' ')
  assert.match(text, /“cart: Down”/)
  assert.match(text, /web: anna resolved the incident “cart: Down”, but 1 alert is still firing\./)
  await until(40)
  assert.match(texts.slice(3).join(), /^web: 1 alert is still firing, even though the incident was resolved/)
})
