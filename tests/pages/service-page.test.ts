/** A service, the alert history and one alert, in a browser without JavaScript. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { DAY, MINUTE, makeAlert, makeIncident, makeService, makeToken, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, build, pipeline } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

/**
 * Reports through webhooks that cart is down with a storm of 30 similar alerts and that its deploy failed shortly
 * before.
 */
async function stormyCart(t: TestContext) {
  const world = makeWorld(t)
  const token = world.acme.token
  const storm = Array.from({ length: 30 }, (_, n) =>
    alert('HighErrorRate', { service: 'cart', severity: 'warning', route: `/r${n}` }, { startsAt: NOON - MINUTE }),
  )
  const down = alert('Down', { service: 'cart' }, { startsAt: NOON - 2 * MINUTE })
  await world.request('POST', '/api/webhooks/metrics', { token, body: alertmanager([down, ...storm]) })
  const body = pipeline('failed', 'shop/cart', { at: NOON - MINUTE, jobs: [build('deploy', 'failed')] })
  await world.request('POST', '/api/webhooks/ci', { token, body })
  const services = (await world.request('GET', '/api/services', { token })).body
  const browser = makeBrowser(world.app)
  await browser.signIn(token, 'Ada')
  const id = String(services.find(({ name }: { name: string }) => name === 'cart').id)
  const firing = (await world.request('GET', '/api/alerts?severity=critical', { token })).body.data[0].id
  return { ...world, token, browser, id, alertId: String(firing) }
}

