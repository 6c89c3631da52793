/** Silences and rules with the matcher service="x", when x is renamed or merged, whatever label names the service. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { mergeServices, updateService } from '../../src/engine/changes/services.ts'
import { countFiring } from '../../src/store/silence-preview.ts'
import { createSilence } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { ownChannel } from '../helpers/own-channel.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Returns a flow in which the label `deployment` names the service. */
function world(t: TestContext, matchers = 'service="cart"') {
  const flow = ownChannel(t, [{ matchers: parseMatchers(matchers) }])
  const { deps, acme, clock, services, until } = flow
  const idOf = (name: string, cluster = '') =>
    services().find((one) => one.name === name && one.cluster === cluster)?.id ?? ''
  const fires = async (minute: number, deployment: string, more: object = {}) => {
    await until(minute)
    const labels = { deployment, namespace: 'shop', severity: 'critical', ...more }
    const item = alert('Down', labels, { startsAt: clock.now })
    await flow.send('metrics', alertmanager([item], { groupKey: JSON.stringify(labels) }))
  }
  const silence = (text = matchers) =>
    createSilence(
      deps,
      acme.key,
      {
        ...{ startsAt: clock.now, endsAt: NOON + 300 * MINUTE, schedule: null, comment: 'work' },
        matchers: parseMatchers(text),
      } as never,
      'Dana',
    )
  const rename = (from: string, name: string, cluster?: string) =>
    deps.engine.run(acme.key, (ctx, now) => updateService(ctx, idOf(from, cluster), { name }, now))
  const merge = (from: string, into: string) =>
    deps.engine.run(acme.key, (ctx, now) => mergeServices(ctx, idOf(from), idOf(into), now))
  return { ...flow, fires, silence, rename, merge }
}

for (const matchers of ['service="cart"', 'service=~"cart|web"', 'service="cart", namespace="shop"']) {
  test(`a rule with {${matchers}} follows the service when it is renamed`, async (t) => {
    const { addOwn, fires, rename, until, sent } = world(t, matchers)
    await fires(1, 'cart', { severity: 'warning' })
    addOwn()
    await rename('cart', 'basket')
    await fires(2, 'cart')
    await until(3)
    assert.deepEqual(sent, ['opened of basket at 2.5'])
  })

  test(`a silence with {${matchers}} goes on when the service is renamed, also after a restart`, async (t) => {
    const { addOwn, fires, silence, rename, until, sent, restart, deps, acme } = world(t, matchers)
    addOwn([])
    await silence()
    await fires(1, 'cart')
    await until(2)
    await rename('cart', 'basket')
    await until(3)
    restart()
    await fires(4, 'cart', { pod: 'another' })
    await until(5)
    assert.deepEqual(sent, [])
    assert.equal(countFiring(deps.db, acme.key, parseMatchers(matchers)), 2)
  })
}

test('both follow a service that is merged into another one', async (t) => {
  const { addOwn, fires, merge, silence, until, sent, incidents } = world(t)
  await fires(1, 'web', { severity: 'warning' })
  await fires(2, 'cart', { severity: 'warning' })
  addOwn()
  await merge('cart', 'web')
  await fires(3, 'cart')
  await until(4)
  assert.deepEqual(sent, ['opened of web at 3.5'])
  await silence()
  await until(5)
  assert.equal(JSON.parse(incidents()[0]?.problem ?? '{}').isMuted, true)
})

test('neither covers what names only the other service, before and after the merge', async (t) => {
  const { addOwn, fires, merge, silence, until, sent, incidents, deps, acme } = world(t)
  await fires(1, 'web')
  await fires(2, 'cart', { severity: 'warning' })
  await silence()
  addOwn()
  await merge('cart', 'web')
  await fires(3, 'web', { pod: 'web-0' })
  await until(4)
  assert.deepEqual(sent, [])
  assert.equal(JSON.parse(incidents()[0]?.problem ?? '{}').isMuted, false)
  assert.equal(countFiring(deps.db, acme.key, parseMatchers('service="cart"')), 1)
})

test('a silence covers the pods of a merged service', async (t) => {
  const { addOwn, fires, merge, silence, until, sent } = world(t)
  addOwn([])
  await fires(1, 'web', { severity: 'warning' })
  await fires(2, 'cart', { severity: 'warning' })
  await silence()
  await merge('cart', 'web')
  await fires(3, 'web', { pod: 'cart-7d9f8b6c54-x2x4z' })
  await until(4)
  assert.deepEqual(sent, [])
})

test('a silence of everything but one service does not begin to cover it when it is renamed', async (t) => {
  const { addOwn, fires, rename, silence, until, sent } = world(t)
  addOwn([])
  await fires(1, 'cart', { severity: 'warning' })
  await silence('service!="cart"')
  await rename('cart', 'basket')
  await fires(2, 'cart')
  await until(3)
  assert.deepEqual(sent, ['opened of basket at 2.5'])
})

test('a silence of a renamed service covers neither the same name in another namespace nor one in another cluster', async (t) => {
  const { addOwn, fires, rename, silence, until, sent } = world(t)
  addOwn([])
  await fires(1, 'cart', { cluster: 'eu', severity: 'warning' })
  await rename('cart', 'basket', 'eu')
  await silence('service="basket"')
  await fires(2, 'cart', { cluster: 'us' })
  await fires(2, 'cart', { cluster: 'eu' })
  await fires(2, 'cart', { namespace: 'pay' })
  await until(3)
  assert.deepEqual(sent, ['opened of cart at 2.5', 'opened of cart at 2.5'])
})

test('a name that a user takes from a service does not match it any more', async (t) => {
  const { addOwn, fires, rename, deps, acme, service, until, sent } = world(t)
  await fires(1, 'cart', { severity: 'warning' })
  addOwn()
  await rename('cart', 'basket')
  const id = service('basket')?.id ?? ''
  await deps.engine.run(acme.key, (ctx, now) => updateService(ctx, id, { aliases: [] }, now))
  await fires(2, 'basket')
  await until(3)
  assert.deepEqual(sent, [])
})
