/** The welcome page: the first sender, and example data that can be loaded and removed with one click. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { EXAMPLE_CLUSTER } from '../../src/domain/example/recorded.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeIncident, makeService, makeToken } from '../helpers/factory.ts'
import { build, pipeline } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

const LOAD = '/welcome/example'
const REMOVE = '/welcome/example/remove'
/** Tables that must not contain anything from the example after it is removed. */
const TABLES = [
  ...['services', 'alerts', 'events', 'payloads', 'incidents', 'timeline', 'pipelines', 'correlations', 'senders'],
  ...['groups', 'images', 'image_projects', 'aliases', 'alert_counts', 'service_alert_counts', 'service_states'],
] as const

async function start(t: TestContext) {
  const world = makeWorld(t)
  const { token } = world.acme
  const browser = makeBrowser(world.app)
  await browser.signIn(token)
  const { db } = world
  const count = (table: (typeof TABLES)[number]) =>
    db.first(db.sql.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('rows')))?.rows
  const counts = () => Object.fromEntries(TABLES.map((table) => [table, count(table)]))
  const sendAlert = (token = world.acme.token) =>
    world.request('POST', '/api/webhooks/metrics', {
      token,
      body: {
        alerts: [{ labels: { alertname: 'DiskFull', namespace: 'shop', service: 'checkout', severity: 'error' } }],
      },
    })
  return { ...world, browser, counts, sendAlert, token }
}

test('the example fills an empty installation with an incident, and says that it is an example', async (t) => {
  const { browser, request, token } = await start(t)
  assert.match((await browser.get('/')).html, /Nothing has been sent yet[\s\S]*Load the example/)
  assert.equal((await browser.send(LOAD, {})).location, '/?done=example-loaded')
  assert.match((await browser.get('/')).html, /This is an example[\s\S]*critical: checkout/)
  const { body } = await request('GET', '/api/incidents', { token })
  assert.deepEqual(
    body.data.map(({ status, severity }: Record<string, string>) => [status, severity]),
    [['open', 'critical']],
  )
})

test('the events of the example are not the first events of a sender', async (t) => {
  const { browser } = await start(t)
  await browser.send(LOAD, {})
  assert.match(
    (await browser.get('/welcome?connect=alertmanager')).html,
    /Waiting for the first event from Alertmanager/,
  )
})

test('after the first event, the welcome page connects another sender and offers no example', async (t) => {
  const { browser, sendAlert } = await start(t)
  await sendAlert()
  const { html } = await browser.get('/welcome')
  assert.match(html, /<h1>Connect another sender\.<[\s\S]*Events have arrived/)
  assert.doesNotMatch(html, /Nothing has been sent yet|Load the example/)
})

test('after a test event, which creates no service, the first page still connects a sender and offers the example', async (t) => {
  const { browser } = await start(t)
  await browser.send('/welcome/test', { connect: 'metrics' })
  assert.match((await browser.get('/')).html, /There are no services yet[\s\S]*Create token[\s\S]*Load the example/)
  await browser.send(LOAD, {})
  assert.match((await browser.get('/')).html, /critical: checkout/)
  await browser.send(REMOVE, {})
  assert.match((await browser.get('/')).html, /There are no services yet[\s\S]*Load the example/)
})

test('one click removes the example completely, and the welcome page returns', async (t) => {
  const { browser, counts, request, token } = await start(t)
  const before = counts()
  await browser.send(LOAD, {})
  assert.ok((counts().alerts ?? 0) > 400)
  assert.equal((await browser.send(REMOVE, {})).location, '/?done=example-removed')
  assert.deepEqual(counts(), before)
  assert.match((await browser.get('/')).html, /Nothing has been sent yet/)
  assert.deepEqual((await request('GET', '/api/alerts?status=firing', { token })).body.data, [])
})

test('a pipeline and an alert from real senders never belong to an example service', async (t) => {
  const { browser, request, token } = await start(t)
  await browser.send(LOAD, {})
  const body = pipeline('failed', 'acme/search', { jobs: [build('deploy', 'failed')] })
  const sent = await request('POST', '/api/webhooks/ci', { token, body })
  const labels = { alertname: 'Down', namespace: 'example-shop', service: 'cart', cluster: EXAMPLE_CLUSTER }
  const down = await request('POST', '/api/webhooks/metrics', { token, body: { alerts: [{ labels }] } })
  await browser.send(REMOVE, {})
  for (const { eventId, eventIds } of [sent.body, down.body]) {
    assert.equal((await request('GET', `/api/events/${eventId ?? eventIds[0]}`, { token })).status, 200)
  }
})