test("a service's page shows how bad it is, why, and what changed", async (t) => {
  const { browser, id } = await stormyCart(t)
  const { html, status } = await browser.get(`/services/${id}`)
  assert.equal(status, 200)
  assert.match(html, /<title>cart is critical · incmon<\/title>/)
  assert.match(html, /Critical for 2 min\..*Likely cause: failed deploy/s)
  assert.match(html, /Why the score is \d+.*Down.*critical/s)
  assert.match(html, /Firing now.*HighErrorRate.*×30.*30 routes/s)
  assert.match(html, /Changes.*>#31<.*<\/b> deploy failed/s)
})

test('a service whose incident was resolved early is critical since its problem began', async (t) => {
  const { browser, id, request, token } = await stormyCart(t)
  const [incident] = (await request('GET', '/api/incidents', { token })).body.data
  await request('PATCH', `/api/incidents/${incident.id}`, { token, body: { status: 'resolved' } })
  assert.match((await browser.get(`/services/${id}`)).html, /Critical for 2 min\./)
})

test('the last deploy has its outcome and start time, as in the cause', async (t) => {
  const { browser } = await stormyCart(t)
  assert.match((await browser.get('/')).html, /#31<.*failed, started 6 min ago/s)
})

test('a group in which some alerts have ended says how many are still firing', async (t) => {
  const { browser, request, token } = await stormyCart(t)
  const labels = { service: 'cart', severity: 'warning', route: '/r7' }
  const over = alert('HighErrorRate', labels, { startsAt: NOON - MINUTE, endsAt: NOON })
  await request('POST', '/api/webhooks/metrics', { token, body: alertmanager([over]) })
  const [incident] = (await request('GET', '/api/incidents', { token })).body.data
  const { html } = await browser.get(`/incidents/${incident.number}`)
  assert.match(html, /29 of 30 still firing after 1 min/)
  assert.match(html, /firing for 2 min/)
})

test('a degraded service says since when, what costs the most, and that no change is linked to it', async (t) => {
  const { browser, request, token, clock } = await stormyCart(t)
  const slow = alert('Slow', { service: 'search', severity: 'warning' }, { startsAt: NOON - MINUTE })
  await request('POST', '/api/webhooks/metrics', { token, body: alertmanager([slow]) })
  clock.now = NOON + 8 * MINUTE
  const services = (await request('GET', '/api/services', { token })).body
  const { id } = services.find(({ name }: { name: string }) => name === 'search')
  const { html } = await browser.get(`/services/${id}`)
  assert.match(html, /Degraded for 9 min\.<[\s\S]*Slow costs the most points\.\s*No change is linked to it\./)
  assert.match(html, /No incident of this service is recorded\./)
})

test('the picture of a service has no scores of changes, because they are compared within an incident', async (t) => {
  const { browser, id } = await stormyCart(t)
  const { html } = await browser.get(`/services/${id}`)
  assert.match(html, /lanes-links.*a change and its alerts/s)
  assert.doesNotMatch(html, /link-score|the score of the change/)
  assert.match((await browser.get('/incidents/1')).html, /a change, its alerts, and the score of the change/)
})

test('the penalties add up to what is missing from the score', async (t) => {
  const { browser, id } = await stormyCart(t)
  const { html } = await browser.get(`/services/${id}`)
  const points = [...html.matchAll(/bill-points">−(\d+)</g)].map(([, number]) => Number(number))
  const [, score] = /Why the score is (\d+)/.exec(html) ?? []
  assert.equal(100 - points.reduce((sum, one) => sum + one, 0), Number(score))
})

for (const range of ['1h', '24h', '7d', 'forever', '']) {
  test(`the range “${range}” is shown`, async (t) => {
    const { browser, id } = await stormyCart(t)
    assert.equal((await browser.get(`/services/${id}?range=${range}`)).status, 200)
  })
}

test('the page of a service without any records says so', async (t) => {
  const { browser, db, acme } = await stormyCart(t)
  const { id } = makeService(db, acme, 'quiet')
  const { html } = await browser.get(`/services/${id}`)
  for (const words of [
    'There are no penalties.',
    'Nothing is firing.',
    'No incident of this service is recorded.',
    'No pipelines or rollouts',
  ])
    assert.ok(html.includes(words), words)
})

test('an alert that has been firing since before the selected span is listed, and an ended one is not', async (t) => {
  const { app, db, acme } = makeWorld(t)
  const old = { starts_at: NOON - 3 * DAY }
  makeAlert(db, acme, makeService(db, acme, 'disk'), { ...old, name: 'DiskFull' })
  const ended = { status: 'resolved', ends_at: NOON - 2 * DAY, resolution: 'reported' } as const
  makeAlert(db, acme, makeService(db, acme, 'cart'), { ...old, ...ended, name: 'Gone' })
  const browser = makeBrowser(app)
  await browser.signIn(acme.token)
  for (const path of ['/alerts', '/alerts?status=firing', '/alerts?range=1h']) {
    const { html } = await browser.get(path)
    assert.deepEqual([html.includes('DiskFull'), html.includes('>Gone<')], [true, false], path)
  }
  assert.equal((await browser.get('/alerts?status=ended')).html.includes('DiskFull'), false)
})

test('an incident with a storm lists the silenced alerts, and its links once for all similar alerts', async (t) => {
  const { browser, request, token } = await stormyCart(t)
  const silence = { matchers: [{ name: 'service', op: '=', value: 'cart' }], endsAt: '2036-11-21T14:30:00Z' }
  const sent = await request('POST', '/api/silences', { token, body: { ...silence, comment: 'Upgrade' } })
  assert.equal(sent.status, 201, JSON.stringify(sent.body))
  const { data } = (await request('GET', '/api/incidents', { token })).body
  const { html } = await browser.get(`/incidents/${data[0].number}`)
  assert.match(html, /HighErrorRate.*×30<\/span><span class="chip nowrap"> silenced until/s)
  assert.match(html, /The newest 20 of 30/)
})

test('a silenced service says so on its page, in the list of alerts and on the overview', async (t) => {
  const { browser, request, token, id } = await stormyCart(t)
  const matchers = [{ name: 'service', op: '=', value: 'cart' }]
  const endsAt = new Date(NOON + 30 * MINUTE).toISOString()
  await request('POST', '/api/silences', { token, body: { matchers, endsAt, comment: 'upgrade' } })
  const { html } = await browser.get(`/services/${id}`)
  assert.match(html, /32 alerts silenced until <time[^>]*>12:30<[\s\S]*32 silenced alerts do not lower the score\./)
  assert.match((await browser.get('/alerts')).html, / silenced until <time/)
  assert.match((await browser.get('/')).html, /> silenced<\/span>/)
})

test('the overview says that alerts are still firing after the last incident was resolved', async (t) => {
  const { app, db, acme } = makeWorld(t)
  const cart = makeService(db, acme, 'cart')
  const resolved = { status: 'resolved', started_at: NOON - DAY, resolved_at: NOON - 4 * MINUTE } as const
  makeIncident(db, acme, cart, { ...resolved, created_at: NOON - DAY })
  makeAlert(db, acme, cart, { starts_at: NOON - 10 * MINUTE })
  const browser = makeBrowser(app)
  await browser.signIn(acme.token)
  const { html } = await browser.get('/')
  assert.match(html, /was resolved\s*<time[^>]*>4 min ago<\/time>; 1 alert is still firing\s*\./)
})

test('similar alerts are one row with their count, and a query parameter shows them one by one', async (t) => {
  const { browser } = await stormyCart(t)
  const { html } = await browser.get('/alerts')
  assert.match(html, /3 groups from 32 alerts\. <a href="\/alerts\?status=firing">32 alerts are still firing\.</)
  assert.equal(html.match(/<tr>/g)?.length, 4)
  assert.equal((await browser.get('/alerts?group=0')).html.match(/<tr>/g)?.length, 33)
})

test('the histogram counts the rows, and each bar links to its period', async (t) => {
  const { browser } = await stormyCart(t)
  const { html } = await browser.get('/alerts')
  assert.match(html, /aria-label="Alerts from Fri 12:00 to 12:00: 3, at most/)
  const [, href = ''] = /<a href="([^"]+)" aria-label="[^"]*1 critical/.exec(html) ?? []
  assert.match((await browser.get(href.replaceAll('&amp;', '&'))).html, /Remove the filter started 11:\d\d to/)
})

test('filters show only what they name, and a chip removes one', async (t) => {
  const { browser, id } = await stormyCart(t)
  const { html } = await browser.get(`/alerts?severity=critical&service=${id}`)
  assert.match(html, /1 group from 1 alert\./)
  assert.match(html, /href="\/alerts\?severity=critical" aria-label="Remove the filter service shop\/cart"/)
  assert.match((await browser.get('/alerts?status=ended')).html, /No alerts match\./)
})

test('unknown query values are ignored', async (t) => {
  const { browser } = await stormyCart(t)
  const odd = '/alerts?range=x&status=x&severity=x&source=x&page=x&from=x&to=y&incident=x&service=x&group=x'
  assert.equal((await browser.get(odd)).status, 200)
})

test('the alerts of an incident are listed by its number', async (t) => {
  const { browser } = await stormyCart(t)
  assert.match((await browser.get('/alerts?incident=1&severity=critical')).html, /Remove the filter incident 1.*Down/s)
})

test('one alert shows its labels, its events, the rules, and only web links', async (t) => {
  const { browser, db, acme, alertId } = await stormyCart(t)
  const { html } = await browser.get(`/alerts/${alertId}`)
  assert.match(html, /<dt class="break">alertname<\/dt><dd class="mono">Down<\/dd>/)
  assert.match(html, /Events<.*>1<.*How incmon decided/s)
  const service = makeService(db, acme, 'x')
  const hostile = makeAlert(db, acme, service, {
    links: '{"runbook":"javascript:alert(1)","good":"https://example.com/a"}',
  })
  const shown = (await browser.get(`/alerts/${hostile.id}`)).html
  assert.doesNotMatch(shown, /href="javascript:/)
  assert.match(shown, /href="https:\/\/example.com\/a"/)
})

test('a person resolves an alert by hand', async (t) => {
  const { browser, alertId, request, token } = await stormyCart(t)
  const csrf = await browser.csrf(`/alerts/${alertId}`)
  assert.equal((await browser.post(`/alerts/${alertId}/end`, { csrf })).status, 303)
  assert.equal((await request('GET', `/api/alerts/${alertId}`, { token })).body.resolution, 'manual')
})

test('Charlie sees neither the service nor its alerts', async (t) => {
  const { app, charlie, id, alertId } = await stormyCart(t)
  const browser = makeBrowser(app)
  await browser.signIn(charlie.token)
  const answers = await Promise.all([`/services/${id}`, `/alerts/${alertId}`].map((path) => browser.get(path)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [404, 404],
  )
  assert.match((await browser.get('/alerts')).html, /No alerts match\./)
  assert.match((await browser.get(`/alerts?service=${id}`)).html, /No alerts match\./)
  assert.match((await browser.get('/alerts?incident=1')).html, /No alerts match\./)
})

test('a person with read access cannot resolve an alert', async (t) => {
  const { app, db, acme, alertId } = await stormyCart(t)
  const browser = makeBrowser(app)
  await browser.signIn(makeToken(db, acme, ['read']))
  assert.doesNotMatch((await browser.get(`/alerts/${alertId}`)).html, /Resolve manually/)
  assert.equal((await browser.post(`/alerts/${alertId}/end`, {})).status, 403)
})

for (const startsAt of [-20 * 365 * DAY, 4_900_000_000_000]) {
  test(`an alert of ${new Date(startsAt).getUTCFullYear()} is shown`, async (t) => {
    const { browser, db, acme } = await stormyCart(t)
    const service = makeService(db, acme, 'odd')
    const incident = makeIncident(db, acme, service, { created_at: startsAt })
    const made = makeAlert(db, acme, service, { starts_at: startsAt, incident_id: incident.key })
    for (const path of [`/alerts/${made.id}`, `/services/${service.id}`, `/incidents/${incident.id}`]) {
      const { html, status } = await browser.get(path)
      assert.equal(status, 200)
      assert.doesNotMatch(html, /NaN|Invalid/)
    }
  })
}

test('the wall marks services with silenced alerts, and the legend explains the mark', async (t) => {
  const { browser, request, token } = await stormyCart(t)
  const matchers = [{ name: 'service', op: '=', value: 'cart' }]
  const endsAt = new Date(NOON + 30 * MINUTE).toISOString()
  await request('POST', '/api/silences', { token, body: { matchers, endsAt, comment: 'upgrade' } })
  const { html } = await browser.get('/?view=wall')
  assert.match(html, /cell-silenced" href="[^"]*" title="shop\/cart: [^"]*32 alerts silenced"/)
  assert.match(html, /alerts are silenced/)
})

test('the overview shows the last good deploy of a service, however old', async (t) => {
  const world = makeWorld(t)
  const { token } = world.acme
  const deployed = pipeline('success', 'shop/cart', { at: NOON - 40 * DAY, jobs: [build('deploy', 'success')] })
  await world.request('POST', '/api/webhooks/ci', { token, body: deployed })
  await world.request('POST', '/api/webhooks/metrics', {
    token,
    body: alertmanager([alert('Down', { service: 'cart' })]),
  })
  const browser = makeBrowser(world.app)
  await browser.signIn(token)
  assert.match((await browser.get('/')).html, /class="service-deploy"[^>]*>.*#\d+.*class="quiet">/s)
})

test('a page of alerts has at most 40 rows, whether or not similar alerts share a row', async (t) => {
  const { browser, request, token } = await stormyCart(t)
  const names = Array.from({ length: 50 }, (_, n) =>
    alert(`Condition${n}`, { service: 'cart', severity: 'warning' }, { startsAt: NOON - MINUTE }),
  )
  const sent = await request('POST', '/api/webhooks/metrics', { token, body: alertmanager(names) })
  assert.equal(sent.status, 200, JSON.stringify(sent.body))
  const rows = async (path: string) => (await browser.get(path)).html.match(/<td class="alert-name"/g)?.length
  assert.equal(await rows('/alerts'), 40)
  assert.equal(await rows('/alerts?page=2'), 13)
  assert.equal(await rows('/alerts?group=0'), 40)
  const first = (await browser.get('/alerts?group=0')).html
  assert.match(first, /The newest 40 of 82 alerts\..*Each bar counts the alerts on this page that started/s)
  assert.match((await browser.get('/alerts?group=0&page=2')).html, /40 of 82 alerts\. .*40 of these are still firing/s)
  assert.doesNotMatch((await browser.get('/alerts?group=0&page=2')).html, /newest/i)
})

test('seven days are a strip, and the picture shows the newest incident in them', async (t) => {
  const { browser, id } = await stormyCart(t)
  const zoomed = (await browser.get(`/services/${id}?range=7d`)).html
  assert.match(zoomed, /The picture shows incident 1, which is framed/)
  assert.match(zoomed, /class="zoom-part"/)
  assert.match(zoomed, /aria-label="What happened from 11:4\d to 12:00/)
  const whole = (await browser.get(`/services/${id}?range=7d&zoom=0`)).html
  assert.doesNotMatch(whole, /zoom-part/)
  assert.match(whole, /aria-label="What happened from 7 Mar to 12:00/)
})

test('a day has no strip, and neither have seven days without an incident', async (t) => {
  const { browser, id, request, token } = await stormyCart(t)
  for (const range of ['', '1h', '24h']) {
    assert.doesNotMatch((await browser.get(`/services/${id}?range=${range}`)).html, /zoom-part/)
  }
  const quiet = alert('Note', { service: 'quiet', severity: 'info' }, { startsAt: NOON - MINUTE })
  await request('POST', '/api/webhooks/metrics', { token, body: alertmanager([quiet]) })
  const services = (await request('GET', '/api/services', { token })).body
  const other = services.find(({ name }: { name: string }) => name === 'quiet').id
  assert.doesNotMatch((await browser.get(`/services/${other}?range=7d`)).html, /zoom-part/)
})
