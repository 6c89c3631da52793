/** The page of one alert, with names and times that are hard to display. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import {
  DAY,
  MINUTE,
  makeAlert,
  makeCorrelation,
  makeEvent,
  makeIncident,
  makeService,
  NOON,
} from '../helpers/factory.ts'
import { makeBrowser } from '../helpers/site.ts'

type AlertColumns = Parameters<typeof makeAlert>[3]

/** Acme has one alert for `cart` in incident 1. Charlie is signed in with the browser `outsider`. */
async function oneAlert(t: TestContext, more: AlertColumns = {}) {
  const world = makeWorld(t)
  const { db, acme, app, charlie } = world
  const service = makeService(db, acme, 'cart')
  const incident = makeIncident(db, acme, service, { started_at: more?.starts_at ?? NOON })
  const made = makeAlert(db, acme, service, { incident_id: incident.key, starts_at: NOON - MINUTE, ...more })
  const [browser, outsider] = [makeBrowser(app), makeBrowser(app)]
  await browser.signIn(acme.token)
  await outsider.signIn(charlie.token)
  return { db, acme, browser, outsider, service, incident, made }
}

test('events with the same text about one object are one entry with a count', async (t) => {
  const { browser, db, acme, service, made } = await oneAlert(t, { name: 'BackOff' })
  const event = (object: string, at: number) =>
    makeEvent(db, acme, { service_id: service.key, alert_id: made.key, object, at })
  for (const n of [1, 2, 3]) event('Pod/x-1', NOON - n * MINUTE)
  event('Pod/x-2', NOON)
  const { html } = await browser.get(`/alerts/${made.id}`)
  const events = html.slice(html.indexOf('id="events"'))
  assert.equal(events.match(/class="entry"/g)?.length, 2)
  assert.match(events, /Events<.*>4<.*Pod\/x-2.*Pod\/x-1<.*class="times">×3<.*since.*11:57</s)
})

test('if an alert is about several objects, the page says that the labels are those of the first event', async (t) => {
  const { browser, db, acme, service, made } = await oneAlert(t, { labels: '{"name":"x-1"}' })
  const event = (object: string) => makeEvent(db, acme, { service_id: service.key, alert_id: made.key, object })
  const labels = /<h2>Labels<\/h2><span class="second">of the first event<\/span>/
  event('Pod/x-1')
  assert.doesNotMatch((await browser.get(`/alerts/${made.id}`)).html, labels)
  event('Pod/x-2')
  assert.match((await browser.get(`/alerts/${made.id}`)).html, labels)
})

test('an alert that lasted less than a second has no duration, and an ended one is not said to go on', async (t) => {
  const ended = { status: 'resolved', resolution: 'reported' } as const
  const text = async (more: AlertColumns) => {
    const { browser, made } = await oneAlert(t, more)
    return (await browser.get(`/alerts/${made.id}`)).html.replace(/<[^>]*>|\s+/g, ' ').replace(/ +/g, ' ')
  }
  assert.match(await text({ ...ended, ends_at: NOON - MINUTE }), / reported as resolved from 11:59/)
  assert.doesNotMatch(await text({ ...ended, ends_at: NOON - MINUTE }), /\b0 s/)
  assert.match(await text({ ...ended, ends_at: NOON }), /1 min ?, reported as resolved from 11:59/)
  assert.match(await text({}), /firing 1 min since 11:59/)
})

test('an alert of a pod links to the node of the pod if the node is a service', async (t) => {
  const { browser, db, acme, made } = await oneAlert(t, { node: 'worker-7' })
  assert.doesNotMatch((await browser.get(`/alerts/${made.id}`)).html, /node\/worker-7/)
  const node = makeService(db, acme, 'node/worker-7', { namespace: '' })
  const { html } = await browser.get(`/alerts/${made.id}`)
  assert.match(html, new RegExp(`on <a href="/services/${node.id}">node/worker-7</a>`))
})

test('the changes linked to an alert are listed even if its service has 60 newer links', async (t) => {
  const { browser, db, acme, service, made } = await oneAlert(t)
  makeCorrelation(db, acme, service, 0.9, made)
  for (let n = 0; n < 60; n += 1) makeCorrelation(db, acme, service, 0.5)
  const { html } = await browser.get(`/alerts/${made.id}`)
  const changes = html.slice(html.indexOf('id="changes"'))
  assert.match(changes, /0\.90, /)
  assert.doesNotMatch(changes, /0\.50, |No change is linked/)
})

test('an alert without events says that they have expired', async (t) => {
  const { browser, made } = await oneAlert(t)
  assert.match((await browser.get(`/alerts/${made.id}`)).html, /The events of this alert have expired\./)
})

