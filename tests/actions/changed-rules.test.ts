/** What a channel is told whose rules did not match for a while. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownChannel as world } from '../helpers/own-channel.ts'

const OF = (namespace: string) => ({ rules: [{ namespaces: [namespace] }] })

test('rules that did not match for a while tell what got worse, although somebody works on it, once', async (t) => {
  const { addOwn, fires, user, change, until, sent, texts } = world(t, OF('cart').rules)
  addOwn()
  await fires(1, 'cart')
  await change(2, OF('web'))
  await fires(3, 'cart', 'Full')
  await user(4, { status: 'investigating' })
  await change(5, OF('cart'))
  await change(6, OF('web'))
  await change(7, OF('cart'))
  await until(8)
  assert.deepEqual(sent, ['opened of cart at 1', 'worse of cart (Full) at 5'])
  assert.match(texts[1] ?? '', /anna is on it/)
})

for (const [what, to, back] of [
  ['who works on it', { status: 'investigating' }, ['acknowledged of cart at 5']],
  ['that it is more severe', { severity: 'critical' }, []],
] as const) {
  test(`of what its rules no longer match, a channel hears the end, and not ${what}`, async (t) => {
    const { addOwn, fires, ends, user, change, until, sent } = world(t, OF('cart').rules)
    addOwn()
    await fires(1, 'cart')
    await user(1, { severity: 'warning' })
    await change(2, OF('web'))
    await user(3, to)
    await ends(3, 'cart')
    await until(6)
    assert.deepEqual(sent, ['opened of cart at 1', 'recovered of cart at 4'])
  })

  test(`rules that match it again tell ${back.length > 0 ? what : 'nothing of it'}`, async (t) => {
    const { addOwn, fires, user, change, until, sent } = world(t, OF('cart').rules)
    addOwn()
    await fires(1, 'cart')
    await user(1, { severity: 'warning' })
    await change(2, OF('web'))
    await user(3, to)
    await change(5, OF('cart'))
    await until(6)
    assert.deepEqual(sent, ['opened of cart at 1', ...back])
  })
}

test('what a user takes back is no news either', async (t) => {
  const { addOwn, fires, user, change, until, sent } = world(t, OF('cart').rules)
  addOwn()
  await fires(1, 'cart')
  await user(2, { status: 'investigating' })
  await change(3, OF('web'))
  await user(4, { status: 'open' })
  await until(5)
  assert.deepEqual(sent, ['opened of cart at 1', 'acknowledged of cart at 2'])
})

test('they tell that the problem is back, or that a user reopened it, but no end of what was never told', async (t) => {
  const { addOwn, fires, ends, user, change, until, sent } = world(t, OF('cart').rules)
  addOwn()
  await fires(1, 'cart')
  await ends(2, 'cart')
  await change(4, OF('web'))
  await fires(5, 'cart')
  await change(6, OF('cart'))
  await user(7, { status: 'resolved' })
  await change(8, OF('web'))
  await user(9, { status: 'open' })
  await fires(9, 'bank')
  await fires(10, 'bank', 'Full')
  await ends(10, 'bank')
  await ends(10, 'bank', 'Full')
  await until(12)
  await change(13, { rules: [{ namespaces: ['cart', 'bank'] }] })
  await until(14)
  const back = ['again of cart at 6', 'resolved of cart at 7', 'reopened of cart at 13']
  assert.deepEqual(sent, ['opened of cart at 1', 'recovered of cart at 3', ...back])
})

test('they tell nothing of what got worse and is over', async (t) => {
  const { addOwn, fires, ends, change, until, sent } = world(t, OF('cart').rules)
  addOwn()
  await fires(1, 'cart')
  await change(2, OF('web'))
  await fires(3, 'cart', 'Full')
  await ends(4, 'cart', 'Full')
  await ends(4, 'cart')
  await until(6)
  await change(7, OF('cart'))
  await until(8)
  assert.deepEqual(sent, ['opened of cart at 1', 'recovered of cart at 5'])
})

test('of what a user has made less severe than they say, a channel hears the end, once, and not that it is back', async (t) => {
  const { addOwn, fires, ends, user, until, sent } = world(t, [{ minSeverity: 'critical' }])
  addOwn()
  await fires(1, 'cart')
  await user(2, { severity: 'warning' })
  await user(3, { status: 'investigating' })
  await user(4, { status: 'open' })
  await ends(5, 'cart')
  await fires(8, 'cart')
  await ends(9, 'cart')
  await until(12)
  assert.deepEqual(sent, ['opened of cart at 1', 'recovered of cart at 6'])
})

for (const [what, isOver, reminders] of [
  ['fires', false, ['reminder of cart at 4']],
  ['has ended', true, []],
] as const) {
  test(`a channel for one alert ${isOver ? 'hears nothing of' : 'is reminded of'} an incident once that ${what}`, async (t) => {
    const rules = [{ matchers: [{ name: 'alertname', op: '=', value: 'Down' }] }] as const
    const { addOwn, fires, ends, until, sent } = world(t, rules, { remindAfter: 3, remindEvery: 60 })
    addOwn()
    await fires(1, 'cart')
    await fires(2, 'cart', 'Full')
    if (isOver) await ends(3, 'cart')
    await until(8)
    assert.deepEqual(sent, ['opened of cart at 1', ...reminders])
  })
}
