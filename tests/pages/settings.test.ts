/** Settings, sources and search without JavaScript: what administrators can change, and what nobody else can see. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { findOrganization } from '../../src/store/organizations.ts'
import { Time } from '../../src/web/kit/time.tsx'
import { makeWorld } from '../helpers/app.ts'
import { makeIncident, makeSender, makeService, makeToken } from '../helpers/factory.ts'
import { makeBrowser } from '../helpers/site.ts'

async function start(t: TestContext) {
  const world = makeWorld(t)
  const browser = makeBrowser(world.app)
  await browser.signIn(world.acme.token, 'Ada')
  const reader = makeBrowser(world.app)
  await reader.signIn(makeToken(world.db, world.acme, ['read']))
  const charlie = makeBrowser(world.app)
  await charlie.signIn(world.charlie.token)
  return { ...world, browser, reader, outsider: charlie }
}

for (const path of [
  '/',
  '/incidents',
  '/settings',
  '/settings/tokens',
  '/settings/notifications/new',
  '/settings/silences/new',
]) {
  test(`each form of the page ${path} has one CSRF token`, async (t) => {
    const { browser } = await start(t)
    const { html } = await browser.get(path)
    const forms = [...html.matchAll(/<form method="post".*?<\/form>/gs)].map(
      ([form]) => form.split('name="csrf"').length - 1,
    )
    assert.deepEqual([forms.length > 0, new Set(forms)], [true, new Set([1])])
  })
}

test('a page for somebody who is not signed in has no CSRF token', async (t) => {
  const { html } = await makeBrowser((await start(t)).app).get('/sign-in')
  assert.doesNotMatch(html, /csrf/)
})

test('a time outside of a page cannot be rendered, because nobody reads it in any time zone', () => {
  assert.throws(() => Time({ at: 0 }), /a component needs a page around it/)
})

test('a token is created, shown once, and works', async (t) => {
  const { browser, request } = await start(t)
  const { status, html } = await browser.send('/settings/tokens', { name: 'wall screen', scope: 'read' })
  const [, token = ''] = /<code id="secret">(incmon_[\w-]{43})<\/code>/.exec(html) ?? []
  assert.deepEqual([status, (await request('GET', '/api/services', { token })).status], [200, 200])
  assert.doesNotMatch((await browser.get('/settings/tokens')).html, /incmon_[\w-]{43}/)
})

test('a token without a name or scope is refused with an explanation, and typed text is kept', async (t) => {
  const { browser } = await start(t)
  const { status, html } = await browser.send('/settings/tokens', { name: '', cluster: 'production' })
  assert.equal(status, 400)
  assert.match(html, /Name: Empty; write at least one character/)
  assert.match(html, /Scopes: Choose at least one of ingest/)
  assert.match(html, /<legend>Scopes<\/legend><p class="fault">[Cc]hoose at least one of ingest/)
  assert.match(html, /value="production"/)
})

test('a revoked token is refused and no longer listed', async (t) => {
  const { browser, request, db, acme } = await start(t)
  const token = makeToken(db, acme, ['read'], { name: 'old one' })
  const [, id = ''] = /\/settings\/tokens\/([\w-]+)\/revoke/.exec((await browser.get('/settings/tokens')).html) ?? []
  assert.equal(
    (await browser.send(`/settings/tokens/${id}/revoke`, {})).location,
    '/settings/tokens?done=token-revoked',
  )
  assert.equal((await request('GET', '/api/services', { token })).status, 401)
})

test('an administrator lets running deploys silence their services', async (t) => {
  const { browser, request, acme } = await start(t)
  const form = { name: 'Acme', plan: 'Team', 'time-zone': 'UTC', 'auto-incidents': 'critical' }
  const save = (minutes: string) => browser.send('/settings', { ...form, 'deploy-silence-minutes': minutes })
  assert.equal((await save('30')).status, 303)
  const { settings } = (await request('GET', '/api/organization', { token: acme.token })).body
  assert.equal(settings['deploy-silence-minutes'], 30)
  const refused = await save('2 days')
  assert.deepEqual([refused.status, /value="2 days"/.test(refused.html)], [400, true])
})

test("Charlie cannot revoke Acme's token or end Acme's session", async (t) => {
  const { browser, outsider } = await start(t)
  for (const list of ['/settings/tokens', '/settings/sessions']) {
    const [, action = ''] =
      /action="(\/settings\/\w+\/[\w-]+\/(?:revoke|end))"/.exec((await browser.get(list)).html) ?? []
    assert.equal((await outsider.send(action, {})).status, 404)
  }
  assert.equal((await browser.get('/settings')).status, 200)
})

test('a person with read access can open only the general settings', async (t) => {
  const { reader } = await start(t)
  assert.doesNotMatch((await reader.get('/settings')).html, /name="plan"|\/settings\/tokens/)
  for (const path of ['/settings/tokens', '/settings/sessions', '/settings/retention'])
    assert.equal((await reader.get(path)).status, 403)
  assert.equal((await reader.send('/settings', { name: 'Mine' })).status, 403)
})

test('the organization can be renamed, but not to a name that is taken', async (t) => {
  const { browser, db, acme } = await start(t)
  const fields = { plan: 'Pro', 'auto-incidents': 'off', heartbeats: '1', 'time-zone': 'UTC' }
  const taken = await browser.send('/settings', { ...fields, name: 'Charlie' })
  assert.deepEqual([taken.status, /An organization named Charlie already exists/.test(taken.html)], [400, true])
  assert.equal((await browser.send('/settings', { ...fields, name: 'Acme shop' })).status, 303)
  const { name, settings } = findOrganization(db, acme.key) ?? assert.fail()
  assert.deepEqual(
    [name, settings['auto-incidents'], settings['auto-resolve'], settings.heartbeats],
    ['Acme shop', 'off', 'off', true],
  )
})

for (const [events, alerts, incidents, message] of [
  ['0', '400', '730', 'from 1 to 3650'],
  ['30', '9999', '730', 'from 1 to 3650'],
  ['ten', '400', '730', 'from 1 to 3650'],
  ['400', '30', '730', 'cannot be kept longer'],
  ['30', '400', '-1', 'from 0 to 3650'],
] as const) {
  test(`events for ${events}, alerts for ${alerts} and incidents for ${incidents} days are refused`, async (t) => {
    const { browser } = await start(t)
    const { status, html } = await browser.send('/settings/retention', { events, alerts, incidents })
    assert.deepEqual([status, html.includes(message), html.includes(`value="${events}"`)], [400, true, true])
  })
}

test('postmortems can be kept forever', async (t) => {
  const { browser } = await start(t)
  const { status } = await browser.send('/settings/retention', { events: '30', alerts: '400', incidents: '0' })
  const { html } = await browser.get('/settings/retention')
  assert.deepEqual([status, /name="incidents"[^>]*value="0"|value="0"[^>]*name="incidents"/.test(html)], [303, true])
})

test('a session can be ended from another browser', async (t) => {
  const { browser, reader } = await start(t)
  const { html } = await browser.get('/settings/sessions')
  assert.match(html, /Ada[\s\S]*this browser/)
  const [first = '', second = ''] = [...html.matchAll(/\/settings\/sessions\/[\w-]+\/end/g)].map(([action]) => action)
  for (const action of [first, second]) if (action) await browser.send(action, {})
  assert.equal((await reader.get('/')).status, 303)
})

test("a sender is connected with a fresh token and this server's URL", async (t) => {
  const { browser, request } = await start(t)
  const { html } = await browser.send('/sources?connect=dashboard', { connect: 'dashboard' })
  const [, token = ''] = /<code id="secret">(incmon_[\w-]{43})<\/code>/.exec(html) ?? []
  assert.match(html, /<mark>http:\/\/localhost\/api\/webhooks\/dashboard<\/mark>/)
  assert.match(html, /Waiting for the first event from Grafana/)
  const body = { alerts: [{ status: 'firing', labels: { alertname: 'Hello', service: 'cart' } }] }
  assert.equal((await request('POST', '/api/webhooks/dashboard', { token, body })).status, 200)
  assert.match((await browser.get('/sources?connect=dashboard')).html, /Received 1 event from Grafana/)
})

for (const [connect, name] of [
  ['metrics', 'Alertmanager'],
  ['cluster', 'kubernetes-event-exporter'],
  ['ci', 'GitLab CI'],
  ['dashboard', 'Grafana'],
] as const) {
  test(`a test event from ${name} is stored and opens nothing`, async (t) => {
    const { browser, request, acme } = await start(t)
    const { html } = await browser.send(`/sources/test?connect=${connect}`, { connect })
    assert.match(html, /opens no alert\. To open a test alert, run incmon send-test\./)
    assert.match(html, new RegExp(`is marked as a test[\\s\\S]*Received 1 event from ${name}`))
    const get = async (path: string) => (await request('GET', path, { token: acme.token })).body
    assert.equal((await get('/api/events')).data[0].source, connect)
    assert.deepEqual([(await get('/api/alerts')).data, await get('/api/services')], [[], []])
  })
}

test('a test event does not change the page or the token that is shown once', async (t) => {
  const { browser } = await start(t)
  const created = await browser.send('/welcome?connect=metrics', { connect: 'metrics' })
  const [, secret = ''] = /name="secret" value="(incmon_[\w-]{43})"/.exec(created.html) ?? []
  const { status, html } = await browser.send('/welcome/test?connect=metrics', { connect: 'metrics', secret })
  assert.deepEqual([status, /<code id="secret">([^<]+)</.exec(html)?.[1]], [200, secret])
  assert.equal((await browser.get('/welcome/test?connect=metrics')).status, 200)
})

test("Charlie sees no senders and finds nothing of Acme's", async (t) => {
  const { outsider, browser, db, acme } = await start(t)
  makeSender(db, acme, 'secret-receiver')
  makeIncident(db, acme, makeService(db, acme, 'secret-service'))
  for (const path of ['/sources', '/search?q=secret', '/search?q=1'])
    assert.doesNotMatch(
      (await outsider.get(path)).html.replaceAll(/value="[^"]*"|q=[^"]*"|“[^”]*”|<title>[^<]*/g, ''),
      /secret/,
    )
  const { html } = await browser.get('/search?q=secret')
  assert.match(html, /secret-service/)
  assert.equal((await browser.get('/search?q=%231')).location, '/incidents/1')
})

