/** Channels whose rules leave out the opening: each gets what its rules name, and nothing else. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NotificationKind } from '../../src/domain/notification/kind.ts'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { ownChannel } from '../helpers/own-channel.ts'

const ONLY = (...events: NotificationKind[]) => [{ events }]

for (const [events, more, sent] of [
  [
    ['reminder'],
    { remindAfter: 2, remindEvery: 3 },
    ['reminder of cart at 3', 'reminder of cart at 6', 'reminder of cart at 13', 'reminder of cart at 16'],
  ],
  [
    ['reminder', 'recovered'],
    { remindAfter: 5, remindEvery: 0 },
    ['reminder of cart at 6', 'recovered of cart at 9', 'reminder of cart at 16'],
  ],
  [
    ['opened', 'reminder'],
    { remindAfter: 4, remindEvery: 0 },
    ['opened of cart at 1', 'reminder of cart at 5', 'reminder of cart at 15'],
  ],
  [
    ['opened', 'again', 'reopened', 'reminder'],
    { remindAfter: 4, remindEvery: 0 },
    ['opened of cart at 1', 'reminder of cart at 5', 'again of cart at 11', 'reminder of cart at 15'],
  ],
  [['reminder'], {}, []],
  [['worse'], {}, ['worse of cart (Full) at 4', 'worse of cart (Slow) at 12']],
  [['again'], {}, ['again of cart at 11']],
  [['recovered', 'worse'], {}, ['worse of cart (Full) at 4', 'recovered of cart at 9', 'worse of cart (Slow) at 12']],
  [['opened', 'worse'], {}, ['opened of cart at 1', 'worse of cart (Full) at 4', 'worse of cart (Slow) at 12']],
] as const) {
  test(`a channel for ${events.join(' and ')} gets ${sent.length === 0 ? 'nothing without reminders' : sent.join(', ')}`, async (t) => {
    const world = ownChannel(t, ONLY(...events), more)
    const { addOwn, fires, ends, until } = world
    addOwn()
    await fires(1, 'cart')
    await fires(4, 'cart', 'Full')
    await ends(8, 'cart')
    await ends(8, 'cart', 'Full')
    await fires(11, 'cart')
    await fires(12, 'cart', 'Slow')
    await until(16.5)
    assert.deepEqual(world.sent, sent)
  })
}

test('a channel for reminders gets none about a service that its rule does not name, or that somebody works on', async (t) => {
  const { addOwn, fires, user, until, sent } = ownChannel(t, [{ events: ['reminder'], services: ['cart'] }], {
    remindAfter: 2,
  })
  addOwn()
  await fires(1, 'cart')
  await user(2, { status: 'investigating' })
  await fires(3, 'web')
  await until(8)
  assert.deepEqual(sent, [])
})

for (const [what, rules, named] of [
  [
    'of which it was told',
    [{ matchers: parseMatchers('alertname="Down"') }],
    /: Down: Down fires\. Also firing: Full\./,
  ],
  ['of both alerts', [], /: Down: Down fires; Full: Full fires\./],
  ['of all that fires if it was told of nothing', ONLY('reminder'), /: Down: Down fires; Full: Full fires\./],
] as const) {
  test(`a reminder quotes the alerts ${what}`, async (t) => {
    const { addOwn, fires, until, texts } = ownChannel(t, rules, { remindAfter: 4 })
    addOwn()
    await fires(1, 'cart')
    await fires(3, 'cart', 'Full')
    await until(8)
    const reminder = texts.find((text) => text.startsWith('Nobody has acknowledged this yet'))
    assert.match(reminder?.replace(/cart has been .*?\. /, '') ?? '', named)
  })
}
