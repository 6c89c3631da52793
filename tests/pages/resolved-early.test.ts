/** An incident that is resolved while its alerts are firing: what the overview and the incident page say about it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, build, pipeline } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

/** Two alerts of cart are firing, and a deploy has failed. Ada is signed in. `end` ends both alerts. */
async function brokenCart(t: TestContext) {
  const { request, app, acme, charlie, clock } = makeWorld(t)
  const { token } = acme
  const post = (source: string, body: unknown, who = token) =>
    request('POST', `/api/webhooks/${source}`, { token: who, body })
  const alerts = (times: object) =>
    alertmanager(
      ['Down', 'Slow'].map((name) => alert(name, { service: 'cart' }, { startsAt: NOON - MINUTE, ...times })),
    )
  await post('metrics', alerts({}))
  await post('ci', pipeline('failed', 'shop/cart', { at: NOON, jobs: [build('deploy', 'failed')] }))
  const browser = makeBrowser(app)
  await browser.signIn(token, 'Ada <b>')
  const setStatus = (status: string) => browser.send('/incidents/1/status', { status })
  const page = async (path: string, visitor = browser) =>
    (await visitor.get(path)).html.replace(/<\/?(?:bdi|time|span|p)\b[^>]*>/g, '').replace(/\s+/g, ' ')
  const end = () => post('metrics', alerts({ endsAt: clock.now }))
  return { app, browser, charlie, clock, post, alerts, page, setStatus, end }
}

test('the overview links the critical service to its incident, and says who resolved it when', async (t) => {
  const { page, setStatus, clock } = await brokenCart(t)
  await setStatus('resolved')
  clock.now = NOON + 3 * MINUTE
  const html = await page('/')
  assert.match(html, /1 service is critical: cart\./)
  assert.match(
    html,
    /<a href="\/incidents\/1">Incident 1<\/a> was resolved by Ada &lt;b&gt; 3 min ago, but 2 alerts are still firing\./,
  )
})

test('the overview, the screen and the list say since when, why, and who was told, until the alerts have ended', async (t) => {
  const { page, setStatus, clock, end } = await brokenCart(t)
  await setStatus('resolved')
  clock.now = NOON + 3 * MINUTE
  const text = async (path: string) => (await page(path)).replace(/<[^>]*>|\s+/g, ' ').replace(/ +/g, ' ')
  const cause = 'Likely cause: failed deploy ?shop/cart#31 ?, started 4 min before the first alert'
  const told = 'Nobody is notified: add a channel'
  assert.match(await text('/'), new RegExp(`Critical for 4 min ?, since 11:59 ?\\. .*${cause}\\. ?${told}`))
  assert.match(
    await text('/?view=wall&tv=1'),
    new RegExp(`Critical for 4 min.*Resolved.*${cause}\\..*resolved.*${told}`),
  )
  assert.match(await text('/incidents'), new RegExp(`${cause}\\. ?${told}.* 4 min so far`))
  await end()
  for (const path of ['/', '/?view=wall&tv=1', '/incidents'])
    assert.doesNotMatch(await text(path), new RegExp(`${cause}|${told}|Critical for`), path)
})

test('the list, the search and the page of the service say that a resolved incident is still firing, until its alerts have ended', async (t) => {
  const { browser, page, setStatus, end } = await brokenCart(t)
  const [service = ''] = /\/services\/[\w-]+/.exec((await browser.get('/')).html) ?? []
  await setStatus('resolved')
  assert.match(await page('/incidents'), /Resolved, but 2 alerts are still firing/)
  assert.match(await page(service), /Incident 1 is resolved, but 2 alerts are still firing\./)
  assert.match(await page('/search?q=cart'), /incident 1 ?, but 2 alerts are still firing/)
  await end()
  for (const path of ['/incidents', service]) assert.doesNotMatch(await page(path), /still firing/, path)
})

