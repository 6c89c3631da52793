/** What a channel is told that was off, was added, or had other rules while an incident began or ended. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeIncident, mergeIncidents } from '../helpers/acts.ts'
import { ownChannel as world } from '../helpers/own-channel.ts'

/** Returns what a channel hears that is off from minute 2 to 6, while the problem ends, and once more. */
async function offAtTheEnd(...of: Parameters<typeof world>) {
  const { addOwn, fires, ends, off, on, sent } = world(...of)
  addOwn()
  await fires(1, 'cart')
  await off(2)
  await ends(3, 'cart')
  await on(6)
  await off(7)
  await on(8)
  return sent
}

test('a channel that was off hears the end of what it was told, once', async (t) => {
  assert.deepEqual(await offAtTheEnd(t), ['opened of cart at 1', 'recovered of cart at 6'])
})

test('it hears of what began meanwhile and goes on, and then of its end', async (t) => {
  const { addOwn, fires, ends, off, on, until, sent } = world(t)
  addOwn()
  await off(1)
  await fires(2, 'cart')
  await on(4)
  await ends(6, 'cart')
  await until(8)
  assert.deepEqual(sent, ['opened of cart at 4', 'recovered of cart at 7'])
})

test('it hears nothing of what began and ended meanwhile, not even that it was resolved', async (t) => {
  const { addOwn, fires, ends, off, on, until, incidents, deps, acme, sent } = world(t)
  addOwn()
  await off(1)
  await fires(2, 'cart')
  await ends(3, 'cart')
  await on(6)
  await changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status: 'resolved' }, 'anna')
  await until(8)
  assert.deepEqual(sent, [])
})

test('a channel that wants only ends hears an end that it missed while it was off, once', async (t) => {
  assert.deepEqual(await offAtTheEnd(t, [{ events: ['recovered'] }]), ['recovered of cart at 6'])
})

test('it hears nothing of an end of another service, or after which the problem came back', async (t) => {
  const { addOwn, fires, ends, off, on, until, sent } = world(t, [{ events: ['recovered'], services: ['cart'] }])
  addOwn()
  await off(1)
  await fires(2, 'web')
  await fires(2, 'cart')
  await ends(3, 'web')
  await ends(3, 'cart')
  await fires(5, 'cart')
  await on(6)
  await until(8)
  assert.deepEqual(sent, [])
})

test('it hears nothing of an end after which the problem came back, but then of the last end', async (t) => {
  const { addOwn, fires, ends, off, on, until, sent } = world(t)
  addOwn()
  await fires(1, 'cart')
  await off(2)
  await ends(3, 'cart')
  await fires(6, 'cart')
  await on(8)
  await ends(9, 'cart')
  await until(12)
  assert.deepEqual(sent, ['opened of cart at 1', 'recovered of cart at 10'])
})

test('it hears that a user resolved what fires on, and not that it recovered', async (t) => {
  const { addOwn, fires, off, on, incidents, deps, acme, sent } = world(t)
  addOwn()
  await fires(1, 'cart')
  await off(2)
  await changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status: 'resolved' }, 'anna')
  await on(4)
  assert.deepEqual(sent, ['opened of cart at 1', 'resolved of cart at 4'])
})

test('it hears no end of what was merged into an incident that goes on', async (t) => {
  const { addOwn, fires, off, on, incidents, deps, acme, sent } = world(t)
  addOwn()
  await fires(1, 'cart')
  await fires(1, 'web')
  await off(2)
  const [cart, web] = incidents()
  await mergeIncidents(deps, acme.key, { from: cart?.id ?? '', into: web?.id ?? '' }, 'anna')
  await on(4)
  assert.deepEqual(sent, ['opened of cart at 1', 'opened of web at 1'])
})

test('a channel that is added hears of what burns, and nothing of what was over before', async (t) => {
  const { addOwn, fires, ends, until, incidents, deps, acme, sent } = world(t)
  await fires(1, 'web')
  await fires(1, 'cart')
  await ends(2, 'web')
  await until(4)
  addOwn()
  await changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status: 'resolved' }, 'anna')
  await ends(6, 'cart')
  await until(8)
  assert.deepEqual(sent, ['opened of cart at 4', 'recovered of cart at 7'])
})

test('a channel that wants recoveries only hears of them, and of nothing else', async (t) => {
  const { addOwn, fires, ends, until, sent } = world(t, [{ events: ['recovered'] }])
  await fires(1, 'cart')
  await until(2)
  addOwn()
  await ends(3, 'cart')
  await until(5)
  assert.deepEqual(sent, ['recovered of cart at 4'])
})

