/** Silences count from their own times, even if incmon is stopped or paused as they begin or end. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { WEEKDAYS } from '../../src/domain/time-zone.ts'
import { createSilence } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { ownChannel } from '../helpers/own-channel.ts'

/**
 * Cart fails from minute 1 to 10. A silence covers it, and nothing is swept from minute 3 to 6. Times in minutes. Returns
 * what was told at the end.
 */
async function paused(t: TestContext, from: number, to: number): Promise<string> {
  const { addOwn, fires, ends, until, texts, deps, acme, clock } = ownChannel(t)
  addOwn()
  const period = { startsAt: NOON + from * MINUTE, endsAt: NOON + to * MINUTE, schedule: null, comment: 'work' }
  const matchers = [{ name: 'service', op: '=', value: 'cart' }] as const
  if (from > 1) await createSilence(deps, acme.key, { ...period, matchers }, 'Dana')
  await fires(1, 'cart')
  await until(3)
  clock.now = NOON + 6 * MINUTE
  await ends(10, 'cart')
  await until(13)
  return texts.at(-1) ?? ''
}

for (const [what, from, to, critical, silenced] of [
  ['ends', 2, 4, '7 min', '2 min'],
  ['begins', 5, 8, '6 min', '3 min'],
  ['begins and ends', 4, 5, '8 min', '1 min'],
] as const) {
  test(`a silence that ${what} in the pause is counted exactly`, async (t) => {
    assert.match(
      await paused(t, from, to),
      new RegExp(`it was critical for ${critical} in all, until .*, not counting ${silenced} under a silence`),
    )
  })
}

test('a silence that is over before the pause is counted once', async (t) => {
  assert.match(await paused(t, 1.5, 2.5), /for 8 min in all, until .*, not counting 1 min under a silence/)
})

test('a silence that begins after the problem covers nothing', async (t) => {
  assert.doesNotMatch(await paused(t, 20, 30), /under a silence/)
})

/** Cart fails from minute 1 to 10. A nightly silence, made before noon, covers it from minute 4 to 6, or nearly. */
for (const [what, from, to, made, critical] of [
  ['was made before it', '12:04', '12:06', 0, '7 min in all, until .*, not counting 2 min'],
  ['was made while the problem went on', '12:04', '12:06', 2, '7 min in all, until .*, not counting 2 min'],
  ['has covered nothing the day before', '12:05', '12:06', -1_500, '8 min in all, until .*, not counting 1 min'],
] as const)
  test(`the time before the window of a nightly silence counts if the silence ${what}`, async (t) => {
    const { addOwn, fires, ends, until, texts, deps, acme, clock } = ownChannel(t)
    addOwn()
    const schedule = { weekdays: [...WEEKDAYS], from, to, timeZone: 'UTC' }
    const period = { startsAt: NOON + made * MINUTE, endsAt: NOON + 10_000 * MINUTE, schedule, comment: 'work' }
    const matchers = [{ name: 'service', op: '=', value: 'cart' }] as const
    const make = () => createSilence(deps, acme.key, { ...period, matchers }, 'Dana')
    clock.now = period.startsAt
    if (made <= 0) await make()
    clock.now = NOON
    await fires(1, 'cart')
    if (made > 0) await until(made)
    if (made > 0) await make()
    await until(9)
    await ends(10, 'cart')
    await until(13)
    assert.match(texts.at(-1) ?? '', new RegExp(`it was critical for ${critical} under a silence`))
  })
