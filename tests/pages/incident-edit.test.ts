/** Incidents declared, changed and merged in the browser, their action items, and links in notes. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { makeService } from '../helpers/factory.ts'
import { makeBrowser } from '../helpers/site.ts'

async function signedIn(t: TestContext, as: 'acme' | 'charlie' = 'acme') {
  const world = makeWorld(t)
  makeService(world.db, world.acme, 'cart', { namespace: 'shop' })
  const browser = makeBrowser(world.app)
  await browser.signIn(world[as].token, 'Dana')
  const ask = async (path: string) => (await world.request('GET', path, { token: world.acme.token })).body
  return { ...world, browser, ask }
}

const CART = { title: 'Cart is slow', service: 'shop/cart', severity: 'error' }

test('a person declares an incident, renames it and raises its severity', async (t) => {
  const { browser, ask } = await signedIn(t)
  assert.match((await browser.get('/incidents')).html, /Declare incident…/)
  const { status, location } = await browser.send('/incidents', CART)
  assert.deepEqual([status, location], [303, '/incidents/1?done=declared'])
  await browser.send('/incidents/1/edit', { title: 'Cart  is down', severity: 'critical' })
  const [{ title, severity, origin }] = (await ask('/api/incidents')).data
  assert.deepEqual([title, severity, origin], ['Cart is down', 'critical', 'manual'])
})

/** Returns what a refused form shows: the status, the fault beside the field, and the value of the field. */
function shown({ status, html }: { status: number; html: string }, id: string): readonly unknown[] {
  const fault = new RegExp(`id="${id}-fault"[^>]*>([^<]*)<`).exec(html)?.[1]
  const input = new RegExp(`<input[^>]* id="${id}"[^>]*>`).exec(html)?.[0] ?? ''
  return [status, fault, / value="([^"]*)"/.exec(input)?.[1], / aria-invalid="true"/.test(input)]
}

test('a refused declaration keeps what was typed and shows each error beside its field', async (t) => {
  const { browser, ask } = await signedIn(t)
  const unknown = await browser.send('/incidents', { ...CART, service: 'x' })
  const expected = 'No service is named x; enter a name that the page Services shows.'
  assert.deepEqual(shown(unknown, 'service'), [400, expected, 'x', true])
  assert.deepEqual(shown(unknown, 'title').slice(2), ['Cart is slow', false])
  assert.match(unknown.html, /<details class="confirm" open[^>]*>\s*<summary[^>]*>Declare/)
  assert.match(unknown.html, /<option value="error" selected/)
  const both = await browser.send('/incidents', { ...CART, title: ' ', service: '' })
  assert.deepEqual(shown(both, 'title').slice(0, 2), [400, 'Empty; enter what is wrong.'])
  assert.match(both.html, /<title>Error: /)
  assert.equal((await ask('/api/incidents')).data.length, 0)
})

test('a refused edit and a refused merge keep what was typed', async (t) => {
  const { browser } = await signedIn(t)
  await browser.send('/incidents', CART)
  const long = 'x'.repeat(201)
  const edited = await browser.send('/incidents/1/edit', { title: long, severity: 'info' })
  const limit = 'Too long; at most 200 characters, and this has 201.'
  assert.deepEqual(shown(edited, 'title'), [400, limit, long, true])
  assert.match(edited.html, /<option value="info" selected/)
  const merged = await browser.send('/incidents/1/merge', { into: '#7' })
  const none = 'There is no incident 7; enter the number of an unresolved incident.'
  assert.deepEqual(shown(merged, 'into'), [400, none, '#7', true])
  const itself = await browser.send('/incidents/1/merge', { into: '1' })
  assert.match(itself.html, /role="alert"[\s\S]*An incident cannot be merged into itself/)
  assert.doesNotMatch(itself.html, /http-equiv="refresh"/)
})

