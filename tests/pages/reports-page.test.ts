/** The report in a browser without JavaScript, and as CSV. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { DAY, type Made, MINUTE, makeIncident, makeService, NOON } from '../helpers/factory.ts'
import { makeBrowser } from '../helpers/site.ts'

/** Acme had three incidents: two for cart, one of which was resolved after 40 minutes, and one for another service. */
async function threeIncidents(t: TestContext, name = 'cart') {
  const world = makeWorld(t)
  const { db, acme } = world
  const incident = (service: Made, days: number, more: Parameters<typeof makeIncident>[3] = {}) =>
    makeIncident(db, acme, service, { created_at: NOON - days * DAY, ...more })
  const cart = makeService(db, acme, name)
  incident(cart, 1)
  const start = NOON - 2 * DAY
  const times = { started_at: start, acknowledged_at: start + 5 * MINUTE, resolved_at: start + 40 * MINUTE }
  incident(cart, 2, { status: 'resolved', ...times })
  incident(makeService(db, acme, 'mailer'), 60, { severity: 'warning' })
  const browser = makeBrowser(world.app)
  await browser.signIn(acme.token)
  return { ...world, browser }
}

test('the report counts the incidents in the period, and says how many have a time', async (t) => {
  const { browser } = await threeIncidents(t)
  const { html, status } = await browser.get('/reports')
  assert.equal(status, 200)
  assert.match(html, /<title>3 incidents in 90 days · incmon<\/title>/)
  assert.match(html, /1 of 3 is resolved; median 40 min\./)
  assert.doesNotMatch(html, /more than in the previous 90 days/)
  assert.match(html, /median of 1; mean 40 min\./)
  assert.match(
    html,
    /In 0 of 1 incident that was acknowledged and resolved, most of the time passed before the acknowledgement\./,
  )
  assert.match(html, /aria-label="Incidents by week: 3 in 13 weeks, at most 2 in one week"/)
})

test('the report says how long a service was not healthy, of the time that is known', async (t) => {
  const { db, browser } = await threeIncidents(t)
  const from = NOON - 30 * DAY
  db.execute(`UPDATE services SET created_at = ${from}`)
  db.execute(`INSERT INTO service_states SELECT id, ${from}, 'healthy', 100 FROM services WHERE name = 'cart'`)
  db.execute(
    `INSERT INTO service_states SELECT id, ${from + 3 * DAY}, 'critical', 20 FROM services WHERE name = 'cart'`,
  )
  db.execute(
    `INSERT INTO service_states SELECT id, ${from + 6 * DAY}, 'healthy', 100 FROM services WHERE name = 'cart'`,
  )
  const { html } = await browser.get('/reports')
  assert.match(html, /cart[\s\S]*data-label="Not healthy">3 d[\s\S]*aria-label="critical for 3 d/)
})

test('the report compares the acknowledgement with the resolution only within the same incident', async (t) => {
  const { db, acme, app } = makeWorld(t)
  const cart = makeService(db, acme, 'cart')
  const start = NOON - 2 * DAY
  const opened = { created_at: start, started_at: start - 6 * MINUTE }
  const incident = (times: object) => makeIncident(db, acme, cart, { ...opened, ...times })
  const browser = makeBrowser(app)
  await browser.signIn(acme.token)
  incident({ acknowledged_at: start + DAY })
  incident({ status: 'resolved', resolved_at: start + MINUTE })
  assert.doesNotMatch((await browser.get('/reports')).html, /before the acknowledgement/)
  const acknowledged = { status: 'resolved', acknowledged_at: start + 5 * MINUTE } as const
  incident({ ...acknowledged, resolved_at: start + DAY })
  incident({ ...acknowledged, resolved_at: start + 15 * MINUTE })
  assert.match((await browser.get('/reports')).html, /In 1 of 2 incidents that were acknowledged and resolved, most of/)
})

test('the last column is labeled with today, because it ends now', async (t) => {
  const { browser } = await threeIncidents(t)
  const { html } = await browser.get('/reports?range=30d')
  const labels = [...html.matchAll(/y="179">(\d+ [A-Z][a-z]{2})</g)].map(([, label]) => label)
  assert.deepEqual(labels, ['14 Feb', '21 Feb', '28 Feb', '7 Mar', '14 Mar'])
  assert.match(html, /The time to resolve includes the monitoring after the end of the problem/)
})

for (const [range, count] of [
  ['30d', 2],
  ['90d', 3],
  ['1y', 3],
  ['forever', 3],
] as const) {
  test(`the range ${range} has ${count} incidents`, async (t) => {
    const { browser } = await threeIncidents(t)
    assert.match((await browser.get(`/reports?range=${range}`)).html, new RegExp(`<h1>${count} incidents in`))
  })
}

test('each incident is a mark that links to it', async (t) => {
  const { browser } = await threeIncidents(t)
  const { html } = await browser.get('/reports')
  const [, href = ''] = /<a href="(\/incidents\/\d+)" aria-label="\d+ [^"]*, critical, 40 min"/.exec(html) ?? []
  assert.equal((await browser.get(href)).status, 200)
})

