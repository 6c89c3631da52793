/** What the page of an incident says about its fix, its service, its messages and its group, and files for phones. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { recordFailure } from '../../src/store/notification/channels.ts'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, build, pipeline } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

/** Reports that cart is down since a minute before noon. Ada is signed in. */
async function broken(t: TestContext) {
  const world = makeWorld(t)
  const { token } = world.acme
  const report = (over: Readonly<Record<string, number>> = {}, name = 'Down', service = 'cart') =>
    world.request('POST', '/api/webhooks/metrics', {
      token,
      body: alertmanager([alert(name, { service, severity: 'critical' }, { startsAt: NOON - MINUTE, ...over })]),
    })
  await report()
  const [browser, outsider] = [makeBrowser(world.app), makeBrowser(world.app)]
  await browser.signIn(token, 'Ada')
  await outsider.signIn(world.charlie.token, 'Charlie')
  const text = async (path: string, by = browser) =>
    (await by.get(path)).html.replace(/<[^>]*>|\s+/g, ' ').replace(/ +/g, ' ')
  const deploy = (at: number) => {
    const body = pipeline('success', 'shop/cart', { at, jobs: [build('deploy', 'success')] })
    return world.request('POST', '/api/webhooks/ci', { token, body })
  }
  return { ...world, token, report, deploy, browser, outsider, text }
}

/** The problem ends at the given minute after noon, and settles. */
async function recover({ clock, report, deps }: Awaited<ReturnType<typeof broken>>, minute: number) {
  clock.now = NOON + minute * MINUTE
  await report({ endsAt: clock.now })
  clock.now += 3 * MINUTE
  while (await deps.engine.sweep());
}

