/** Fetching graphs from Prometheus, and how pages show them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fetchGraphs } from '../../src/notify/graphs.ts'
import { allowing } from '../../src/server/connection/addresses.ts'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE } from '../helpers/factory.ts'
import { makeBrowser } from '../helpers/site.ts'
import { answering, startReceiver } from './receiver.ts'

const NOON = Date.parse('2026-03-14T12:00:00Z')
const at = (minutes: number) => new Date(NOON + minutes * MINUTE).toISOString()
const values = Array.from({ length: 30 }, (_, i) => [NOON / 1000 - 15 * (30 - i), `${i % 7}`])
const result = [{ metric: { instance: 'cart<b>' }, values }]
const GRAPH = answering(200, JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } }))
const labels = { alertname: 'CartDown', namespace: 'shop', service: 'cart', severity: 'critical' }
const generatorURL = 'http://prometheus:9090/graph?g0.expr=up%7Bjob%3D%22cart%22%7D+%3D%3D+0&g0.tab=1'

/** An incident with an alert from Prometheus, whose responses are `answers`. */
async function start(t: TestContext, answers: Parameters<typeof answering>[] | 'graph', more: object = {}) {
  const world = makeWorld(t)
  const { token } = world.acme
  const prometheus = await startReceiver(
    t,
    ...(answers === 'graph' ? [GRAPH] : answers.map((one) => answering(...one))),
  )
  const headers = { 'Content-Type': 'application/json' }
  const set = (url: string, own = token) =>
    world.request('PATCH', '/api/organization', { token: own, body: { settings: { 'prometheus-url': url } }, headers })
  await set(`${prometheus.url}/prefix/`)
  const alert = { labels, startsAt: at(-5), endsAt: at(30), generatorURL, ...more }
  await world.request('POST', '/alertmanager/api/v2/alerts', { token, body: [alert], headers })
  const network = { resolve: async () => [], isAllowed: allowing(['127.0.0.0/8']), timeoutMs: 5_000 }
  const browser = makeBrowser(world.app)
  await browser.signIn(token)
  const page = async (path = '/incidents/1') => (await browser.get(path)).html
  return { ...world, token, set, prometheus, page, network, fetch: (to = network) => fetchGraphs(world.deps, to) }
}

test('the incident, its alert and its postmortem show the graph', async (t) => {
  const { fetch, page, prometheus, request, token } = await start(t, 'graph')
  await fetch()
  const [asked] = prometheus.received
  const sent = new URLSearchParams(asked?.text)
  assert.deepEqual([asked?.path, sent.get('query')], ['/prefix/api/v1/query_range', 'up{job="cart"}'])
  const incident = (await request('GET', '/api/incidents', { token })).body.data[0].id
  await request('PATCH', `/api/incidents/${incident}`, { token, body: { status: 'resolved' } })
  const alert = (await request('GET', '/api/alerts', { token })).body.data[0].id
  for (const path of ['/incidents/1', `/alerts/${alert}`, '/incidents/1/postmortem']) {
    const html = await page(path)
    assert.match(html, /<path class="graph-line graph-line-0" d="M[\d. ]+L/, path)
    assert.match(html, /up\{job=&quot;cart&quot;\} == 0/)
    assert.match(html, /instance=&quot;cart&lt;b&gt;&quot;/)
  }
})

test('a graph is fetched once, again while the incident is open, and once after its end', async (t) => {
  const { fetch, prometheus, clock } = await start(t, 'graph')
  const asked = async (minutes: number) => {
    clock.now = NOON + minutes * MINUTE
    await fetch()
    return prometheus.received.length
  }
  assert.deepEqual([await asked(0), await asked(1), await asked(5), await asked(6)], [1, 1, 2, 2])
})

for (const [what, answer, words] of [
  ['an error', [400, '{"status":"error","error":"bad data"}'], 'Prometheus refused the query: bad data'],
  ['a page', [200, '<html>'], 'Prometheus refused the query'],
  ['a status', [502, 'Bad Gateway'], 'Prometheus answered with the status 502'],
  ['a redirect', [302, '', { Location: 'http://169.254.169.254/' }], 'Prometheus answered with the status 302'],
  ['more than a megabyte', [200, 'x'.repeat(2_000_000)], 'the response is larger than 1 MiB'],
] as const) {
  test(`if Prometheus responds with ${what}, the incident says so`, async (t) => {
    const { fetch, page } = await start(t, [answer as never])
    await fetch()
    assert.match(await page(), new RegExp(`There is no graph. incmon could not get it\\s+from Prometheus: ${words}`))
  })
}

test('if Prometheus is down, the incident says so, and a later failure keeps the graph', async (t) => {
  const { fetch, page, set, clock, prometheus } = await start(t, 'graph')
  await set('http://127.0.0.1:9')
  await fetch()
  assert.match(await page(), /port 9 on 127.0.0.1 is reserved/)
  clock.now += MINUTE
  await set(prometheus.url)
  await fetch()
  clock.now += 5 * MINUTE
  await set('http://127.0.0.1:65000')
  await fetch()
  const html = await page()
  assert.match(html, /graph-line-0/)
  assert.match(html, /could not be updated. incmon could not get it\s+from Prometheus: the connection failed/)
})

test('no request is sent to a private address that is not allowed', async (t) => {
  const { fetch, page, prometheus, network } = await start(t, 'graph')
  await fetch({ ...network, isAllowed: () => false })
  assert.equal(prometheus.received.length, 0)
  assert.match(await page(), /add 127.0.0.1 or its network to notify-allow/)
})

test('an alert without an expression has no graph, and Prometheus is not asked', async (t) => {
  const { fetch, page, prometheus } = await start(t, 'graph', { generatorURL: 'http://prometheus:9090/graph' })
  await fetch()
  assert.deepEqual([prometheus.received.length, /id="graph"/.test(await page())], [0, false])
})

test('without the setting, Prometheus is not asked', async (t) => {
  const { fetch, page, prometheus, set } = await start(t, 'graph')
  await set('')
  await fetch()
  assert.deepEqual([prometheus.received.length, /id="graph"/.test(await page())], [0, false])
})

test('Charlie’s Prometheus is not asked about Acme’s alerts, and Charlie does not see the graph', async (t) => {
  const { fetch, set, charlie, app, prometheus } = await start(t, 'graph')
  await set('')
  await set(prometheus.url, charlie.token)
  await fetch()
  assert.equal(prometheus.received.length, 0)
  const browser = makeBrowser(app)
  await browser.signIn(charlie.token)
  assert.equal((await browser.get('/incidents/1')).status, 404)
})

for (const url of ['ftp://prometheus', 'prometheus:9090', 'http://user:secret@prometheus', 'http://p/?x=1', 'x']) {
  test(`${url} is refused as the URL of Prometheus`, async (t) => {
    const { set } = await start(t, 'graph')
    const { status, body } = await set(url)
    assert.equal(status, 400)
    assert.match(JSON.stringify(body), /expected a URL such as http:\/\/prometheus:9090/)
  })
}
