/** The acknowledge link in a message: signed, for one incident, for a limited time. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { acknowledgePath } from '../../src/actions/acknowledgement.ts'
import { createChannel, removeChannel } from '../../src/actions/channels.ts'
import type { ChannelKind } from '../../src/domain/notification/format.ts'
import { findChannel, loadChannelSecrets } from '../../src/store/notification/channels.ts'
import { type Member, makeWorld } from '../helpers/app.ts'
import { DAY, makeService, newUuid } from '../helpers/factory.ts'
import { makeBrowser } from '../helpers/site.ts'

async function withLink(t: TestContext, { as = 'acme' as 'acme' | 'charlie', kind = 'slack' as ChannelKind } = {}) {
  const world = makeWorld(t)
  const { acme, deps, db, request, app } = world
  const { id: serviceId } = makeService(db, acme, 'checkout')
  const wanted = { title: 'checkout: Down', serviceId, severity: 'critical' }
  const incident = (await request('POST', '/api/incidents', { token: acme.token, body: wanted })).body
  const wantedChannel = { name: '#on-call', kind, target: 'https://a.example/' }
  const { id: channelId } = createChannel(deps, world[as].key, wantedChannel)
  const channel = findChannel(db, world[as].key, channelId)
  const secrets = loadChannelSecrets(db, channel?.rowId ?? 0)
  const makePath = () => acknowledgePath(deps, { channelId, incidentId: incident.id }, secrets?.acknowledging ?? '')
  const path = makePath()
  const fields = fieldsOf(path)
  const move = (status: string) =>
    request('PATCH', `/api/incidents/${incident.id}`, { token: acme.token, body: { status } })
  const shown = async (member: Member = acme) => {
    const { body } = await request('GET', `/api/incidents/${incident.id}`, { token: member.token })
    return { status: body.status as string, timeline: body.timeline as { kind: string; actor: string | null }[] }
  }
  return { ...world, browser: makeBrowser(app), makePath, path, fields, shown, move, channelId, secrets }
}

function fieldsOf(path: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(path.split('?')[1]))
}

const PATH = '/acknowledge'

test('opening the link changes nothing; its button acknowledges the incident in the name that the person gives', async (t) => {
  const { browser, path, fields, shown } = await withLink(t)
  const { status, html } = await browser.get(path)
  assert.deepEqual([status, (await shown()).status], [200, 'open'])
  assert.match(html, /checkout: Down[\s\S]+Incident #1 of Acme, critical[\s\S]+name="name"[\s\S]+>Acknowledge</)
  const nameless = await browser.post(PATH, { ...fields, name: ' ' })
  assert.deepEqual([nameless.status, (await shown()).status], [400, 'open'])
  const pressed = await browser.post(PATH, { ...fields, name: 'Dana' })
  assert.deepEqual([pressed.status, pressed.location], [303, path])
  const { status: after, timeline } = await shown()
  assert.deepEqual([after, timeline.find(({ kind }) => kind === 'status')?.actor], ['investigating', 'Dana'])
  assert.match((await browser.get(path)).html, /Dana is working on this incident/)
})

test('a person who is signed in acknowledges under their own name', async (t) => {
  const { browser, path, fields, shown, acme } = await withLink(t)
  await browser.signIn(acme.token, 'Anna')
  assert.match((await browser.get(path)).html, />Acknowledge as Anna</)
  await browser.post(PATH, fields)
  assert.equal((await shown()).timeline.find(({ kind }) => kind === 'status')?.actor, 'Anna')
})

test("Charlie, who is signed in elsewhere, is not named in Acme's timeline", async (t) => {
  const { browser, fields, shown, charlie } = await withLink(t)
  await browser.signIn(charlie.token, 'Charlie')
  await browser.post(PATH, { ...fields, name: 'Dana' })
  assert.equal((await shown()).timeline.find(({ kind }) => kind === 'status')?.actor, 'Dana')
})

test("a link signed by Charlie's channel does not open Acme's incident", async (t) => {
  const { browser, path, fields, shown } = await withLink(t, { as: 'charlie' })
  const { status, html } = await browser.get(path)
  assert.equal(status, 403)
  assert.doesNotMatch(html, /checkout|Acme/)
  assert.equal((await browser.post(PATH, fields)).status, 403)
  assert.equal((await shown()).status, 'open')
})

for (const [what, change] of [
  ['another incident', { incident: newUuid() }],
  ['another channel', { channel: newUuid() }],
  ['another opening', { opening: '1' }],
  ['a later end', { until: '4102444800' }],
  ['an end that is no number', { until: 'never' }],
  ['another signature', { signature: 'v1,AAAA' }],
  ['no signature', { signature: '' }],
  ['malformed ids', { incident: "' OR 1=1", channel: '<script>' }],
] as const) {
  test(`a link with ${what} is refused and changes nothing`, async (t) => {
    const { browser, fields, shown } = await withLink(t)
    const { status, html } = await browser.post(PATH, { ...fields, ...change })
    assert.equal(status, 403)
    assert.match(html, /This link no longer works/)
    assert.equal((await shown()).status, 'open')
  })
}

test('an expired link says so', async (t) => {
  const { browser, path, fields, shown, clock } = await withLink(t)
  clock.now += 3 * DAY
  assert.match((await browser.get(path)).html, /expire after three days/)
  assert.equal((await browser.post(PATH, fields)).status, 403)
  assert.equal((await shown()).status, 'open')
})

test('the links of a deleted channel no longer work', async (t) => {
  const { browser, path, deps, acme, channelId } = await withLink(t)
  removeChannel(deps, acme.key, channelId)
  assert.equal((await browser.get(path)).status, 403)
})

test('another site cannot press the button', async (t) => {
  const { browser, fields, shown } = await withLink(t)
  assert.equal((await browser.post(PATH, fields, { origin: 'https://evil.example' })).status, 403)
  assert.equal((await shown()).status, 'open')
})

test('a resolved incident is not reopened by a late click', async (t) => {
  const { browser, path, fields, shown, move } = await withLink(t)
  await move('resolved')
  await browser.post(PATH, fields)
  assert.equal((await shown()).status, 'resolved')
  assert.match((await browser.get(path)).html, /nothing left to acknowledge/)
})

test('the link of an incident that was merged into another one names that one', async (t) => {
  const { browser, path, fields, shown, request, acme, deps, move } = await withLink(t)
  const token = acme.token
  const serviceId = makeService(deps.db, acme, 'cart').id
  const body = { title: 'cart is slow', serviceId, severity: 'critical' }
  const into = (await request('POST', '/api/incidents', { token, body })).body.id
  const id = fields.incident ?? ''
  assert.equal((await request('POST', `/api/incidents/${id}/merge`, { token, body: { into } })).status, 200)
  const { html } = await browser.get(path)
  assert.match(
    html,
    /merged into incident #2, “cart is slow”, whose problem goes on\.[\s\S]+"\/incidents\/2">Show incident #2</,
  )
  assert.doesNotMatch(html, /is over|nothing left/)
  await browser.post(PATH, { ...fields, name: 'Dana' })
  assert.equal((await shown()).status, 'resolved')
  const change = (status: string) => request('PATCH', `/api/incidents/${into}`, { token, body: { status } })
  await change('investigating')
  assert.match((await browser.get(path)).html, /goes on\. Acme&#39;s token is working on it\./)
  await change('resolved')
  assert.match(
    (await browser.get(path)).html,
    /into incident #2, “cart is slow”, which is resolved, and whose problem is over\./,
  )
  assert.equal((await move('open')).status, 409)
})

test('a link from before the incident was reopened says so, and a new link works', async (t) => {
  const { browser, path, fields, shown, move, makePath } = await withLink(t)
  for (const status of ['resolved', 'open']) await move(status)
  assert.match((await browser.get(path)).html, /reopened after this message/)
  assert.equal((await browser.post(PATH, fields)).status, 403)
  assert.equal((await shown()).status, 'open')
  assert.equal((await browser.post(PATH, { ...fieldsOf(makePath()), name: 'Dana' })).status, 303)
  assert.equal((await shown()).status, 'investigating')
})

test('the secret of a webhook cannot be used to sign a link', async (t) => {
  const { browser, fields, shown, secrets } = await withLink(t, { kind: 'webhook' })
  const { Webhook } = await import('standardwebhooks')
  const until = new Date(Number(fields.until) * 1000)
  const signed = `${fields.incident} ${fields.channel} ${fields.opening}`
  const sign = (key: string | null | undefined) => new Webhook(key ?? '').sign('acknowledge', until, signed)
  assert.equal(sign(secrets?.acknowledging), fields.signature)
  const forged = { ...fields, signature: sign(secrets?.signing) }
  assert.equal((await browser.post(PATH, forged)).status, 403)
  assert.equal((await shown()).status, 'open')
})

test('a signature with the key for links is valid for no other purpose', async (t) => {
  const { browser, fields, secrets } = await withLink(t)
  const { Webhook } = await import('standardwebhooks')
  const signed = `${fields.incident} ${fields.channel} ${fields.opening}`
  const until = new Date(Number(fields.until) * 1000)
  const signature = new Webhook(secrets?.acknowledging ?? '').sign('msg_1', until, signed)
  assert.equal((await browser.post(PATH, { ...fields, signature })).status, 403)
})
