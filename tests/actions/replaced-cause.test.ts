/** The likely cause of a problem that comes back after another deploy. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { findLikelyCause } from '../../src/store/incident/likely-cause.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, build, pipeline } from '../helpers/senders.ts'

/** A deploy fails, the cart is down from minute 2 to 4, and again from minute 12. `next`: the minute of the next deploy. */
async function causeAfter(t: TestContext, next: number | null) {
  const { send, sweepUntil, incidents, deps, acme, clock } = makeFlow(t)
  const labels = { service: 'cart', namespace: 'shop' }
  const down = (from: number, to?: number) => {
    const ends = to === undefined ? {} : { endsAt: NOON + to * MINUTE }
    const times = { startsAt: NOON + from * MINUTE, ...ends }
    return send('metrics', alertmanager([alert('Down', labels, times)]))
  }
  const deploy = (id: number, minute: number, status: string) => {
    const at = NOON + minute * MINUTE
    return send('ci', pipeline(status, 'shop/cart', { id, at, duration: 60, jobs: [build('deploy', status)] }))
  }
  await sweepUntil(NOON + MINUTE)
  await deploy(41, 1, 'failed')
  await sweepUntil(NOON + 2 * MINUTE)
  await down(2)
  await sweepUntil(NOON + 4 * MINUTE)
  await down(2, 4)
  if (next !== null) {
    await sweepUntil(NOON + next * MINUTE)
    await deploy(42, next, 'success')
  }
  await sweepUntil(NOON + 12 * MINUTE)
  await down(12)
  await sweepUntil(NOON + 13 * MINUTE)
  return findLikelyCause(deps.db, acme.key, incidents()[0]?.id ?? '', clock.now)?.cause ?? ''
}

test('the failed deploy is the likely cause as long as no other deploy followed it', async (t) => {
  assert.match(await causeAfter(t, null), /^Likely cause: .*shop\/cart#41/)
})

test('a deploy that another one has followed is not named when the problem comes back', async (t) => {
  assert.doesNotMatch(await causeAfter(t, 11), /#41/)
})