test("the example is removed even if another service's incident was merged into its incident", async (t) => {
  const { browser, sendAlert, request, token, acme, db } = await start(t)
  await browser.send(LOAD, {})
  await sendAlert()
  const own = makeIncident(db, acme, makeService(db, acme, 'mine'))
  const { data } = (await request('GET', '/api/incidents', { token })).body
  const example = data.find(({ id }: { id: string }) => id !== own.id)
  await request('POST', `/api/incidents/${own.id}/merge`, { token, body: { into: example.id } })
  assert.equal((await browser.send(REMOVE, {})).location, '/?done=example-removed')
})

test('what real senders sent in the meantime is kept and continues', async (t) => {
  const { browser, clock, sendAlert, request, token } = await start(t)
  await browser.send(LOAD, {})
  await sendAlert()
  await browser.send(REMOVE, {})
  clock.now += 60_000
  await sendAlert()
  const { body } = await request('GET', '/api/alerts?status=firing', { token })
  assert.deepEqual(
    body.data.map(({ name, occurrences }: { name: string; occurrences: number }) => [name, occurrences]),
    [['DiskFull', 2]],
  )
  assert.doesNotMatch((await browser.get('/')).html, /This is an example/)
})

test('a real service with the same name is not affected by the example', async (t) => {
  const { browser, counts, sendAlert, request, token } = await start(t)
  await sendAlert()
  const before = counts()
  await browser.send(LOAD, {})
  const services = (await request('GET', '/api/services', { token })).body
  const names = services.map(({ namespace, name }: Record<string, string>) => `${namespace}/${name}`)
  assert.deepEqual([names.includes('shop/checkout'), names.includes('example-shop/checkout')], [true, true])
  await browser.send(REMOVE, {})
  assert.deepEqual(counts(), before)
})

test('the messages of the example use its own namespace, like its alerts', async (t) => {
  const { browser, request, token } = await start(t)
  await browser.send(LOAD, {})
  const { data } = (await request('GET', '/api/alerts?source=cluster', { token })).body
  const messages = data.map(({ summary }: { summary: string }) => summary).filter((text: string) => text.includes('_'))
  assert.match(messages.join('\n'), / pod checkout-\S+_example-shop/)
  assert.doesNotMatch(messages.join('\n'), /_shop/)
})

test('the example is never loaded twice', async (t) => {
  const { browser, counts } = await start(t)
  await browser.send(LOAD, {})
  const before = counts()
  const { status, html } = await browser.send(LOAD, {})
  assert.deepEqual([status, /The example is already loaded/.test(html), counts()], [409, true, before])
})

test('removing without an example changes nothing', async (t) => {
  const { browser, counts, sendAlert } = await start(t)
  await sendAlert()
  const before = counts()
  assert.equal((await browser.send(REMOVE, {})).status, 303)
  assert.deepEqual(counts(), before)
})

test("Charlie cannot see or remove Acme's example", async (t) => {
  const { app, browser, charlie, counts } = await start(t)
  await browser.send(LOAD, {})
  const before = counts()
  const outsider = makeBrowser(app)
  await outsider.signIn(charlie.token)
  assert.match((await outsider.get('/')).html, /Nothing has been sent yet/)
  await outsider.send(REMOVE, {})
  assert.deepEqual(counts(), before)
})

test('without the admin scope the example can be neither loaded nor removed', async (t) => {
  const { app, db, acme, counts } = await start(t)
  const writer = makeBrowser(app)
  await writer.signIn(makeToken(db, acme, ['read', 'write']))
  assert.doesNotMatch((await writer.get('/welcome')).html, /Load the example/)
  assert.deepEqual([(await writer.send(LOAD, {})).status, (await writer.send(REMOVE, {})).status], [403, 403])
  assert.equal(counts().alerts, 0)
})

test("the configuration for a sender has this server's URL and a fresh token, and the first event is detected", async (t) => {
  const { browser, sendAlert } = await start(t)
  const { html } = await browser.send('/welcome?connect=other', { connect: 'other' })
  const [, token = ''] = /Authorization: Bearer (incmon_[\w-]{43})/.exec(html) ?? []
  assert.match(html, /http:\/\/localhost[\s\S]*\/api\/webhooks\/metrics[\s\S]*Waiting for the first event/)
  assert.match(html, /id="welcome-lead" data-live[^>]*>\s*<h1>Nothing has been sent yet/)
  assert.equal((await sendAlert(token)).status, 200)
  const { html: after } = await browser.get('/welcome?connect=other')
  assert.match(after, /id="welcome-lead"[^>]*>\s*<h1>Connect another sender[\s\S]*Received 1 event from your sender/)
})
