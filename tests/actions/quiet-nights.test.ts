/** What a channel hears after quiet hours of what began and ended in them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catchUpService } from '../../src/actions/channel-rules.ts'
import { createChannel } from '../../src/actions/channels.ts'
import type { Rule } from '../../src/domain/notification/rule.ts'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { mergeServices, updateService } from '../../src/engine/changes/services.ts'
import { findLiveIncident } from '../../src/store/incident/live-incidents.ts'
import { findTold } from '../../src/store/incident/told-messages.ts'
import { changeIncident, createSilence } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { ownChannel } from '../helpers/own-channel.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Quiet hours from minute 2 to minute 20. */
const QUIET: Rule = { quietHours: { from: '12:02', to: '12:20', timeZone: 'UTC' } }

type Night = ReturnType<typeof ownChannel>

function night(t: TestContext, rules: readonly Rule[] = [QUIET]) {
  const world = ownChannel(t, rules)
  world.addOwn()
  return world
}

test('what began and ended in quiet hours is told at their end, in one sentence', async (t) => {
  const { fires, ends, until, texts } = night(t)
  await fires(3, 'cart')
  await ends(5.5, 'cart')
  await until(30)
  assert.deepEqual(
    texts.map((one) => one.split(' Down')[0]),
    ['cart has recovered: it was critical for 2 min 30 s, until 12:05 UTC. It was:'],
  )
})

test('the postmortem says that quiet hours delayed the messages', async (t) => {
  const { fires, ends, until, incidents, deps, acme } = night(t)
  await fires(3, 'cart')
  await ends(5.5, 'cart')
  await until(15)
  await changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status: 'resolved' }, 'anna')
  const incident = findLiveIncident(deps.db, acme.key, incidents()[0]?.id ?? '') ?? assert.fail('no incident')
  assert.deepEqual(findTold(deps.db, incident, deps.now()).quiet, ['own'])
})

test('beside what goes on, the digest says what it was and when it ended', async (t) => {
  const { fires, ends, until, texts } = night(t)
  await fires(3, 'cart')
  await ends(5.5, 'cart')
  await fires(15, 'web')
  await until(30)
  assert.deepEqual(texts, [
    '1 new incident (1 critical): web. Worst: web: Down. cart was critical for 2 min 30 s, until 12:05 UTC, and has recovered.',
  ])
})

test('what came back in quiet hours and ended again is told once', async (t) => {
  const { fires, ends, until, texts } = night(t)
  await fires(3, 'cart')
  await ends(5, 'cart')
  await fires(9, 'cart')
  await ends(12, 'cart')
  await until(30)
  assert.equal(texts.length, 1)
  assert.match(texts[0] ?? '', /^cart has recovered: it was critical for 5 min in all, until 12:12 UTC\./)
})

test('what a user resolved in quiet hours is told as resolved', async (t) => {
  const { fires, ends, user, until, texts } = night(t)
  await fires(3, 'cart')
  await ends(5, 'cart')
  await user(10, { status: 'resolved' })
  await until(30)
  assert.equal(texts.length, 1)
  assert.match(texts[0] ?? '', /^cart: anna resolved the incident\. It was critical for 2 min\./)
})

test('what ended in the minute before their end is told with its end', async (t) => {
  const { fires, ends, until, sent } = night(t)
  await fires(3, 'cart')
  await ends(19.5, 'cart')
  await until(30)
  assert.deepEqual(sent, ['opened of cart at 20.5', 'recovered of cart at 20.5'])
})

for (const seconds of [50, 31, 30, 8, 2]) {
  test(`what ended ${seconds} seconds before their end is told`, async (t) => {
    const { fires, ends, until, texts } = night(t)
    await fires(17, 'cart')
    await until(20 - seconds / 60, 1000)
    await ends(0, 'cart')
    await until(22, 1000)
    assert.equal(texts.length, 1)
    assert.match(texts[0] ?? '', /^cart has recovered: it was critical for \d min/)
  })
}

test('nobody else has to be told of it, and who was told hears it as before', async (t) => {
  const { fires, ends, until, texts, sent } = night(t)
  await fires(1, 'web')
  await fires(3, 'cart')
  await ends(5, 'cart')
  await ends(6, 'web')
  await until(30)
  assert.deepEqual(sent.slice(1), ['opened of cart at 20', 'recovered of cart at 20', 'recovered of web at 20'])
  assert.match(
    texts[1] ?? '',
    /^cart was critical for 2 min, until 12:05 UTC, and has recovered\. web has recovered after 5 min\./,
  )
})

