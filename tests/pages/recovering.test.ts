/** What pages say about services that were unhealthy, and about incidents whose title names what is over. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

/** The cart was down for five minutes, until three minutes ago. Ada is signed in. */
async function recovered(t: TestContext) {
  const { request, app, acme, clock, deps } = makeWorld(t)
  const send = (...items: readonly unknown[]) =>
    request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager(items) })
  const down = (more: object) => alert('Down', { service: 'cart' }, { startsAt: NOON, ...more })
  await send(down({}))
  clock.now += 5 * MINUTE
  await send(down({ endsAt: clock.now }))
  clock.now += 3 * MINUTE
  await deps.engine.sweep()
  const browser = makeBrowser(app)
  await browser.signIn(acme.token, 'Ada')
  const text = async (path: string) => (await browser.get(path)).html.replace(/<[^>]*>|\s+/g, ' ').replace(/ +/g, ' ')
  const { body } = await request('GET', '/api/services', { token: acme.token })
  return { send, text, browser, clock, service: `/services/${body[0].id}` }
}

test('every page calls a service recovering of which nothing fires', async (t) => {
  const { text, browser, service } = await recovered(t)
  assert.match(await text('/'), /1 service is recovering: cart\. .* 1 recovering .* shop\/ ?cart recovering/)
  assert.match(await text('/?status=recovering'), /shop\/ ?cart recovering/)
  assert.match(await text('/?view=wall'), /1 service is recovering [^,]/)
  assert.doesNotMatch((await browser.get('/?view=wall&tv=1')).html, /tv-tile/)
  assert.match(await text(service), /cart is recovering .* Recovering: alerts lower the score until 30 minutes after/)
  assert.match(await text('/incidents'), /Was critical for 5 min until 12:05, recovering now\./)
  assert.match(await text('/search?q=car'), /recovering, score \d+/)
})

for (const [what, name, severity, state] of [
  ['another alert of the same name', 'Down', 'warning', 'degraded'],
  ['an error', 'Errors', 'error', 'degraded'],
  ['information', 'Deployed', 'info', 'recovering'],
] as const) {
  test(`a service is ${state} after an alert while ${what} fires`, async (t) => {
    const { send, text, service, clock } = await recovered(t)
    await send(alert(name, { service: 'cart', severity, route: '/pay' }, { startsAt: clock.now - MINUTE }))
    assert.match(await text(service), new RegExp(`cart is ${state}`))
  })
}

test('services that need attention and those that recover are counted separately', async (t) => {
  const { send, text } = await recovered(t)
  await send(alert('Slow', { service: 'web', severity: 'warning' }, { startsAt: NOON }))
  assert.match(await text('/'), /1 service is degraded: web\. 1 is recovering\./)
  assert.match(await text('/?view=wall'), /1 service needs attention, 1 is recovering/)
})

test('an incident names what goes on now if its title names what is over', async (t) => {
  const { send, text, clock } = await recovered(t)
  const slow = alert('Latency', { service: 'cart' }, { startsAt: clock.now })
  await send(slow)
  for (const path of ['/', '/incidents', '/incidents/1']) assert.match(await text(path), /cart: Down .*Now: Latency\./)
  await send(alert('Down', { service: 'cart' }, { startsAt: clock.now }), slow)
  for (const path of ['/', '/incidents', '/incidents/1']) assert.doesNotMatch(await text(path), /Now: /)
})