const OF = (namespace: string) => ({ rules: [{ namespaces: [namespace] }] })

test('with other rules, a channel hears of what they match, and the end of what it was told before', async (t) => {
  const { addOwn, fires, ends, change, until, sent } = world(t, OF('cart').rules)
  addOwn()
  await fires(1, 'cart')
  await fires(1, 'web')
  await change(3, OF('web'))
  await change(4, OF('cart'))
  await change(5, OF('web'))
  await ends(6, 'cart')
  await ends(7, 'web')
  await until(9)
  assert.deepEqual(sent, [
    'opened of cart at 1',
    'opened of web at 3',
    'recovered of cart at 7',
    'recovered of web at 8',
  ])
})

test('new rules that do not match it tell nothing, and neither does another name', async (t) => {
  const { addOwn, fires, change, until, sent } = world(t, OF('shop').rules)
  addOwn()
  await fires(1, 'cart')
  await change(2, OF('web'))
  await change(3, { name: 'own', timeZone: 'Europe/Berlin' })
  await until(4)
  assert.deepEqual(sent, [])
})

test('a channel for escalations that gets everything from now on hears of what burns', async (t) => {
  const { addOwn, fires, change, sent } = world(t)
  addOwn()
  await change(0, { escalateAfter: 30 })
  await fires(1, 'cart')
  await change(3, { escalateAfter: 0 })
  assert.deepEqual(sent, ['opened of cart at 3'])
})

test('a channel that was off hears once what got worse meanwhile and goes on, and not what is over', async (t) => {
  const { addOwn, fires, ends, off, on, user, until, sent } = world(t)
  addOwn()
  await fires(1, 'cart')
  await off(2)
  await fires(3, 'cart', 'Full')
  await fires(3, 'cart', 'Slow')
  await user(4, { status: 'investigating' })
  await ends(5, 'cart', 'Slow')
  await on(6)
  await off(7)
  await on(8)
  await until(9)
  assert.deepEqual(sent, ['opened of cart at 1', 'worse of cart (Full) at 6'])
})

test('it hears what waited for the end of its quiet hours when it was switched off', async (t) => {
  const { addOwn, fires, off, on, sent } = world(t, [{ quietHours: { from: '12:02', to: '12:10', timeZone: 'UTC' } }])
  addOwn()
  await fires(1, 'cart')
  await fires(3, 'cart', 'Full')
  await off(9)
  await on(12)
  assert.deepEqual(sent, ['opened of cart at 1', 'worse of cart (Full) at 12'])
})

for (const [what, to, expected] of [
  ['that somebody works on it', { status: 'investigating' }, ['acknowledged of cart at 5']],
  ['nothing of another title', { title: 'The cart is down' }, []],
  ['nothing of another rating', { severity: 'warning' }, []],
] as const) {
  test(`it hears ${what}`, async (t) => {
    const { addOwn, fires, off, on, user, until, sent } = world(t)
    addOwn()
    await fires(1, 'cart')
    await off(2)
    await user(3, to)
    await on(5)
    await until(6)
    assert.deepEqual(sent, ['opened of cart at 1', ...expected])
  })
}

test('it hears nothing of an acknowledgement that was taken back', async (t) => {
  const { addOwn, fires, off, on, user, sent } = world(t)
  addOwn()
  await fires(1, 'cart')
  await off(2)
  await user(3, { status: 'investigating' })
  await user(4, { status: 'open' })
  await on(5)
  assert.deepEqual(sent, ['opened of cart at 1'])
})

test('after the all-clear, it hears that the problem is back', async (t) => {
  const { addOwn, fires, ends, off, on, sent } = world(t)
  addOwn()
  await fires(1, 'cart')
  await ends(2, 'cart')
  await off(4)
  await fires(5, 'cart')
  await on(6)
  assert.deepEqual(sent, ['opened of cart at 1', 'recovered of cart at 3', 'again of cart at 6'])
})

test('it hears that a user reopened what it knows as resolved', async (t) => {
  const { addOwn, fires, off, on, user, sent } = world(t)
  addOwn()
  await fires(1, 'cart')
  await user(2, { status: 'resolved' })
  await off(3)
  await user(4, { status: 'open' })
  await on(5)
  assert.deepEqual(sent, ['opened of cart at 1', 'resolved of cart at 2', 'reopened of cart at 5'])
})

test('it hears what else came back after an end that it missed, too', async (t) => {
  const { addOwn, fires, ends, off, on, until, sent } = world(t)
  addOwn()
  await fires(1, 'cart')
  await off(2)
  await ends(3, 'cart')
  await fires(6, 'cart', 'Full')
  await on(8)
  await ends(9, 'cart', 'Full')
  await until(12)
  assert.deepEqual(sent, ['opened of cart at 1', 'again of cart at 8', 'recovered of cart at 10'])
})