test('a problem that is back when quiet hours end opens, and its end follows', async (t) => {
  const { fires, ends, until, sent } = night(t)
  await fires(3, 'cart')
  await ends(5, 'cart')
  await fires(15, 'cart')
  await until(22)
  assert.deepEqual([...new Set(sent)], ['opened of cart at 20', 'again of cart at 20'])
  await ends(25, 'cart')
  await until(30)
  assert.equal(sent.at(-1), 'recovered of cart at 26')
})

test('a rule that wants openings only tells nothing of what is over', async (t) => {
  const { fires, ends, until, sent } = night(t, [{ ...QUIET, events: ['opened'] }])
  await fires(3, 'cart')
  await ends(5, 'cart')
  await until(30)
  assert.deepEqual(sent, [])
})

test('a rule that does not match tells nothing of it', async (t) => {
  const { fires, ends, until, sent } = night(t, [{ ...QUIET, matchers: parseMatchers('team="red"') }])
  await fires(3, 'cart')
  await ends(5, 'cart')
  await until(30)
  assert.deepEqual(sent, [])
})

test('what ended before it was told outside quiet hours stays untold', async (t) => {
  const { deps, acme, fires, ends, until, sent } = night(t)
  createChannel(deps, acme.key, { name: 'late', kind: 'slack', target: 'https://example.com/x', escalateAfter: 5 })
  await until(21)
  await fires(21, 'cart')
  await ends(22, 'cart')
  await until(30)
  assert.deepEqual(sent, ['opened of cart at 21', 'recovered of cart at 23'])
})

test('two ends of which the first is known become one message, although somebody acknowledged between them', async (t) => {
  const { fires, ends, user, until, sent } = night(t)
  await fires(1, 'cart')
  await ends(3, 'cart')
  await fires(6, 'cart')
  await user(7, { status: 'investigating' })
  await ends(9, 'cart')
  await until(30)
  assert.deepEqual(sent, ['opened of cart at 1', 'recovered of cart at 20', 'acknowledged of cart at 20'])
})

test('a receiver that fails after them hears the opening, the end and who works on it together', async (t) => {
  const { fires, ends, user, until, receiver, sent, texts } = night(t)
  await fires(3, 'cart')
  receiver.status = 503
  await user(20.5, { status: 'investigating' })
  await ends(22, 'cart')
  await until(26)
  receiver.status = 200
  await until(40)
  assert.deepEqual(
    sent.map((one) => one.split(' at ')[0]),
    ['opened of cart', 'acknowledged of cart', 'recovered of cart'],
  )
  assert.match(texts.join('; '), /^cart has recovered: it was critical for 19 min, until 12:22 UTC\.[^;]*$/)
})

test('what began and ended while the receiver failed is told when it works again, in one sentence', async (t) => {
  const { fires, ends, user, until, receiver, texts } = night(t, [])
  await until(1)
  receiver.status = 503
  await fires(3, 'cart')
  await user(4, { status: 'investigating' })
  await ends(6, 'cart')
  await until(20)
  assert.deepEqual(texts, [])
  receiver.status = 200
  await until(40)
  assert.equal(texts.length, 1)
  assert.match(texts[0] ?? '', /^cart has recovered: it was critical for 3 min, until 12:06 UTC\./)
})

test('what burned for less than a minute between two attempts is told besides what goes on', async (t) => {
  const { fires, ends, until, receiver, texts } = night(t, [])
  receiver.status = 503
  await fires(3, 'web')
  await fires(5, 'cart')
  await ends(5.5, 'cart')
  await until(20)
  receiver.status = 200
  await until(40)
  const firsts = texts.map((text) => text.split(/,|\. /)[0])
  assert.deepEqual(firsts.slice(0, 2).sort(), [
    'cart has recovered: it was critical for 30 s',
    'web has been critical since 12:03 UTC',
  ])
})

