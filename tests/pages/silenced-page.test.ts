/** What pages say about a problem that a silence covers while it goes on. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

/** The cart is down and, after five minutes, Ada silences it for two hours. */
async function silenced(t: TestContext) {
  const { request, app, acme, charlie, clock, deps } = makeWorld(t)
  const send = (more: object = {}) =>
    request('POST', '/api/webhooks/metrics', {
      token: acme.token,
      body: alertmanager([alert('Down', { service: 'cart', severity: 'critical' }, { startsAt: NOON, ...more })]),
    })
  await send()
  clock.now += 5 * MINUTE
  const [browser, outsider] = [makeBrowser(app), makeBrowser(app)]
  await browser.signIn(acme.token, 'Ada')
  await outsider.signIn(charlie.token, 'Charlie')
  await browser.send('/settings/silences/quick', { matchers: 'service="cart"', length: '2h', back: '/' })
  while (await deps.engine.sweep());
  clock.now += 10 * MINUTE
  while (await deps.engine.sweep());
  await send()
  const text = async (path: string) => (await browser.get(path)).html.replace(/<[^>]*>|\s+/g, ' ').replace(/ +/g, ' ')
  const { body } = await request('GET', '/api/services', { token: acme.token })
  return { text, send, clock, deps, outsider, service: `/services/${body[0].id}` }
}

const WORDS = /Silenced by .?Ada.? until 14:05; still firing/

test('every page says who silenced a problem that goes on, and until when', async (t) => {
  const { text, service } = await silenced(t)
  for (const path of ['/', '/?view=wall&tv=1', '/incidents', '/incidents/1', service])
    assert.match(await text(path), WORDS, path)
  assert.match(await text('/incidents/1'), /^ Silenced: cart: Down/)
  assert.match(await text(service), /^ cart is healthy, 1 alert silenced/)
})

test('a silenced problem is not called recovered, healthy or about to be resolved', async (t) => {
  const { text, service } = await silenced(t)
  for (const path of ['/', '/?view=wall&tv=1', '/incidents', '/incidents/1', service])
    assert.doesNotMatch(await text(path), /Recovered|healthy now|Resolves automatically|Was critical/, path)
})

test('once the alert has ended, the problem is over in spite of the silence', async (t) => {
  const { text, send, clock, deps } = await silenced(t)
  clock.now += 2 * MINUTE
  await send({ endsAt: clock.now })
  clock.now += 3 * MINUTE
  while (await deps.engine.sweep());
  const page = await text('/incidents/1')
  assert.doesNotMatch(page, /still firing/)
  assert.match(page, /Was critical for [\w ]+ between [0-9:]+ and [0-9:]+, not counting [\w ]+ under a silence/)
})

test("Charlie sees nothing of Acme's silenced incident", async (t) => {
  const { outsider, service } = await silenced(t)
  for (const path of ['/incidents/1', service]) assert.equal((await outsider.get(path)).status, 404)
})
