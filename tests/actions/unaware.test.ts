/** What a channel hears of an incident about which its last word was an all-clear. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownChannel } from '../helpers/own-channel.ts'

const OF = (name: string) => ({ rules: [{ services: [name] }] })

for (const [what, to] of [
  ['that somebody works on it', { status: 'investigating' }],
  ['that a user changed its severity', { severity: 'warning' }],
] as const) {
  test(`a channel whose rules match no more, and that knows the end, does not hear ${what}`, async (t) => {
    const { addOwn, fires, ends, change, user, until, sent } = ownChannel(t, OF('cart').rules)
    addOwn()
    await fires(1, 'cart')
    await ends(2, 'cart')
    await change(4, OF('web'))
    await fires(5, 'cart')
    await user(6, to)
    await ends(8, 'cart')
    await until(10)
    assert.deepEqual(sent, ['opened of cart at 1', 'recovered of cart at 3'])
  })
}

test('it hears all of it while its rules match', async (t) => {
  const { addOwn, fires, ends, user, until, sent } = ownChannel(t, OF('cart').rules)
  addOwn()
  await fires(1, 'cart')
  await ends(2, 'cart')
  await fires(5, 'cart')
  await user(6, { status: 'investigating' })
  await ends(8, 'cart')
  await until(10)
  assert.deepEqual(sent.slice(2), ['again of cart at 5', 'acknowledged of cart at 6', 'recovered of cart at 9'])
})

test('a severity that a user corrects after the end pages nobody', async (t) => {
  const { addOwn, fires, ends, user, until, sent } = ownChannel(t)
  addOwn()
  await fires(1, 'cart')
  await user(2, { severity: 'warning' })
  await ends(3, 'cart')
  await user(5, { severity: 'critical' })
  await until(7)
  assert.deepEqual(sent, ['opened of cart at 1', 'recovered of cart at 4'])
})

test('a severity that a user raises while the problem goes on is told', async (t) => {
  const { addOwn, fires, user, until, sent } = ownChannel(t)
  addOwn()
  await fires(1, 'cart')
  await user(2, { severity: 'warning' })
  await user(4, { severity: 'critical' })
  await until(5)
  assert.deepEqual(sent, ['opened of cart at 1', 'severity of cart at 4'])
})
