/** The postmortem in a browser without JavaScript: read, edited section by section, finalized, and as Markdown. */
// biome-ignore-all lint/suspicious/noExplicitAny: tests read what openapi.json has checked already
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, makeToken, NOON } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

/** Reports through webhooks that cart was down. Its incident has been resolved. */
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
  assert.match(
    html,
    /document-timeline"><tbody><tr><td class="nowrap quiet">\d+ [A-Z][a-z]{2} (?:\d{4} )?\d\d:\d\d:\d\d</,
  )
  for (const part of ['Summary', 'Impact', 'Timeline', 'Root cause', 'Figures', 'Lessons', 'Action items', 'Evidence'])
    assert.match(html, new RegExp(`<h2 id="[a-z-]+">${part}</h2>`))
  assert.match(html, /6 of 6 parts are not written yet: <a href="#part-summary">Summary<\/a>, .*<a href="#part-lucky">/)
  const ids = html.match(/(?<= id=")[^"]+/g) ?? []
  assert.deepEqual(ids, [...new Set(ids)])
  assert.match(html, /<a href="#root-cause">Root cause<span class="quiet"> to write<\/span>/)
  assert.match(html, /<a href="#e1">E1<\/a>.*<li id="e1">/s)
  const figures = [...html.matchAll(/<p class="figure">([^<]*)</g)].map(([, text]) => text)
  assert.deepEqual(figures, ['2 min', '2 min'], 'only a duration is large')
  assert.match(html, /<p>Undefined: nobody acknowledged the incident before it was resolved\.<\/p>/)
})

test('the picture says why the score is low after the problem, unless the problem is not over', async (t) => {
  const { browser, path, request, token, clock } = await mendedCart(t)
  const note = /The penalty of an alert fades over 30 min after the alert has ended\./
  assert.doesNotMatch((await browser.get(path)).html, note)
  clock.now = NOON + 5 * MINUTE
  const body = alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON - 2 * MINUTE, endsAt: clock.now })])
  await request('POST', '/api/webhooks/metrics', { token, body })
  clock.now = NOON + 11 * MINUTE
  const incident = (await request('GET', '/api/incidents', { token })).body.data[0]
  for (const status of ['investigating', 'resolved'])
    await request('PATCH', `/api/incidents/${incident.id}`, { token, body: { status } })
  assert.match((await browser.get(path)).html, note)
})

