/** What the page behind the link in a message, and the API, say about the problem: it goes on, even silenced, or is over. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { acknowledgePath } from '../../src/actions/acknowledgement.ts'
import { createChannel } from '../../src/actions/channels.ts'
import { findChannel, loadChannelSecrets } from '../../src/store/notification/channels.ts'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

/** Returns a world with one critical alert, and functions that return the page's text and the API's. */
async function linked(t: TestContext) {
  const world = makeWorld(t)
  const { request, acme, deps, app } = world
  const labels = { service: 'cart', severity: 'critical' }
  const send = (more: object) =>
    request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager([alert('Down', labels, more)]) })
  await send({ startsAt: NOON - 10 * MINUTE })
  const { body } = await request('GET', '/api/incidents', { token: acme.token })
  const channel = { name: 'ops', kind: 'slack', target: 'https://chat.example/' } as const
  const { id: channelId } = createChannel(deps, acme.key, channel)
  const secrets = loadChannelSecrets(deps.db, findChannel(deps.db, acme.key, channelId)?.rowId ?? 0)
  const path = acknowledgePath(deps, { channelId, incidentId: body.data[0].id }, secrets?.acknowledging ?? '')
  const page = async () => (await makeBrowser(app).get(path)).html
  const state = async () =>
    (await request('GET', `/api/incidents/${body.data[0].id}`, { token: acme.token })).body.problemState
  return { ...world, send, page, state }
}

test('the page says that a silence covers the problem, and not that it is over', async (t) => {
  const { request, acme, charlie, page, state } = await linked(t)
  assert.match(await page(), /The problem goes on\./)
  const matchers = [{ name: 'service', op: '=', value: 'cart' }]
  const silence = { matchers, comment: 'work', endsAt: new Date(NOON + 60 * MINUTE).toISOString() }
  await request('POST', '/api/silences', { token: charlie.token, body: silence })
  assert.match(await page(), /The problem goes on\./)
  await request('POST', '/api/silences', { token: acme.token, body: silence })
  assert.match(await page(), /The problem goes on under a silence\. The service was critical for 10 min/)
  assert.equal(await state(), 'silenced')
})

test('in the minute after its last alert ended, the problem does not go on, and is said to be over only then', async (t) => {
  const { clock, deps, send, page, state } = await linked(t)
  await send({ startsAt: NOON - 10 * MINUTE, endsAt: NOON })
  clock.now += 5_000
  const said = 'will count as over at 12:01:00 UTC, because nothing critical has fired since 12:00:00 UTC'
  assert.equal(await state(), 'settling')
  assert.ok((await page()).includes(`The problem ${said}. The service was critical for 10 min.`))
  clock.now += MINUTE
  while (await deps.engine.sweep());
  assert.equal(await state(), 'off')
  const [over] = (await page()).match(/The problem.*/) ?? []
  assert.match(over ?? '', /^The problem is over\. The service was critical for 10 min\.<\/p>/)
  assert.equal((await page()).split('The problem is over').length, 2)
})

test('the problem of a silenced alert that ends is over', async (t) => {
  const { clock, request, acme, send, state, deps } = await linked(t)
  const matchers = [{ name: 'service', op: '=', value: 'cart' }]
  const silence = { matchers, comment: 'work', endsAt: new Date(NOON + 60 * MINUTE).toISOString() }
  await request('POST', '/api/silences', { token: acme.token, body: silence })
  await send({ startsAt: NOON - 10 * MINUTE, endsAt: NOON })
  clock.now += 2 * MINUTE
  while (await deps.engine.sweep());
  assert.equal(await state(), 'off')
})