for (const [name, shown] of [
  ['KubeDeploymentReplicasMismatch', /Kube<wbr\/?>Deployment<wbr\/?>Replicas<wbr\/?>Mismatch</],
  ['HighErrorRate', />HighErrorRate</],
  [`${'x'.repeat(20)}<b>`, />x{20}&lt;b&gt;</],
] as const) {
  test(`the name ${name} breaks only between its words`, async (t) => {
    const { browser, made } = await oneAlert(t, { name })
    for (const path of ['/alerts', `/alerts/${made.id}`]) assert.match((await browser.get(path)).html, shown)
  })
}

for (const [year, at] of [
  [1969, Date.parse('1969-07-20T20:17:00Z')],
  [1, Date.parse('0001-01-01T00:00:00Z')],
  [2101, Date.parse('2101-01-01T00:00:00Z')],
  [9999, Date.parse('9999-12-31T23:59:59Z')],
] as const) {
  test(`an alert and an incident from the year ${year} are shown on all pages`, async (t) => {
    const { browser, service, made } = await oneAlert(t, { starts_at: at })
    const paths = [
      '/',
      '/incidents',
      '/alerts',
      '/reports?range=1y',
      '/alerts?incident=1',
      `/alerts?service=${service.id}`,
    ]
    for (const path of [...paths, '/incidents/1', `/services/${service.id}`, `/alerts/${made.id}`]) {
      const { status, html } = await browser.get(path)
      assert.equal(status, 200, path)
      assert.doesNotMatch(html, /NaN|Invalid Date|Infinity|undefined/, path)
    }
  })
}

for (const [query, name, other] of [
  ['severity=critical', 'Down', 'HighErrorRate'],
  ['q=higherror', 'HighErrorRate', 'Down'],
  ['status=firing&q=DOWN', 'Down', 'HighErrorRate'],
] as const) {
  test(`within an incident's alerts, ${query} finds only ${name}`, async (t) => {
    const { browser, db, acme, service, incident } = await oneAlert(t, { name: 'HighErrorRate', severity: 'warning' })
    makeAlert(db, acme, service, { name: 'Down', severity: 'critical', incident_id: incident.key })
    const { html } = await browser.get(`/alerts?incident=1&${query}`)
    const rows = html.slice(html.indexOf('<tbody>'))
    assert.ok(rows.includes(`${name}<`))
    assert.ok(!rows.includes(`${other}<`))
  })
}

test("a page of an incident's alerts has at most 40 rows", async (t) => {
  const { browser, db, acme, service, incident } = await oneAlert(t)
  for (let n = 0; n < 81; n += 1) makeAlert(db, acme, service, { name: `Condition${n}`, incident_id: incident.key })
  const rows = async (path: string) => (await browser.get(path)).html.match(/<td class="alert-name"/g)?.length
  assert.equal(await rows('/alerts?incident=1'), 40)
  assert.equal(await rows('/alerts?incident=1&group=0&page=2'), 40)
  assert.equal(await rows('/alerts?incident=1&group=0&page=3'), 2)
})

for (const [services, view, shown, kB] of [
  [500, 'wall', 500, 110],
  [500, 'list', 25, 60],
  [1_900, 'wall', 600, 130],
  [1_900, 'list', 25, 60],
] as const) {
  test(`of ${services} services, the ${view} shows ${shown} on a page of at most ${kB} kB, and counts the rest`, async (t) => {
    const { browser, db, acme } = await oneAlert(t)
    for (let n = 1; n < services; n += 1) makeService(db, acme, `service-${n}`)
    const { html } = await browser.get(`/?view=${view}`)
    assert.equal(new Set(html.match(/href="\/services[/?][^"]+"/g)).size, shown)
    assert.ok(html.length < kB * 1000, `${html.length}`)
    const hidden = services - shown
    assert.equal(html.includes(`${hidden.toLocaleString('en')} more`), hidden > 0)
    assert.match(html, new RegExp(`All ${services.toLocaleString('en')} services`))
  })
}

test('the wall of 500 degraded services is a page of at most 110 kB', async (t) => {
  const { browser, db, acme } = await oneAlert(t)
  for (let n = 0; n < 500; n += 1) makeService(db, acme, `service-${n}`, { status: 'degraded', score: 88 })
  const { html } = await browser.get('/?view=wall')
  assert.equal(html.match(/class="cell-degraded"/g)?.length, 500)
  assert.ok(html.length < 110_000, `${html.length}`)
})

test('Charlie does not see the alert', async (t) => {
  const { outsider, made } = await oneAlert(t, { starts_at: NOON - DAY })
  assert.equal((await outsider.get(`/alerts/${made.id}`)).status, 404)
})