for (const [name, field] of [
  ['summary', (body: any) => body.summary.addition],
  ['customers', (body: any) => body.impact.customers],
  ['rootCause', (body: any) => body.rootCause.text],
  ['wentWell', (body: any) => body.lessons.wentWell],
  ['lucky', (body: any) => body.lessons.lucky],
] as const) {
  test(`the section ${name} is edited, shown with its line breaks, and cleared`, async (t) => {
    const { browser, path, send, document } = await mendedCart(t)
    assert.match((await browser.get(`${path}?edit=${name}`)).html, new RegExp(`<textarea id="text-${name}"`))
    assert.equal((await send({ [name]: 'first\r\nsecond' })).location, `${path}?done=saved#part-${name}`)
    assert.equal(field(await document()), 'first\nsecond')
    assert.match((await browser.get(path)).html, /typed break">first\nsecond</)
    await send({ [name]: ' ' })
    assert.equal(field(await document()), null)
  })
}

test('the first line counts the action items that are not done, and those without an owner', async (t) => {
  const { browser, path, request, id, token } = await mendedCart(t)
  const actions = [
    { id: 'a', text: 'Grow the disk' },
    { id: 'b', text: 'Write an alert', owner: 'Ada' },
    { id: 'c', text: 'Write a runbook', state: 'done' },
  ]
  await request('PATCH', `/api/incidents/${id}/postmortem`, { token, body: { actions } })
  assert.match(
    (await browser.get(path)).html,
    /<a href="#action-items">3 action items<\/a> are not done; nobody owns 2\./,
  )
})

test('a final postmortem has no fields, and can be edited only as a draft', async (t) => {
  const { browser, path, send, document } = await mendedCart(t)
  await send({ state: 'final' })
  assert.doesNotMatch((await browser.get(`${path}?edit=summary`)).html, /<textarea|>Write</)
  assert.equal((await send({ summary: 'too late' })).status, 409)
  await send({ state: 'draft' })
  await send({ summary: 'in time' })
  assert.equal((await document()).summary.addition, 'in time')
})

test('an unknown section and an unknown state change nothing', async (t) => {
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

test('the page of an unresolved incident says why there is no postmortem', async (t) => {
  const { browser, path, request, token, id } = await mendedCart(t)
  const open = { title: 'slow', serviceId: (await request('GET', `/api/incidents/${id}`, { token })).body.serviceId }
  const { number } = (await request('POST', '/api/incidents', { token, body: { ...open, severity: 'error' } })).body
  const { status, html } = await browser.get(path.replace('/1/', `/${number}/`))
  assert.equal(status, 404)
  assert.match(html, /when the incident is resolved/)
})

test('Charlie and people with read access cannot edit', async (t) => {
  const { app, db, acme, charlie, path, id, document } = await mendedCart(t)
  const [reader, outsider] = [makeBrowser(app), makeBrowser(app)]
  await reader.signIn(makeToken(db, acme, ['read']))
  await outsider.signIn(charlie.token)
  assert.doesNotMatch((await reader.get(path)).html, /Mark as final|>Write</)
  assert.equal((await reader.post(path, { summary: 'x' })).status, 403)
  assert.equal((await outsider.get(`/incidents/${id}/postmortem`)).status, 404)
  assert.equal((await document()).summary.addition, null)
})

test('hostile text from senders and people is shown as text', async (t) => {
  const hostile = '</textarea><script>alert(1)</script><img src=x onerror=alert(1)>'
  const { browser, path, send } = await mendedCart(t, hostile)
  await send({ summary: hostile })
  for (const address of [path, `${path}?edit=summary`]) {
    const { html } = await browser.get(address)
    assert.doesNotMatch(html, /<script>alert|<img/)
    assert.match(html, /&lt;script&gt;alert/)
  }
})

test('a live update never replaces a form that somebody is filling in, so that a conflict is noticed', async (t) => {
  const { browser, path } = await mendedCart(t)
  assert.match((await browser.get(path)).html, /<main [^>]*data-live/)
  assert.doesNotMatch((await browser.get(`${path}?edit=customers`)).html, /<main [^>]*data-live/)
})

test('if two people edit one section, nothing is lost: the second sees both texts and saves again', async (t) => {
  const { send, document } = await mendedCart(t)
  await send({ summary: 'Ada: the cache', seen: '' })
  const refused = await send({ summary: 'Kim: the limit', seen: '' })
  assert.equal(refused.status, 409)
  assert.match(
    refused.html,
    /Not saved\..*Somebody else changed this part.*Ada: the cache.*<textarea[^>]*>Kim: the limit</s,
  )
  assert.match(refused.html, /name="seen" value="Ada: the cache"/)
  assert.equal((await document()).summary.addition, 'Ada: the cache')
  await send({ summary: 'Ada and Kim', seen: 'Ada: the cache' })
  assert.equal((await document()).summary.addition, 'Ada and Kim')
})

test('a section that nobody else changed is saved, and so is the same text twice', async (t) => {
  const { send } = await mendedCart(t)
  await send({ summary: 'the cache', seen: '' })
  assert.equal((await send({ lucky: 'it was night', seen: '' })).status, 303)
  assert.equal((await send({ summary: 'the cache', seen: '' })).status, 303)
  assert.equal((await send({ summary: 'a\r\n\r\nb', seen: 'the cache' })).status, 303)
  assert.equal((await send({ summary: 'c', seen: 'a\r\n\r\nb' })).status, 303)
})

test('a text is not lost if somebody finalizes the postmortem in the meantime', async (t) => {
  const { send } = await mendedCart(t)
  await send({ state: 'final' })
  const { status, html } = await send({ summary: 'a long story', seen: '' })
  assert.equal(status, 409)
  assert.match(html, /marked this postmortem as final.*<textarea[^>]*>a long story</s)
})

test('if a session ends during an edit, nothing is lost: the text is back after signing in', async (t) => {
  const { app, path, token, document } = await mendedCart(t)
  const stranger = makeBrowser(app)
  const { status, html } = await stranger.post(path, { csrf: 'old', summary: 'three\nlines\nof <text>', seen: '' })
  assert.equal(status, 403)
  const waiting = /name="waiting" value="([^"]*)"/.exec(html)?.[1] ?? ''
  assert.equal(new URLSearchParams(waiting.replaceAll('&amp;', '&')).get('summary'), 'three\nlines\nof <text>')
  assert.equal((await document()).summary.addition, null)
  await stranger.signIn(token)
  assert.equal((await stranger.get(path)).status, 200)
})

test('an open incident has no postmortem yet, and the page says which button creates it', async (t) => {
  const world = makeWorld(t)
  const { token } = world.acme
  const body = alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON })])
  await world.request('POST', '/api/webhooks/metrics', { token, body })
  const browser = makeBrowser(world.app)
  await browser.signIn(token)
  const { status, html } = await browser.get('/incidents/1/postmortem')
  assert.equal(status, 404)
  assert.match(html, /choose “Resolve…” on the incident page.*Resolve incident 1…/s)
  assert.doesNotMatch(html, /PATCH|\/api\/incidents/)
})
