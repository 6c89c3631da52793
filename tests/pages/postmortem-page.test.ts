/** The postmortem in a browser without a script: read, written part by part, final, and as Markdown. */
// biome-ignore-all lint/suspicious/noExplicitAny: tests read what openapi.json has checked already
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, makeToken, NOON } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

/** Through the webhooks: cart was down, and somebody resolved its incident. */
async function mendedCart(t: TestContext, summary = 'Cart is down') {
  const world = makeWorld(t)
  const token = world.acme.token
  const down = alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON - 2 * MINUTE, summary })])
  await world.request('POST', '/api/webhooks/metrics', { token, body: down })
  const { id, number } = (await world.request('GET', '/api/incidents', { token })).body.data[0]
  await world.request('PATCH', `/api/incidents/${id}`, { token, body: { status: 'resolved' } })
  const browser = makeBrowser(world.app)
  await browser.signIn(token, 'Ada')
  const path = `/incidents/${number}/postmortem`
  const send = async (fields: Readonly<Record<string, string>>) =>
    browser.post(path, { csrf: await browser.csrf(path), ...fields })
  const document = async () => (await world.request('GET', `/api/incidents/${id}/postmortem`, { token })).body
  return { ...world, token, browser, path, id: String(id), send, document }
}

test('the document has every section, its figures, and the evidence of its sentences', async (t) => {
  const { browser, path } = await mendedCart(t)
  const { html, status } = await browser.get(path)
  assert.equal(status, 200)
  for (const part of ['Summary', 'Impact', 'Timeline', 'Root cause', 'Figures', 'Lessons', 'Actions', 'Evidence'])
    assert.match(html, new RegExp(`<h2 id="[a-z-]+">${part}</h2>`))
  assert.match(html, /6 of 6 parts for people are empty/)
  assert.match(html, /<a href="#e1">E1<\/a>.*<li id="e1">/s)
})

for (const [name, field] of [
  ['summary', (body: any) => body.summary.addition],
  ['customers', (body: any) => body.impact.customers],
  ['rootCause', (body: any) => body.rootCause.text],
  ['wentWell', (body: any) => body.lessons.wentWell],
  ['lucky', (body: any) => body.lessons.lucky],
] as const) {
  test(`the part ${name} is written, shown with its line breaks, and taken back`, async (t) => {
    const { browser, path, send, document } = await mendedCart(t)
    assert.match((await browser.get(`${path}?edit=${name}`)).html, new RegExp(`<textarea id="text-${name}"`))
    assert.equal((await send({ [name]: 'first\r\nsecond' })).location, `${path}?done=saved#${name}`)
    assert.equal(field(await document()), 'first\nsecond')
    assert.match((await browser.get(path)).html, /written-text break">first\nsecond</)
    await send({ [name]: ' ' })
    assert.equal(field(await document()), null)
  })
}

test('a final postmortem has no field, and takes words only as a draft again', async (t) => {
  const { browser, path, send, document } = await mendedCart(t)
  await send({ state: 'final' })
  assert.doesNotMatch((await browser.get(`${path}?edit=summary`)).html, /<textarea|>Write</)
  assert.equal((await send({ summary: 'too late' })).status, 409)
  await send({ state: 'draft' })
  await send({ summary: 'in time' })
  assert.equal((await document()).summary.addition, 'in time')
})

test('an unknown part and an unknown state change nothing', async (t) => {
  const { browser, path, send, document } = await mendedCart(t)
  const before = await document()
  assert.equal((await send({ exploded: 'x', state: 'exploded' })).status, 303)
  assert.equal((await browser.get(`${path}?edit=exploded`)).status, 200)
  assert.deepEqual(await document(), before)
})

test('the same document is served as Markdown', async (t) => {
  const { browser, path } = await mendedCart(t)
  const { html, headers } = await browser.get(`${path}.md`)
  assert.match(headers.get('content-type') ?? '', /^text\/markdown/)
  assert.match(html, /^# Postmortem: cart: Down/)
})

test('an incident that is not resolved says why there is no postmortem', async (t) => {
  const { browser, path, request, token, id } = await mendedCart(t)
  const open = { title: 'slow', serviceId: (await request('GET', `/api/incidents/${id}`, { token })).body.serviceId }
  const { number } = (await request('POST', '/api/incidents', { token, body: { ...open, severity: 'error' } })).body
  const { status, html } = await browser.get(path.replace('/1/', `/${number}/`))
  assert.equal(status, 404)
  assert.match(html, /when the incident is resolved/)
})

test('Charlie and somebody who may only read cannot write', async (t) => {
  const { app, db, acme, charlie, path, id, document } = await mendedCart(t)
  const [reader, outsider] = [makeBrowser(app), makeBrowser(app)]
  await reader.signIn(makeToken(db, acme, ['read']))
  await outsider.signIn(charlie.token)
  assert.doesNotMatch((await reader.get(path)).html, /Mark as final|>Write</)
  assert.equal((await reader.post(path, { summary: 'x' })).status, 403)
  assert.equal((await outsider.get(`/incidents/${id}/postmortem`)).status, 404)
  assert.equal((await document()).summary.addition, null)
})

test('hostile words of senders and people are shown as text', async (t) => {
  const hostile = '</textarea><script>alert(1)</script><img src=x onerror=alert(1)>'
  const { browser, path, send } = await mendedCart(t, hostile)
  await send({ summary: hostile })
  for (const address of [path, `${path}?edit=summary`]) {
    const { html } = await browser.get(address)
    assert.doesNotMatch(html, /<script>alert|<img/)
    assert.match(html, /&lt;script&gt;alert/)
  }
})
