/** Silences that begin or end while incmon is stopped or paused count from their own times. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
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