test('a condition that ended before a channel was switched on is news to it when it fires again', async (t) => {
  const { addOwn, fires, ends, off, on, until, sent } = world(t)
  addOwn()
  await off(1)
  await fires(2, 'cart')
  await fires(2, 'cart', 'Full')
  await ends(4, 'cart', 'Full')
  await on(6)
  await fires(8, 'cart', 'Full')
  await ends(10, 'cart', 'Full')
  await fires(12, 'cart', 'Full')
  await until(14)
  assert.deepEqual(sent, ['opened of cart at 6', 'worse of cart (Full) at 8'])
})

test('a condition that was told and fires again while others go on is no news', async (t) => {
  const { addOwn, fires, ends, until, sent } = world(t)
  addOwn()
  await fires(2, 'cart')
  await fires(3, 'cart', 'Full')
  await ends(5, 'cart', 'Full')
  await fires(7, 'cart', 'Full')
  await until(9)
  assert.deepEqual(sent, ['opened of cart at 2', 'worse of cart (Full) at 3'])
})

test('it hears what got worse meanwhile in an incident that was merged into another one', async (t) => {
  const { addOwn, fires, ends, off, on, incidents, deps, acme, sent } = world(t)
  addOwn()
  await fires(1, 'cart')
  await fires(1, 'web')
  await off(2)
  await fires(3, 'cart', 'Full')
  const [cart, web] = incidents()
  await mergeIncidents(deps, acme.key, { from: cart?.id ?? '', into: web?.id ?? '' }, 'anna')
  await ends(5, 'cart')
  await on(7)
  assert.deepEqual(sent, ['opened of cart at 1', 'opened of web at 1', 'worse of web (Full of cart) at 7'])
})

test('what waited for quiet hours that a channel has lost while it was off is told when it is switched on', async (t) => {
  const quietHours = { from: '12:01', to: '12:30', timeZone: 'UTC' }
  const { addOwn, fires, off, on, change, sent } = world(t, [{ quietHours }])
  addOwn()
  await fires(2, 'cart')
  await off(4)
  await change(5, { rules: [] })
  await on(6)
  assert.deepEqual(sent, ['opened of cart at 6'])
})

test('a channel whose rules stop matching before its first message hears no end', async (t) => {
  const { addOwn, fires, ends, change, until, sent } = world(t)
  await fires(1, 'cart')
  await ends(4, 'cart')
  addOwn()
  await change(4, OF('web'))
  await until(8)
  assert.deepEqual(sent, [])
})

for (const [how, leave, back] of [
  ['was off', { enabled: false }, { enabled: true }],
  ['had other rules', { rules: [{ services: ['web'] }] }, { rules: [] }],
] as const) {
  test(`a channel that ${how} hears what came back meanwhile, although it knew that before an all-clear`, async (t) => {
    const { addOwn, fires, ends, change, until, sent } = world(t)
    addOwn()
    for (const name of ['Down', 'Full']) await fires(1, 'cart', name)
    for (const name of ['Down', 'Full']) await ends(3, 'cart', name)
    await fires(6, 'cart')
    await change(7, leave)
    await fires(8, 'cart', 'Full')
    await change(9, back)
    await until(12)
    assert.deepEqual(sent.slice(-2), ['again of cart at 6', 'worse of cart (Full) at 9'])
  })

  test(`a channel that ${how} hears nothing of what came back and ended meanwhile`, async (t) => {
    const { addOwn, fires, ends, change, until, sent } = world(t)
    addOwn()
    for (const name of ['Down', 'Full']) await fires(1, 'cart', name)
    for (const name of ['Down', 'Full']) await ends(3, 'cart', name)
    await fires(6, 'cart')
    await change(7, leave)
    await fires(8, 'cart', 'Full')
    await ends(9, 'cart', 'Full')
    await change(10, back)
    await until(12)
    assert.equal(sent.at(-1), 'again of cart at 6')
  })

  test(`a channel that ${how} hears nothing again of what it was told since the all-clear`, async (t) => {
    const { addOwn, fires, ends, change, until, sent } = world(t)
    addOwn()
    await fires(1, 'cart')
    await ends(3, 'cart')
    await fires(6, 'cart')
    await fires(7, 'cart', 'Full')
    await change(8, leave)
    await change(9, back)
    await until(12)
    assert.equal(sent.at(-1), 'worse of cart (Full) at 7')
  })
}