test('a refused action item and a refused note keep what was typed', async (t) => {
  const { browser } = await signedIn(t)
  await browser.send('/incidents', CART)
  const item = await browser.send('/incidents/1/actions', { text: ' ', owner: 'Eve', due: '2026-03-31' })
  assert.deepEqual(shown(item, 'text').slice(0, 2), [400, 'Empty; enter what has to be done.'])
  assert.deepEqual(shown(item, 'owner').slice(2), ['Eve', false])
  assert.equal(shown(item, 'due')[2], '2026-03-31')
  const noDate = await browser.send('/incidents/1/actions', { text: 'Add an alert', owner: '', due: 'soon' })
  assert.equal(noDate.status, 400)
  assert.equal(shown(noDate, 'text')[2], 'Add an alert')
  const note = await browser.send('/incidents/1/notes', { text: 'y'.repeat(10_001) })
  assert.match(note.html, /Too long; at most 10,000 characters/)
  assert.match(note.html, /<input[^>]* id="note"[^>]* value="y{10001}"/)
})

test('a merge leads to the remaining incident', async (t) => {
  const { browser, ask } = await signedIn(t)
  await browser.send('/incidents', CART)
  await browser.send('/incidents', { ...CART, title: 'Other' })
  const { location } = await browser.send('/incidents/1/merge', { into: '#2' })
  assert.equal(location, '/incidents/2?done=merged')
  const [{ id }] = (await ask('/api/incidents?status=open')).data
  assert.deepEqual((await ask('/api/incidents?status=resolved')).data.length, 1)
  const head = /<h1>.*?<ol class="card steps"/s.exec((await browser.get('/incidents/1')).html)?.[0] ?? ''
  assert.match(head, new RegExp(`<a href="/incidents/${id}">Merged into “Other” \\(incident 2\\)</a>`))
  assert.equal((await browser.get(`/incidents/${id}`)).status, 200)
})

test('action items are added, assigned and finished on the page', async (t) => {
  const { browser, ask } = await signedIn(t)
  await browser.send('/incidents', CART)
  const [{ id }] = (await ask('/api/incidents')).data
  await browser.send('/incidents/1/actions', { text: 'Add an alert', owner: '', due: '2026-03-31' })
  const items = async () => (await ask(`/api/incidents/${id}/actions`)).data
  const [{ id: item }] = await items()
  await browser.send('/incidents/1/action', { item, owner: 'Eve' })
  await browser.send('/incidents/1/action', { item, state: 'done' })
  const [{ text, owner, due, state }] = await items()
  assert.deepEqual([text, owner, due, state], ['Add an alert', 'Eve', '2026-03-31', 'done'])
  const { html } = await browser.get('/incidents/1')
  assert.match(html, /Add an alert[\s\S]+done, Eve, due 2026-03-31/)
  for (const what of ['changed', 'done']) assert.match(html, new RegExp(`Action item ${what}: Add an alert`))
})

test('a URL in a note is a link, and other text is not', async (t) => {
  const { browser } = await signedIn(t)
  await browser.send('/incidents', CART)
  const text = 'see https://wiki.example.com/a?b=1&c=2, not javascript:alert(1) <b>'
  await browser.send('/incidents/1/notes', { text })
  const { html } = await browser.get('/incidents/1')
  assert.match(
    html,
    /<a href="https:\/\/wiki\.example\.com\/a\?b=1&amp;c=2"[^>]*>https:\/\/wiki[^<]+<\/a>, not javascript/,
  )
  assert.doesNotMatch(html, /href="javascript/)
})

test("Charlie can neither declare an incident of Acme's service nor change an incident", async (t) => {
  const { browser, request, acme, ask } = await signedIn(t, 'charlie')
  const [{ id: serviceId }] = await ask('/api/services')
  const body = { title: 'Down', serviceId, severity: 'critical' }
  const { id } = (await request('POST', '/api/incidents', { token: acme.token, body })).body
  assert.equal((await browser.send('/incidents', CART)).status, 400)
  for (const form of ['edit', 'merge', 'actions', 'action'])
    assert.equal((await browser.send(`/incidents/${id}/${form}`, { title: 'x', into: '1', text: 'x' })).status, 404)
})

test('the page names who declared an incident', async (t) => {
  const { request, app, acme, db } = makeWorld(t)
  const service = makeService(db, acme, 'cart')
  const body = { title: 'Customers are charged twice', serviceId: service.id, severity: 'critical' }
  await request('POST', '/api/incidents', { token: acme.token, body })
  const browser = makeBrowser(app)
  await browser.signIn(acme.token, 'Ada')
  assert.match((await browser.get('/incidents/1')).html, /Opened at 12:00 by Acme(?:&#39;|')s token\./)
})