test('the charts of 2,000 incidents include all of them, on a page of less than 60 kB', async (t) => {
  const { db, acme, browser } = await threeIncidents(t)
  const busy = Array.from({ length: 60 }, (_, n) => makeService(db, acme, `busy-service-number-${n}`))
  for (let n = 0; n < 2_000; n += 1) {
    const at = NOON - ((n % 360) + 1) * DAY
    const service = busy[n % busy.length] as Made
    const more = { status: 'resolved', started_at: at, resolved_at: at + (n + 1) * MINUTE } as const
    makeIncident(db, acme, service, { created_at: at, ...more })
  }
  const { html } = await browser.get('/reports?range=1y')
  assert.match(html, /aria-label="Incidents by week: 2003 in 53 weeks/)
  assert.match(html, /aria-label="Time to resolve of 2001 incidents: median/)
  assert.ok(html.length < 60_000, `${html.length}`)
})

test('an incident resolved before it started took no time', async (t) => {
  const { db, acme, browser } = await threeIncidents(t)
  const times = { created_at: NOON - DAY, started_at: NOON, resolved_at: NOON - DAY } as const
  makeIncident(db, acme, makeService(db, acme, 'odd'), { status: 'resolved', ...times })
  const { html, status } = await browser.get('/reports')
  assert.equal(status, 200)
  assert.doesNotMatch(html, /NaN|Infinity|="-\d+%"/)
})

test('the table is available as CSV without formulas', async (t) => {
  const { browser } = await threeIncidents(t, '=HYPERLINK("https://example.com")')
  const { html, headers } = await browser.get('/reports.csv?range=90d')
  assert.match(headers.get('content-disposition') ?? '', /attachment; filename="incmon-90d\.csv"/)
  assert.match(html, /^namespace,service,incidents,/)
  assert.match(html, /,"'=HYPERLINK\(""https:\/\/example\.com""\)",2,/)
})

test('the headline compares with the period before if the organization existed then', async (t) => {
  const { db, acme, browser } = await threeIncidents(t)
  const young = (await browser.get('/reports')).html
  assert.match(young, /recorded since 13 Mar, so not comparable yet<.*Recording began on 13 Mar\./s)
  assert.doesNotMatch(young, /than in the previous 90 days/)
  db.run(db.sql.updateTable('organizations').set({ created_at: NOON - 400 * DAY }))
  assert.match(
    (await browser.get('/reports')).html,
    /3 incidents in 90 days\. <span class="rest">3 more than in the previous 90/,
  )
  makeIncident(db, acme, makeService(db, acme, 'old'), { created_at: NOON - 100 * DAY })
  assert.match((await browser.get('/reports')).html, /2 more than in the previous 90 days\. 1 of 3 is resolved/)
})

test('the number of incidents of a service leads to their list', async (t) => {
  const { browser } = await threeIncidents(t)
  const [, href = ''] = /<a href="([^"]+)">2<\/a>/.exec((await browser.get('/reports')).html) ?? []
  const { html } = await browser.get(href)
  assert.equal(html.match(/data-label="Status"/g)?.length, 2)
  assert.match(html, /aria-label="Remove the filter cart"/)
  assert.match((await browser.get('/incidents?service=nonsense')).html, /3 in total/)
})

test('Charlie sees an empty report', async (t) => {
  const { app, charlie } = await threeIncidents(t)
  const browser = makeBrowser(app)
  await browser.signIn(charlie.token)
  const { html } = await browser.get('/reports')
  assert.match(
    html,
    /0 incidents in 90 days.*No incident in this period has been resolved\..*No service had an incident\./s,
  )
  assert.doesNotMatch((await browser.get('/reports.csv')).html, /cart|mailer/)
})

test('a hostile name is shown as text', async (t) => {
  const { browser } = await threeIncidents(t, '<img src=x onerror=alert(1)>')
  assert.doesNotMatch((await browser.get('/reports')).html, /<img/)
})
