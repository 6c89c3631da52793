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
  assert.doesNotMatch(await text(service), /Recovering for/)
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

/** Ledger went down first, and three services that call it. Then the named ones recovered. */
async function group(t: TestContext, over: readonly string[]) {
  const { request, app, acme, clock, deps } = makeWorld(t)
  const send = (...items: readonly unknown[]) =>
    request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager(items) })
  const down = (service: string, minute: number, more: object = {}) => {
    const summary = service === 'ledger' ? 'The disk is full' : 'connection to ledger:5432 refused'
    return alert('Down', { service, severity: 'critical' }, { startsAt: NOON + minute * MINUTE, summary, ...more })
  }
  const all = ['ledger', 'cart', 'till', 'web']
  clock.now += 4 * MINUTE
  await send(...all.map((service, index) => down(service, index)))
  clock.now += 4 * MINUTE
  await send(...over.map((service) => down(service, all.indexOf(service), { endsAt: clock.now })))
  clock.now += 2 * MINUTE
  while (await deps.engine.sweep());
  const browser = makeBrowser(app)
  await browser.signIn(acme.token, 'Ada')
  return async (path: string) => (await browser.get(path)).html.replace(/<[^>]*>|\s+/g, ' ').replace(/ +/g, ' ')
}

for (const [what, over, expected] of [
  ['of what went first while it goes on', ['till'], /Critical for \d+ min Open 4 incidents ledger went first/],
  [
    'of the others once what went first has recovered',
    ['ledger'],
    /3 critical for up to 9 min 4 incidents ledger went first/,
  ],
  [
    'of what went first once all have recovered',
    ['ledger', 'cart', 'till', 'web'],
    /Was critical for 8 min Monitoring 4 incidents/,
  ],
] as const) {
  test(`the card of a group has the state ${what}`, async (t) => {
    const text = await group(t, over)
    assert.match(await text('/'), expected)
    const wall = await text('/?view=wall&tv=1')
    if (over.length < 4)
      assert.match(wall, over[0] === 'till' ? /Critical for \d+ min Open ledger/ : /3 critical for up to 9 min ledger/)
    else assert.doesNotMatch(wall, /critical for|critical ledger/i)
  })
}

test('the score of a service begins with its problem, also after its incident was resolved', async (t) => {
  const { request, app, acme, clock } = makeWorld(t)
  const { token } = acme
  const startsAt = clock.now - 9 * MINUTE
  const send = (more: object) =>
    request('POST', '/api/webhooks/metrics', {
      token,
      body: alertmanager([alert('Down', { service: 'cart', severity: 'critical' }, { startsAt, ...more })]),
    })
  await send({})
  const [service] = (await request('GET', '/api/services', { token })).body
  clock.now += 5 * MINUTE
  await send({ endsAt: clock.now })
  const [incident] = (await request('GET', '/api/incidents', { token })).body.data
  await request('PATCH', `/api/incidents/${incident.id}`, { token, body: { status: 'resolved' } })
  const browser = makeBrowser(app)
  await browser.signIn(token)
  const { html } = await browser.get(`/services/${service.id}?range=1h`)
  // 46 of 60 minutes, and not 55, when the first event came.
  assert.match(html, /<g class="lanes-score">.*?<g class="level-critical"><rect x="76\.67%"/s)
})
