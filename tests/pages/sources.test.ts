/** The Sources page: the URL for senders, and the senders whose tokens were refused. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import type { ServerContext } from '../../src/server/context.ts'
import { makeWorld } from '../helpers/app.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

async function start(t: TestContext, around: Partial<ServerContext> = {}) {
  const world = makeWorld(t, undefined, undefined, around)
  const browser = makeBrowser(world.app)
  await browser.signIn(world.acme.token)
  const charlie = makeBrowser(world.app)
  await charlie.signIn(world.charlie.token)
  return { ...world, browser, outsider: charlie }
}

const listening = (url: string, publicUrl = url) => ({ listening: () => ({ url, publicUrl, certificate: null }) })
const HINT = /Senders on other machines cannot reach this address\. For them,\s*(.*?) to the URL at which/s
const textOf = (html: string) => html.replace(/<\/?code>/g, '')

for (const [what, around, said] of [
  ['a server on a loopback address', listening('http://127.0.0.1:8080'), /set host to an address.+ set public-url$/s],
  ['a server on all addresses', listening('http://0.0.0.0:8080'), /^\s*set public-url$/],
  ['a loopback public-url', listening('http://0.0.0.0:8080', 'http://localhost:8080'), /^\s*set public-url$/],
] as const) {
  test(`names the settings to change for ${what}, on both pages`, async (t) => {
    const { browser } = await start(t, around)
    for (const path of ['/sources', '/welcome']) {
      const { html } = await browser.get(path)
      assert.match(html, /<mark>http:\/\/localhost\/api\/webhooks\/metrics<\/mark>/)
      assert.match(HINT.exec(textOf(html))?.[1] ?? '', said)
    }
  })
}

test('the entry for Prometheus has the address and the new token', async (t) => {
  const { browser } = await start(t, listening('http://127.0.0.1:8080', 'https://incmon.example.com/ops'))
  const { html } = await browser.send('/sources?connect=prometheus', { connect: 'prometheus' })
  const [, token = ''] = /<code id="secret">(incmon_[\w-]{43})<\/code>/.exec(html) ?? []
  const [, shown = ''] = /<pre id="configuration"[^>]*>(.*?)<\/pre>/s.exec(html) ?? []
  const [entry] = parse(shown.replaceAll('&#39;', "'")).alerting.alertmanagers
  assert.deepEqual(entry, {
    ...{ scheme: 'https', path_prefix: '/ops/alertmanager', authorization: { credentials: token } },
    static_configs: [{ targets: ['incmon.example.com'] }],
  })
})

test('offers the public-url to a visitor at a loopback address, without a hint', async (t) => {
  const { browser } = await start(t, listening('http://127.0.0.1:8080', 'https://incmon.example.com/ops'))
  const { html } = await browser.get('/sources')
  assert.match(html, /<mark>https:\/\/incmon\.example\.com\/ops\/api\/webhooks\/metrics<\/mark>/)
  assert.doesNotMatch(html, HINT)
})

for (const [host, isLocal] of [
  ['incmon.example.com', false],
  ['192.168.1.5', false],
  ['127.example.com', false],
  ['127.0.0.2', true],
  ['[::1]', true],
  ['incmon.localhost', true],
] as const) {
  test(`a visitor at ${host} ${isLocal ? 'gets' : 'does not get'} the hint`, async (t) => {
    const { browser } = await start(t, { isTrusted: () => true })
    const { html } = await browser.get('/sources', { 'x-forwarded-host': host, 'x-forwarded-proto': 'http' })
    assert.ok(html.includes(`<mark>http://${host}/api/webhooks/metrics</mark>`))
    assert.equal(HINT.test(html), isLocal)
  })
}

/** Returns a list of refused senders with hostile names, as a proxy could forward them. */
const refused = (more: number) => ({
  wrongTokens: {
    ...{ add: () => 0, done: () => {} },
    senders: () => ({ newest: [{ network: '<b>192.0.2.1', times: 3, withinMs: 60_000, agoMs: 120_000 }], more }),
  },
})

test('lists who was refused with 401, and how many more there are', async (t) => {
  const { browser, db, acme } = await start(t, refused(7))
  for (const table of ['sessions', 'tokens']) db.execute(`DELETE FROM ${table} WHERE organization_id <> ${acme.key}`)
  db.execute(`DELETE FROM organizations WHERE id <> ${acme.key}`)
  const { html } = await browser.get('/sources')
  assert.match(
    html,
    /Refused with 401 in the last hour: &lt;b&gt;192\.0\.2\.1 \(3 times in 1 min, last 2 min ago\) and 7 more networks\./,
  )
})

test('hides who was refused if there are several organizations, because the request belongs to none', async (t) => {
  const { browser, outsider } = await start(t, refused(0))
  for (const visitor of [browser, outsider])
    assert.doesNotMatch((await visitor.get('/sources')).html, /Refused with 401/)
})

test('says nothing about refused senders if there are none', async (t) => {
  const { browser } = await start(t)
  assert.doesNotMatch((await browser.get('/sources')).html, /Refused with 401/)
})

test('the headline says what was rejected, and that no sender has a heartbeat', async (t) => {
  const { browser, outsider, request, acme } = await start(t)
  const body = { reason: 'BackOff' }
  assert.equal((await request('POST', '/api/webhooks/cluster', { token: acme.token, body })).status, 400)
  const { html } = await browser.get('/sources')
  assert.match(html, /<h1>\s*1 sender is connected\.[\s\S]*1 sender has no heartbeat\. 1 item was rejected\./)
  assert.match((await outsider.get('/sources')).html, /<h1>\s*No sender is connected yet\./)
})

test('two senders of one kind show the names of their tokens, and a sender alone does not', async (t) => {
  const { browser, request, acme } = await start(t)
  const details = async () => [...(await browser.get('/sources')).html.matchAll(/<span class="second">(metrics[^<]*)/g)]
  const body = alertmanager([alert('Watchdog', {})])
  await request('POST', '/api/webhooks/metrics', { token: acme.token, body })
  assert.deepEqual(
    (await details()).map(([, text]) => text),
    ['metrics, receiver incmon'],
  )
  await request('POST', '/api/webhooks/metrics', { token: acme.token, body: { ...body, receiver: 'other' } })
  for (const [, text] of await details()) assert.match(text ?? '', /receiver (incmon|other), token \w+/)
})

test('the headline counts the senders with and without a heartbeat', async (t) => {
  const { browser, request, acme } = await start(t)
  const token = acme.token
  await request('POST', '/api/webhooks/metrics', { token, body: alertmanager([alert('Watchdog', {})]) })
  await request('POST', '/api/webhooks/cluster', { token, body: { reason: 'BackOff' } })
  assert.match((await browser.get('/sources')).html, /1 heartbeat is on time; 1 sender has no heartbeat\./)
})