test('an escalation that falls due in quiet hours is told at their end, and with its end if it is over', async (t) => {
  const world = ownChannel(t, [QUIET], { escalateAfter: 2 })
  const { addOwn, fires, ends, user, until, texts } = world
  addOwn()
  await fires(3, 'cart')
  await ends(8, 'cart')
  await fires(10, 'web')
  await until(30)
  assert.match(
    texts.join('; '),
    /web.*cart was critical for 5 min, until 12:08 UTC, and has recovered|cart has recovered/,
  )
  assert.match(texts.join('; '), /web/)
  await user(31, { status: 'investigating' })
})

type World = ReturnType<typeof ownChannel>

const isBack = (gone: number, again: number) => async (world: World) => {
  await world.ends(gone, 'cart')
  await world.fires(again, 'cart')
}

async function silenced({ until, deps, acme, clock }: World) {
  await until(15)
  const period = { startsAt: clock.now, endsAt: NOON + 22 * MINUTE, schedule: null, comment: 'work' }
  await createSilence(deps, acme.key, { ...period, matchers: parseMatchers('service="cart"') }, 'anna')
}

for (const [what, act, at22, since] of [
  ['a silence over the end of the quiet hours is over', silenced, 0, '12:03 UTC.*; its silence ended at 12:22'],
  ['its problem is back shortly before they end, and only after its minutes', isBack(14, 18), 0, '12:18'],
  ['its problem is back long before they end', isBack(7, 10), 1, '12:10'],
] as const)
  test(`an escalation channel with quiet hours hears once of an incident if ${what}`, async (t) => {
    const world = ownChannel(t, [QUIET], { escalateAfter: 5 })
    const { addOwn, fires, until, texts } = world
    addOwn()
    await fires(3, 'cart')
    await act(world)
    await until(21.9, MINUTE / 30)
    assert.equal(texts.length, at22)
    await until(30, MINUTE / 30)
    assert.equal(texts.length, 1)
    assert.match(
      texts[0] ?? '',
      new RegExp(`^Nobody has acknowledged this incident: cart has been critical since ${since} UTC`),
    )
  })

test('an escalation channel hears of an incident its minutes after the problem came back, not after it opened', async (t) => {
  const { addOwn, fires, ends, until, sent } = ownChannel(t, [], { escalateAfter: 5 })
  addOwn()
  await fires(3, 'cart')
  await ends(6, 'cart')
  await fires(10, 'cart')
  await until(30)
  assert.deepEqual(sent, ['escalation of cart at 15'])
})

test('an incident that somebody acknowledged before its escalation was due is not escalated after quiet hours', async (t) => {
  const { addOwn, fires, ends, user, until, sent } = ownChannel(t, [QUIET], { escalateAfter: 5 })
  addOwn()
  await fires(3, 'cart')
  await user(4, { status: 'investigating' })
  await ends(10, 'cart')
  await until(30)
  assert.deepEqual(sent, [])
})

test('one that somebody acknowledged in quiet hours, after it was due, is told as taken or not at all', async (t) => {
  const { addOwn, fires, user, until, sent } = ownChannel(t, [QUIET], { escalateAfter: 2 })
  addOwn()
  await fires(3, 'cart')
  await user(10, { status: 'investigating' })
  await until(30)
  assert.deepEqual(
    sent.filter((one) => one.startsWith('escalation')),
    [],
  )
})

for (const [what, acknowledged, expected] of [
  ['nothing if somebody acknowledged it in quiet hours', [10], /^$/],
  ['nothing if somebody acknowledged it before it got worse', [5], /^$/],
  [
    'all of it at once if nobody did',
    [],
    /^Nobody has acknowledged this incident: cart has been critical since 12:03 UTC[^|]* Down: Down fires; Disk: Disk fires\.[^|]*$/,
  ],
  ['all of it at once if the acknowledgement was taken back', [10, 12], /^Nobody is working on it any more[^|]*$/],
] as const)
  test(`an escalation channel hears of an incident that got worse in quiet hours ${what}`, async (t) => {
    const { addOwn, fires, user, until, texts } = ownChannel(t, [QUIET], { escalateAfter: 2 })
    addOwn()
    await fires(3, 'cart')
    const changes = [
      ...acknowledged.map((at, index) => ({
        at,
        act: () => user(at, { status: index > 0 ? 'open' : 'investigating' }),
      })),
      { at: 8, act: () => fires(8, 'cart', 'Disk') },
    ]
    for (const { act } of changes.sort((a, b) => a.at - b.at)) await act()
    await until(30)
    assert.match([...new Set(texts)].join(' | '), expected)
  })

