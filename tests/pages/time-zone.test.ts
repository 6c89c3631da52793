/** The time zone of the pages: the organization's or the browser's. Tooltips still show UTC. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { makeAlert, makeService, makeToken } from '../helpers/factory.ts'
import { makeBrowser } from '../helpers/site.ts'

/** An hour later in Berlin. */
const AT = Date.parse('2026-03-14T11:30:00Z')
const FORM = { name: 'Acme', plan: 'Team', 'auto-incidents': 'critical', 'auto-resolve': '30', heartbeats: '1' }

async function start(t: TestContext) {
  const world = makeWorld(t)
  world.clock.now = AT + 600_000
  const { id } = makeAlert(world.db, world.acme, makeService(world.db, world.acme, 'cart'), { starts_at: AT })
  const browser = makeBrowser(world.app)
  await browser.signIn(world.acme.token)
  const other = makeBrowser(world.app)
  await other.signIn(world.acme.token)
  const path = `/alerts/${id}`
  /** Returns the start of the alert as shown on the page, and its tooltip. */
  const shown = async (of = browser) => {
    const { html } = await of.get(path)
    const [, title = '', text = ''] =
      /<time datetime="2026-03-14T11:30:00.000Z" title="([^"]+)"[^>]*>([^<]+)</.exec(html) ?? []
    return [text, title]
  }
  return { ...world, browser, other, path, shown }
}

test('times are in UTC unless somebody chooses another time zone', async (t) => {
  const { browser, shown } = await start(t)
  assert.deepEqual(await shown(), ['11:30', 'Sat 14 Mar 2026, 11:30:00 UTC'])
  assert.match((await browser.get('/alerts')).html, /All times are UTC\./)
})

test("the organization's time zone applies to every browser, and the tooltip shows UTC", async (t) => {
  const { browser, other, shown } = await start(t)
  await browser.send('/settings', { ...FORM, 'time-zone': 'Europe/Berlin' })
  const title = 'Sat 14 Mar 2026, 12:30:00 Europe/Berlin (Sat 14 Mar 2026, 11:30:00 UTC)'
  for (const one of [browser, other]) assert.deepEqual(await shown(one), ['12:30', title])
  const { html } = await browser.get('/alerts')
  assert.match(html, /data-zone="Europe\/Berlin"[^>]*>12:40 Berlin<[\s\S]*All times are in the zone Europe\/Berlin\./)
})

test("a browser can choose its own time zone and return to the organization's", async (t) => {
  const { browser, other, shown } = await start(t)
  await browser.send('/settings/zone', { 'own-zone': 'Asia/Kolkata' })
  assert.deepEqual([(await shown())[0], (await shown(other))[0]], ['17:00', '11:30'])
  await browser.send('/settings/zone', { 'own-zone': '' })
  assert.equal((await shown())[0], '11:30')
})

test('a city is sufficient for a time zone, in any case', async (t) => {
  const { browser, shown } = await start(t)
  await browser.send('/settings', { ...FORM, 'time-zone': 'berlin' })
  assert.equal((await shown())[1]?.includes('Europe/Berlin'), true)
  await browser.send('/settings/zone', { 'own-zone': 'New York' })
  assert.equal((await shown())[1]?.includes('America/New_York'), true)
})

test('a time zone that does not exist is refused for a browser and for the organization', async (t) => {
  const { browser, shown } = await start(t)
  const own = await browser.send('/settings/zone', { 'own-zone': 'Berlin"><b>' })
  assert.deepEqual([own.status, own.html.includes('Your time zone: This time zone does not exist')], [400, true])
  assert.match(own.html, /value="Berlin&quot;&gt;&lt;b&gt;"/)
  const common = await browser.send('/settings', { ...FORM, 'time-zone': 'Nowhere' })
  assert.deepEqual([common.status, common.html.includes('Time zone: Expected a time zone')], [400, true])
  assert.equal((await shown())[0], '11:30')
})

test('a cookie with any other value is ignored', async (t) => {
  const { app, acme, path } = await start(t)
  for (const zone of ['europe/berlin', '%ff', 'Mars/Base', '+05:30']) {
    const visitor = makeBrowser(app)
    await visitor.signIn(acme.token)
    visitor.cookies.set('zone', zone)
    assert.match((await visitor.get(path)).html, /All times are UTC\./)
  }
})

test("a person with read access can choose a time zone, but not the organization's", async (t) => {
  const { app, db, acme, shown } = await start(t)
  const reader = makeBrowser(app)
  await reader.signIn(makeToken(db, acme, ['read']))
  assert.equal((await reader.send('/settings', { ...FORM, 'time-zone': 'Asia/Kolkata' })).status, 403)
  await reader.send('/settings/zone', { 'own-zone': 'Asia/Kolkata' })
  assert.equal((await shown(reader))[0], '17:00')
})

test("Acme's time zone is not Charlie's", async (t) => {
  const { app, browser, charlie } = await start(t)
  await browser.send('/settings', { ...FORM, 'time-zone': 'Europe/Berlin' })
  const outsider = makeBrowser(app)
  await outsider.signIn(charlie.token)
  assert.match((await outsider.get('/sources')).html, /All times are UTC\./)
})
