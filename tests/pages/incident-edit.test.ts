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

test('an unknown service, an empty title and an unknown incident are refused with a reason', async (t) => {
  const { browser } = await signedIn(t)
  assert.match((await browser.send('/incidents', { ...CART, service: 'x' })).html, /no service named x/)
  assert.match((await browser.send('/incidents', { ...CART, title: ' ' })).html, /title is empty/)
  await browser.send('/incidents', CART)
  assert.match((await browser.send('/incidents/1/merge', { into: '7' })).html, /no incident 7/)
})

test('a merge leads to the remaining incident', async (t) => {
  const { browser, ask } = await signedIn(t)
  await browser.send('/incidents', CART)
  await browser.send('/incidents', { ...CART, title: 'Other' })
  const { location } = await browser.send('/incidents/1/merge', { into: '#2' })
  assert.equal(location, '/incidents/2?done=merged')
  assert.deepEqual((await ask('/api/incidents?status=resolved')).data.length, 1)
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
  assert.match((await browser.get('/incidents/1')).html, /Add an alert[\s\S]+done, Eve, due 2026-03-31/)
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