test('an escalation to a receiver that fails is told with its end when it works again', async (t) => {
  const { addOwn, fires, ends, until, receiver, texts } = ownChannel(t, [], { escalateAfter: 2 })
  addOwn()
  receiver.status = 503
  await fires(3, 'cart')
  await ends(8, 'cart')
  await until(15)
  receiver.status = 200
  await until(40)
  assert.match(texts[0] ?? '', /^cart has recovered: it was critical for 5 min, until 12:08 UTC\./)
})

test('a rule without quiet hours that matches since a merge tells at once what another rule had held', async (t) => {
  const held = { ...QUIET, namespaces: ['cart'] }
  const world = ownChannel(t, [{ namespaces: ['web'] }, held])
  const { addOwn, fires, until, sent, deps, acme, service } = world
  addOwn()
  await world.send('metrics', alertmanager([alert('Warm', { service: 'web', namespace: 'web', severity: 'warning' })]))
  await fires(4, 'cart')
  const [from, into] = [service('cart')?.id ?? '', service('web')?.id ?? '']
  await deps.engine.run(acme.key, (ctx, now) => mergeServices(ctx, from, into, now))
  catchUpService(deps, acme.key, into)
  await until(6)
  assert.deepEqual(sent, ['opened of web at 4.5'])
})

for (const [what, begins] of [
  ['of a channel that was added in them', (world: Night) => world.addOwn([QUIET])],
  [
    'whose channel got rules that match in them',
    async (world: Night) => {
      world.addOwn([{ ...QUIET, services: ['web'] }])
      await world.change(5, { rules: [QUIET] })
    },
  ],
  [
    'whose channel was enabled in them',
    async (world: Night) => {
      world.addOwn([QUIET])
      await world.off(2)
      await world.on(5)
    },
  ],
  [
    'of a service that was renamed in them',
    async (world: Night) => {
      world.addOwn([{ ...QUIET, services: ['basket'] }])
      const { deps, acme, service } = world
      const id = service('cart')?.id ?? ''
      await deps.engine.run(acme.key, (ctx, now) => updateService(ctx, id, { name: 'basket' }, now))
      catchUpService(deps, acme.key, id)
    },
  ],
] as const) {
  test(`what burned and ended in the quiet hours ${what} is told at their end`, async (t) => {
    const world = ownChannel(t, [QUIET])
    const { fires, ends, until, sent } = world
    await fires(2, 'cart')
    await until(4)
    await begins(world)
    await ends(8, 'cart')
    await until(30)
    assert.deepEqual(
      sent.map((one) => one.replace('basket', 'cart')),
      ['opened of cart at 20', 'recovered of cart at 20'],
    )
  })
}

/**
 * Lets a service flap from minute 3 on, until minute `end`. The digest is due at 22:30. Returns the messages about that.
 * @param more what happens after the last end
 */
async function flapping(t: TestContext, end: number, more: (world: Night) => Promise<unknown> = async () => {}) {
  const world = night(t)
  for (const minute of [3, 4.5, 6]) {
    await world.fires(minute, 'cart')
    await world.ends(minute + 0.1, 'cart')
  }
  await world.fires(7.5, 'cart')
  await world.ends(end, 'cart')
  await more(world)
  await world.until(60)
  return world.texts.filter((text) => /^cart is (still )?flapping: /.test(text))
}

test('a flapping service whose state was told at the end of quiet hours has no digest without news', async (t) => {
  const texts = await flapping(t, 10)
  assert.equal(texts.length, 1)
  assert.match(texts[0] ?? '', /^cart is flapping: it came back 3 times within the last hour\./)
})

test('a flapping service that comes back after that has a digest', async (t) => {
  const texts = await flapping(t, 10, async ({ fires, ends }) => {
    await fires(21, 'cart')
    await ends(21.2, 'cart')
  })
  assert.equal(texts.length, 2)
  assert.match(texts[1] ?? '', /^cart is still flapping: it came back 4 times .* It is well now\./)
})

test('a flapping service that ends after quiet hours has a digest with the end', async (t) => {
  const texts = await flapping(t, 21)
  assert.equal(texts.length, 2)
  assert.match(texts[1] ?? '', /^cart is still flapping: .* It is well now\./)
})
