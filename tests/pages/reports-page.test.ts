/** The report in a browser without a script, and the same as CSV. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { DAY, type Made, MINUTE, makeIncident, makeService, NOON } from '../helpers/factory.ts'
import { makeBrowser } from '../helpers/site.ts'

/** Acme had three incidents: two of cart, of which one was resolved after 40 minutes, and one of another service. */
async function threeIncidents(t: TestContext, name = 'cart') {
  const world = makeWorld(t)
  const { db, acme } = world
  const incident = (service: Made, days: number, more: Parameters<typeof makeIncident>[3] = {}) =>
    makeIncident(db, acme, service, { created_at: NOON - days * DAY, ...more })
  const cart = makeService(db, acme, name)
  incident(cart, 1)
  incident(cart, 2, { status: 'resolved', started_at: NOON - 2 * DAY, resolved_at: NOON - 2 * DAY + 40 * MINUTE })
  incident(makeService(db, acme, 'mailer'), 60, { severity: 'warning' })
  const browser = makeBrowser(world.app)
  await browser.signIn(acme.token)
  return { ...world, browser }
}

test('the report counts the incidents of the span, and says how many have a time', async (t) => {
  const { browser } = await threeIncidents(t)
  const { html, status } = await browser.get('/reports')
  assert.equal(status, 200)
  assert.match(html, /<title>3 incidents in 90 days · incmon<\/title>/)
  assert.match(html, /1 of 3 is resolved; half of those within 40 min\./)
  assert.doesNotMatch(html, /more than in the 90 days/)
  assert.match(html, /median of 1; mean 40 min\./)
  assert.match(html, /aria-label="Incidents by week: 3 in 13 weeks, at most 2 in one week"/)
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

test('each incident is one mark that leads to it', async (t) => {
  const { browser } = await threeIncidents(t)
  const { html } = await browser.get('/reports')
  const [, href = ''] = /<a href="(\/incidents\/\d+)" aria-label="\d+ [^"]*, critical, 40 min"/.exec(html) ?? []
  assert.equal((await browser.get(href)).status, 200)
})

test('the table is served as CSV, in which no cell is a formula', async (t) => {
  const { browser } = await threeIncidents(t, '=HYPERLINK("https://example.com")')
  const { html, headers } = await browser.get('/reports.csv?range=90d')
  assert.match(headers.get('content-disposition') ?? '', /attachment; filename="incmon-90d\.csv"/)
  assert.match(html, /^namespace,service,incidents,/)
  assert.match(html, /,"'=HYPERLINK\(""https:\/\/example\.com""\)",2,/)
})

test('Charlie sees an empty report', async (t) => {
  const { app, charlie } = await threeIncidents(t)
  const browser = makeBrowser(app)
  await browser.signIn(charlie.token)
  const { html } = await browser.get('/reports')
  assert.match(html, /0 incidents in 90 days.*No incident of this span is resolved\..*No service had an incident\./s)
  assert.doesNotMatch((await browser.get('/reports.csv')).html, /cart|mailer/)
})

test('a hostile name is shown as text', async (t) => {
  const { browser } = await threeIncidents(t, '<img src=x onerror=alert(1)>')
  assert.doesNotMatch((await browser.get('/reports')).html, /<img/)
})