for (const hostile of [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '‮txet',
  'a\u0007b',
  'a'.repeat(300),
]) {
  test(`the text ${JSON.stringify(hostile.slice(0, 30))} is shown as text on every page`, async (t) => {
    const { browser, db, acme } = await start(t)
    makeService(db, acme, hostile)
    makeToken(db, acme, ['read'], { name: hostile.slice(0, 100) })
    await browser.send('/settings/name', { person: hostile })
    for (const path of [
      '/',
      '/settings',
      '/settings/tokens',
      '/settings/sessions',
      `/search?q=${encodeURIComponent(hostile)}`,
    ]) {
      const { status, html } = await browser.get(path)
      assert.deepEqual(
        [status, /<script>|<img|onerror=(?!alert\(1\)&gt;)/.test(html.replaceAll('<wbr/>', ''))],
        [200, false],
        path,
      )
    }
  })
}

test('the first page is the welcome page until something is received', async (t) => {
  const { browser, db, acme } = await start(t)
  assert.match((await browser.get('/')).html, /Nothing has been sent yet/)
  makeService(db, acme, 'cart')
  assert.match((await browser.get('/')).html, /The only service is healthy/)
})

test('a URL that does not exist or only accepts forms gets a page in a browser and JSON elsewhere', async (t) => {
  const { browser } = await start(t)
  for (const path of ['/nope', '/settings/zone', '/services/nope']) {
    const { status, html } = await browser.get(path)
    assert.deepEqual([status, /<h1>There is no page at this URL/.test(html)], [404, true])
  }
  const statuses = ['/nope', '/settings/zone'].map(async (path) => (await browser.get(path, { accept: '*/*' })).status)
  assert.deepEqual(await Promise.all(statuses), [404, 405])
})