test('a deploy after which the problem ended is a probable fix and no suspect', async (t) => {
  const world = await broken(t)
  await world.deploy(NOON + 6 * MINUTE)
  await recover(world, 8)
  const page = await world.text('/incidents/1')
  assert.match(page, /Probable fix: deploy shop\/cart#31 ?, finished \d+ min before the problem ended/)
  assert.doesNotMatch(page, /Likely cause|Possible cause/)
  assert.match(
    await world.text('/'),
    /Was critical for \d+ min until 12:08, \w+ now\. Probable fix: deploy shop\/cart#31/,
  )
})

test('a deploy is called good only if a change is suspected, and never just before a user declared an incident', async (t) => {
  const world = await broken(t)
  const deploy = async (id: number, at: number) => {
    const body = pipeline('success', 'shop/search', { id, at, jobs: [build('deploy', 'success')] })
    await world.request('POST', '/api/webhooks/ci', { token: world.token, body })
  }
  await deploy(40, NOON - 300 * MINUTE)
  await deploy(41, NOON - 12 * MINUTE)
  const { body } = await world.request('GET', '/api/services', { token: world.token })
  const { id } = body.find(({ name }: { name: string }) => name === 'search')
  const declared = { title: 'Results are empty', serviceId: id, severity: 'critical' }
  assert.equal((await world.request('POST', '/api/incidents', { token: world.token, body: declared })).status, 201)
  assert.match(await world.text('/incidents/2'), /Earlier deploy: #40/)
  assert.doesNotMatch(await world.text('/incidents/2'), /Last good deploy/)
  assert.match(await world.text(`/services/${id}`), /Last good deploy: #41/)
})

test('each fact of a card leads to its evidence', async (t) => {
  const world = await broken(t)
  const { html } = await world.browser.get('/')
  const [article = ''] = /<article.*?<\/article>/s.exec(html) ?? []
  assert.match(article, /href="\/incidents\/1#alerts">1 alert<\/a>/)
  assert.match(article, /href="\/services\/[0-9a-f-]{36}"><span[^>]*>shop\/<\/span><wbr\/><b>(?:<bdi>)?cart/)
  assert.match((await world.browser.get('/incidents')).html, /href="\/incidents\/1#alerts">\s*1\s*<\/a>/)
  assert.match((await world.browser.get('/incidents/1')).html, /id="alerts"/)
})

test('while nothing is open, the first button declares an incident, or reopens what still fires', async (t) => {
  const world = await broken(t)
  const primary = async (path: string, by = world.browser) =>
    [...(await by.get(path)).html.matchAll(/class="button [^"]*primary"[^>]*>\s*([^<]+)/g)].map(([, text]) =>
      text?.trim(),
    )
  const all = async () => [await primary('/'), await primary('/incidents')]
  assert.deepEqual(await all(), [['Acknowledge'], ['Declare incident']])
  await world.browser.send('/incidents/1/status', { status: 'resolved' })
  assert.deepEqual(await all(), [
    ['Declare incident', 'Reopen'],
    ['Declare incident…', 'Declare incident'],
  ])
  await recover(world, 6)
  assert.deepEqual(await primary('/'), ['Declare incident…', 'Declare incident'])
})

test('a deploy is no fix while an alert of the service is still firing', async (t) => {
  const world = await broken(t)
  await world.report({}, 'Errors')
  await world.deploy(NOON + 6 * MINUTE)
  await recover(world, 8)
  assert.doesNotMatch(await world.text('/incidents/1'), /Probable fix/)
})

test('a deploy an hour before the recovery is no fix', async (t) => {
  const world = await broken(t)
  await world.deploy(NOON + 6 * MINUTE)
  await recover(world, 64)
  assert.doesNotMatch(await world.text('/incidents/1'), /Probable fix/)
})

test('the page says that a recovered incident resolves automatically only if it does', async (t) => {
  const world = await broken(t)
  await recover(world, 6)
  assert.match(await world.text('/'), /Resolves automatically/)
  await world.request('PATCH', '/api/organization', {
    token: world.token,
    body: { settings: { 'auto-resolve': 'off' } },
  })
  assert.doesNotMatch(await world.text('/'), /Resolves automatically/)
})

test('a declared incident affects the service that it names', async (t) => {
  const { browser, text } = await broken(t)
  await browser.send('/incidents', { title: 'Invoices are empty', service: 'cart', severity: 'error' })
  assert.match(
    await text('/incidents/2'),
    /Error since 12:00 .*It has no alerts\. .*Affected 1 service shop\/ cart named by the incident since 12:00/,
  )
})

/** The pages that say who was told about an incident. */
const TELLING = ['/', '/incidents', '/?view=wall', '/?view=wall&tv=1']

test('the pages say that nobody is notified, and with a new channel, what waits for it', async (t) => {
  const { text, request, token } = await broken(t)
  for (const path of ['/incidents/1', ...TELLING])
    assert.match(await text(path), /Nobody is notified: add a channel/, path)
  await request('POST', '/api/channels', { token, body: { name: 'p', kind: 'ntfy', url: 'https://ntfy.sh/a-topic' } })
  for (const path of ['/incidents/1', ...TELLING]) {
    assert.match(await text(path), /To be told: .?p.? \(next digest\)\./, path)
    assert.doesNotMatch(await text(path), /Nobody is notified/, path)
  }
})

test('the pages say which channel was told', async (t) => {
  const { report, request, token, text, browser } = await broken(t)
  await request('POST', '/api/channels', { token, body: { name: 'p', kind: 'ntfy', url: 'https://ntfy.sh/a-topic' } })
  await report({}, 'Down', 'search')
  const told = /(To be told: .?p.? \(|Told: .?p.? ?, last 12:00)/
  assert.match(await text('/incidents/2'), told)
  await browser.send('/incidents/1/status', { status: 'resolved' })
  for (const path of TELLING) assert.match(await text(path), told, path)
})

test('the pages say which channel was not told because it fails, and the overview says so first', async (t) => {
  const { report, request, token, text, deps, outsider } = await broken(t)
  const body = { name: 'pager', kind: 'ntfy', url: 'https://ntfy.sh/a-topic' }
  await request('POST', '/api/channels', { token, body })
  const rules = [{ namespaces: ['none'] }]
  await request('POST', '/api/channels', { token, body: { ...body, name: 'team', rules } })
  await report({}, 'Down', 'search')
  recordFailure(deps.db, 1, 'the receiver responded with 503', NOON, false)
  const notTold = /Not told: .?pager.? \(failing since 12:00 ?\), .?team.? \(rule\)\./
  assert.match(await text('/incidents/2'), notTold)
  for (const path of TELLING) assert.match(await text(path), /Not told: .?pager.? \(failing since 12:00 ?\)/, path)
  for (const path of ['/', '/?view=wall', '/?view=wall&tv=1'])
    assert.match(await text(path), /Messages are not delivered to .?pager.? since 12:00 ?\./, path)
  assert.doesNotMatch((await outsider.get('/')).html, /pager/)
})

test('the overview says nothing about channels that work', async (t) => {
  const { request, token, text } = await broken(t)
  await request('POST', '/api/channels', { token, body: { name: 'p', kind: 'ntfy', url: 'https://ntfy.sh/a-topic' } })
  assert.doesNotMatch(await text('/'), /not delivered/)
})

test('the pages say since when a firing alert was not heard, until it is reported again', async (t) => {
  const { clock, request, token, report, text } = await broken(t)
  const { data } = (await request('GET', '/api/alerts', { token })).body
  const shown = () => Promise.all(['/incidents/1', `/alerts/${data[0].id}`, ...TELLING].map((path) => text(path)))
  clock.now = NOON + 14 * MINUTE
  for (const page of await shown()) assert.doesNotMatch(page, /Not heard/)
  clock.now = NOON + 20 * MINUTE
  for (const page of await shown()) assert.match(page, /Not heard since 12:00 ?\./)
  await report()
  for (const page of await shown()) assert.doesNotMatch(page, /Not heard/)
})

test('an incident names the previous incident of its service', async (t) => {
  const world = await broken(t)
  await recover(world, 6)
  world.clock.now = NOON + 50 * MINUTE
  await world.report({ startsAt: world.clock.now })
  while (await world.deps.engine.sweep());
  assert.match(await world.text('/incidents/2'), /The service’s previous incident was incident 1 ?\./)
  assert.doesNotMatch(await world.text('/incidents/1'), /previous incident/)
})

test('the legend explains only what the picture contains', async (t) => {
  const { text } = await broken(t)
  const [, legend = ''] = /What happened when(.*?)As a table/.exec(await text('/incidents/1')) ?? []
  assert.match(legend, /critical Copy as image $/)
  assert.doesNotMatch(legend, /the score of the change|warning|error/)
})

test('/services is the list of services, with its filters', async (t) => {
  const { browser, app } = await broken(t)
  assert.equal((await browser.get('/services?status=critical')).location, '/?status=critical')
  assert.match((await makeBrowser(app).get('/services')).location, /^\/sign-in\?to=%2Fservices/)
})

test('a phone can keep incmon on its home screen', async (t) => {
  const { browser } = await broken(t)
  const { html } = await browser.get('/')
  const path = /<link rel="manifest" href="([^"]+)"/.exec(html)?.[1] ?? ''
  const file = await browser.get(path)
  assert.equal(file.headers.get('content-type'), 'application/manifest+json')
  const { start_url, icons } = JSON.parse(file.html)
  assert.equal(new URL(start_url, `http://host${path}`).pathname, '/')
  const icon = await browser.get(new URL(icons[0].src, `http://host${path}`).pathname)
  assert.deepEqual([icon.status, icon.headers.get('content-type')], [200, 'image/svg+xml'])
})

test("Charlie sees nothing of Acme's incident", async (t) => {
  const { outsider } = await broken(t)
  assert.equal((await outsider.get('/incidents/1')).status, 404)
})

test('an acknowledgement can be undone where it is confirmed', async (t) => {
  const { browser, text, request, token } = await broken(t)
  const { location } = await browser.send('/incidents/1/status', { status: 'investigating' })
  assert.match(await text(location), /Acknowledged\. Undo/)
  const undone = await browser.send('/incidents/unacknowledge', { incidents: '1' })
  assert.equal(undone.location, '/incidents/1?done=unacknowledged')
  const [incident] = (await request('GET', '/api/incidents', { token })).body.data
  assert.deepEqual([incident.status, incident.acknowledgedAt, incident.acknowledgedBy], ['open', null, null])
  assert.match(await text('/incidents/1'), /Nobody has acknowledged it/)
})

test('only an acknowledgement can be undone', async (t) => {
  const { browser, request, token } = await broken(t)
  await browser.send('/incidents/1/status', { status: 'identified' })
  for (const incidents of ['1', '', 'x', '99', '-1', '1e0'])
    await browser.send('/incidents/unacknowledge', { incidents })
  assert.equal((await request('GET', '/api/incidents', { token })).body.data[0].status, 'identified')
})

test('an address offers no undo for anything but numbers', async (t) => {
  const { text } = await broken(t)
  for (const undo of ['', '1,', 'x', '1;2', '<b>']) {
    assert.doesNotMatch(await text(`/?done=acknowledged&undo=${encodeURIComponent(undo)}`), /Undo/)
  }
})

test("Charlie cannot undo Acme's acknowledgement", async (t) => {
  const { browser, outsider, request, token } = await broken(t)
  await browser.send('/incidents/1/status', { status: 'investigating' })
  await outsider.send('/incidents/unacknowledge', { incidents: '1' })
  assert.equal((await request('GET', '/api/incidents', { token })).body.data[0].status, 'investigating')
})

test('a change in the picture lights up together with its conditions, and nothing lights up without a link', async (t) => {
  const linked = await broken(t)
  await linked.deploy(NOON - 2 * MINUTE)
  const { html } = await linked.browser.get('/incidents/1')
  assert.match(html, /<a href="[^"]*" class="dims lights-0 of-0"><title>[^<]*[Pp]ipeline/)
  assert.match(html, /<a href="[^"]*" class="dims of-0"><title>Down/)
  const alone = await broken(t)
  assert.doesNotMatch((await alone.browser.get('/incidents/1')).html, /lights-\d|of-\d/)
})