test('the incident is shown as over only when its alerts have ended', async (t) => {
  const { page, setStatus, clock, end } = await brokenCart(t)
  await setStatus('resolved')
  clock.now = NOON + 10 * MINUTE
  const html = await page('/incidents/1')
  assert.match(html, /Critical for 11 min.*since 11:59/)
  assert.doesNotMatch(html, /Was critical/)
  await end()
  assert.match(await page('/incidents/1'), /Was critical for 11 min.*from 11:59 to 12:10/)
})

test('the title and the picture of the incident follow the problem, not the resolution', async (t) => {
  const { browser, setStatus, clock, end } = await brokenCart(t)
  await setStatus('resolved')
  clock.now = NOON + 30 * MINUTE
  const { html } = await browser.get('/incidents/1')
  assert.match(html, /<title>cart: Down, critical for 31 min/)
  assert.match(html, /class="lanes-now"/)
  await end()
  clock.now = NOON + 60 * MINUTE
  const over = (await browser.get('/incidents/1')).html
  assert.match(over, /<title>Resolved: cart: Down/)
  assert.doesNotMatch(over, /class="lanes-now"/)
})

test('the page of the service leads to the incident until the alerts have ended', async (t) => {
  const { browser, page, setStatus, end } = await brokenCart(t)
  const [path = ''] = /\/services\/[\w-]+/.exec((await browser.get('/')).html) ?? []
  await setStatus('resolved')
  assert.match(await page(path), /<a class="button" href="\/incidents\/1">\s*Incident 1/)
  assert.match(await page(path), /No other incident of this service is recorded/)
  await end()
  assert.match(await page(path), /Earlier incidents.*cart: Down/)
  assert.doesNotMatch(await page(path), /<a class="button" href="\/incidents\/1">/)
})

test('the overview does not mention the incident before it is resolved, or once its alerts have ended', async (t) => {
  const { page, setStatus, end } = await brokenCart(t)
  assert.doesNotMatch(await page('/'), /Incident 1 was resolved/)
  await setStatus('resolved')
  await end()
  assert.doesNotMatch(await page('/'), /Incident 1 was resolved/)
})

test('the overview forgets the resolution when the incident is reopened', async (t) => {
  const { page, setStatus } = await brokenCart(t)
  await setStatus('resolved')
  await setStatus('investigating')
  assert.doesNotMatch(await page('/'), /Incident 1 was resolved/)
})

test('Charlie, who has the same service, sees nothing of the incident', async (t) => {
  const { app, charlie, page, setStatus, post, alerts } = await brokenCart(t)
  await post('metrics', alerts({}), charlie.token)
  await setStatus('resolved')
  const outsider = makeBrowser(app)
  await outsider.signIn(charlie.token)
  assert.doesNotMatch(await page('/', outsider), /was resolved|Ada/)
})

test('the list and the question before resolving count the same alerts, and name the failed pipeline', async (t) => {
  const { page } = await brokenCart(t)
  const html = await page('/incidents/1')
  assert.match(html, /3 alerts \(1 failed pipeline\) in 3 groups, 2 still firing/)
  assert.match(html, /2 alerts are still firing, not counting 1 failed pipeline\. They open no new incident/)
})

test('after the alerts have ended, only the failed pipeline is open', async (t) => {
  const { page, end } = await brokenCart(t)
  await end()
  const html = await page('/incidents/1')
  assert.match(html, /3 alerts \(1 failed pipeline\) in 3 groups</)
  assert.match(html, /All its alerts have ended, not counting 1 failed pipeline\./)
})

test('the timeline says who acknowledged the incident', async (t) => {
  const { page, setStatus, clock } = await brokenCart(t)
  await setStatus('investigating')
  clock.now += MINUTE
  await setStatus('identified')
  const html = await page('/incidents/1')
  assert.match(html, /Acknowledged · by Ada &lt;b&gt;/)
  assert.match(html, /Status changed to identified · by Ada/)
})
