/** The first suspect: the page, the message, the postmortem and the API all name the same change. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { findLikelyCause } from '../../src/store/incident/likely-cause.ts'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, build, pipeline } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

/** Cart fails a minute after a deploy of pay, which cart's alert mentions. Cart's own deploy is older. */
async function causes(t: TestContext) {
  const { acme, clock, request, app, db } = makeWorld(t)
  const call = async (method: string, path: string, body?: unknown) =>
    (await request(method, path, { token: acme.token, ...(body === undefined ? {} : { body }) })).body
  const deploy = (project: string, minute: number) => {
    clock.now = NOON + minute * MINUTE
    const jobs = [build('deploy', 'success')]
    return call('POST', '/api/webhooks/ci', pipeline('success', project, { at: clock.now, jobs }))
  }
  await deploy('shop/cart', 14)
  await deploy('shop/pay', 24)
  clock.now = NOON + 26 * MINUTE
  const slow = alert('PayFails', { service: 'pay' }, { startsAt: NOON + 25 * MINUTE })
  const fails = alert('CallsFail', { service: 'cart', upstream: 'pay' }, { startsAt: NOON + 25 * MINUTE })
  await call('POST', '/api/webhooks/metrics', alertmanager([fails, slow]))
  const services: { id: string; name: string }[] = await call('GET', '/api/services')
  const cart = services.find(({ name }) => name === 'cart')?.id
  const { data } = await call('GET', '/api/incidents')
  const incident = data.find(({ serviceId }: { serviceId: string }) => serviceId === cart)
  const browser = makeBrowser(app)
  await browser.signIn(acme.token, 'Ada')
  /** Returns what the API, the page, the message and the postmortem name. */
  const named = async () => {
    clock.now += MINUTE
    const { html } = await browser.get(`/incidents/${incident.number}`)
    const [first] = (await call('GET', `/api/incidents/${incident.id}/suspects`)).data.filter(isChange)
    const message = findLikelyCause(db, acme.key, incident.id, clock.now)?.cause ?? ''
    for (const status of ['resolved', 'open']) await call('PATCH', `/api/incidents/${incident.id}`, { status })
    const { contributing } = await call('GET', `/api/incidents/${incident.id}/postmortem`)
    return [first.ref, refIn(html.slice(html.indexOf('cause'))), refIn(message), contributing.changes[0].ref]
  }
  return { call, named, cart }
}

test('the page measures to the first alert of the service, not to the alert of the failed pipeline', async (t) => {
  const { acme, clock, request, app } = makeWorld(t)
  clock.now = NOON
  const body = pipeline('failed', 'shop/cart', { at: NOON, jobs: [build('deploy', 'failed')] })
  await request('POST', '/api/webhooks/ci', { token: acme.token, body })
  clock.now = NOON + 2 * MINUTE
  const down = alert('CartDown', { service: 'cart' }, { startsAt: NOON + MINUTE })
  await request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager([down]) })
  const browser = makeBrowser(app)
  await browser.signIn(acme.token, 'Ada')
  const { html } = await browser.get('/incidents/1')
  assert.match(html, /PipelineFailed/)
  assert.match(html, /started 6 min before the first alert/)
  assert.match(html, /First alert 12:01\. Best suspect 6 min before the first alert\./)
})

function isChange({ kind }: { readonly kind: string }): boolean {
  return kind === 'pipeline' || kind === 'rollout'
}

function refIn(text: string): string | undefined {
  return /shop\/\w+#\d+/.exec(text)?.[0]
}

test('the API, the page, the message and the postmortem name the same first cause', async (t) => {
  const { named } = await causes(t)
  const found = await named()
  assert.equal(new Set(found).size, 1, found.join())
  assert.match(String(found[0]), /^shop\/pay#/)
})

test('after a person confirmed another change, all of them name it', async (t) => {
  const { named, call, cart } = await causes(t)
  const { data } = await call('GET', '/api/correlations')
  const own = data.find(({ serviceId }: { serviceId: string }) => serviceId === cart)
  await call('PATCH', `/api/correlations/${own.id}`, { verdict: 'confirmed' })
  const found = await named()
  assert.deepEqual(new Set(found), new Set(['shop/cart#31']))
})

/** Pay and fruit, in two namespaces, fail a minute after a failed deploy of pay. Returns the incident of fruit. */
async function strangers(t: TestContext) {
  const world = makeWorld(t)
  const call = async (method: string, path: string, body: unknown) =>
    (await world.request(method, path, { token: world.acme.token, body })).body
  world.clock.now = NOON
  const deploy = pipeline('failed', 'shop/pay', { at: NOON, jobs: [build('deploy', 'failed')] })
  await call('POST', '/api/webhooks/ci', deploy)
  world.clock.now = NOON + 2 * MINUTE
  const labels = (service: string) => ({ service, namespace: service, severity: 'critical' })
  const down = ['pay', 'fruit'].map((name) => alert('Down', labels(name), { startsAt: NOON + MINUTE }))
  for (const one of down) await call('POST', '/api/webhooks/metrics', alertmanager([one]))
  const { data } = await call('GET', '/api/incidents', undefined)
  return { ...world, call, incident: data.find(({ title }: { title: string }) => title.includes('fruit')) }
}

test('the pages list a change that only time connects with this caveat, and say that no related change was found', async (t) => {
  const { app, acme, incident } = await strangers(t)
  const browser = makeBrowser(app)
  await browser.signIn(acme.token, 'Ada')
  const line = /aria-label="Incident 2".*?<\/article>/s.exec((await browser.get('/')).html)?.[0] ?? ''
  assert.match(line, /No likely cause found outside the service\./)
  assert.doesNotMatch(line, /shop\/pay#/)
  const { html } = await browser.get(`/incidents/${incident.number}`)
  assert.doesNotMatch(html, /(Likely|Possible) cause/)
  assert.match(html, /<section [^>]*aria-label="No likely cause found outside the service"/)
  assert.match(html, /<li class="break">only the time connects it to fruit.*<b>Down in pay <\/b>began/s)
})

test('a message and a postmortem do not name a change that only time connects as the cause', async (t) => {
  const { acme, call, clock, db, incident } = await strangers(t)
  assert.doesNotMatch(findLikelyCause(db, acme.key, incident.id, clock.now)?.cause ?? '', /shop\/pay/)
  await call('PATCH', `/api/incidents/${incident.id}`, { status: 'resolved' })
  const { summary } = await call('GET', `/api/incidents/${incident.id}/postmortem`, undefined)
  assert.match(JSON.stringify(summary), /No change stands out as the cause\./)
  assert.doesNotMatch(JSON.stringify(summary), /shop\/pay#/)
})

test('the API, the page and the message name the failed deploy of the own service before all that only time connects', async (t) => {
  const { acme, clock, request, app, db } = makeWorld(t)
  const post = (source: string, body: unknown) =>
    request('POST', `/api/webhooks/${source}`, { token: acme.token, body })
  const fires = (name: string, service: string, minute: number, more: object = {}) =>
    alert(name, { service }, { startsAt: NOON + minute * MINUTE, ...more })
  clock.now = NOON
  const ended = fires('HighErrorRate', 'checkout', -1, { endsAt: NOON - MINUTE / 2 })
  await post('metrics', alertmanager([fires('TargetDown', 'search', -1), ended]))
  await post('metrics', alertmanager(['payments', 'cart'].map((one) => fires('HighErrorRate', one, 0))))
  clock.now = NOON + 5 * MINUTE
  const jobs = [build('deploy', 'failed')]
  await post('ci', pipeline('failed', 'shop/billing', { at: clock.now, duration: 60, jobs }))
  clock.now = NOON + 7 * MINUTE
  await post('metrics', alertmanager([fires('HighErrorRate', 'billing', 6.8)]))
  const { data } = (await request('GET', '/api/incidents', { token: acme.token })).body
  const incident = data.find(({ title }: { title: string }) => title.startsWith('billing'))
  const suspects = (await request('GET', `/api/incidents/${incident.id}/suspects`, { token: acme.token })).body.data
  assert.match(suspects[0].ref, /^shop\/billing#/)
  assert.match(JSON.stringify(suspects), /3 services have the same problem at the same time/)
  const browser = makeBrowser(app)
  await browser.signIn(acme.token, 'Ada')
  const { html } = await browser.get(`/incidents/${incident.number}`)
  const listed = [...html.slice(html.indexOf('id="suspects"')).matchAll(/suspect-head.*?class="break">([^<]*)</gs)]
  assert.deepEqual(
    listed.map(([, ref]) => ref),
    suspects.map(({ ref }: { ref: string }) => ref),
  )
  const { cause = '' } = findLikelyCause(db, acme.key, incident.id, clock.now) ?? {}
  assert.match(
    cause,
    /^(Likely|Possible) cause: failed deploy shop\/billing#31, started 2 min 48 s before the incident\.$/,
  )
})

test('a problem that came back does not count the lead of a change from its return', async (t) => {
  const { acme, clock, request, db } = makeWorld(t)
  const post = (source: string, body: unknown) =>
    request('POST', `/api/webhooks/${source}`, { token: acme.token, body })
  const fails = (startsAt: number, more: object = {}) =>
    post('metrics', alertmanager([alert('HighErrorRate', { service: 'billing' }, { startsAt, ...more })]))
  const cause = async () => {
    const { data } = (await request('GET', '/api/incidents', { token: acme.token })).body
    assert.equal(data.length, 1)
    return findLikelyCause(db, acme.key, data[0].id, clock.now)?.cause ?? ''
  }
  clock.now = NOON
  const jobs = [build('deploy', 'failed')]
  await post('ci', pipeline('failed', 'shop/billing', { at: NOON, duration: 60, jobs }))
  clock.now = NOON + 2 * MINUTE
  await fails(clock.now)
  assert.match(await cause(), /shop\/billing#31, started 3 min before the incident\.$/)
  clock.now = NOON + 5 * MINUTE
  await fails(NOON + 2 * MINUTE, { endsAt: NOON + 4 * MINUTE })
  clock.now = NOON + 9 * MINUTE
  await fails(clock.now)
  assert.match(await cause(), /shop\/billing#31, started 3 min before the incident\.$/)
})

for (const [is, own] of [
  ['name the incident of another service that is the likely cause', true],
  ['name no incident if that service has none', false],
] as const) {
  test(`the page and the API ${is}`, async (t) => {
    const { acme, app, clock, request } = makeWorld(t)
    const send = (one: ReturnType<typeof alert>) =>
      request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager([one]) })
    const severity = own ? 'critical' : 'warning'
    const down = (more: object) =>
      alert('PostgresDown', { service: 'orders-db', severity }, { startsAt: NOON, ...more })
    const fails = (more: object) =>
      alert(
        'Errors',
        { service: 'cart' },
        { startsAt: NOON + MINUTE, summary: 'connect to orders-db.shop.svc:5432: refused', ...more },
      )
    clock.now = NOON
    await send(down({}))
    clock.now = NOON + 2 * MINUTE
    await send(fails({}))
    clock.now = NOON + 9 * MINUTE
    const endsAt = clock.now
    await send(down({ endsAt }))
    await send(fails({ endsAt }))
    const { data } = (await request('GET', '/api/incidents', { token: acme.token })).body
    const cart = data.find(({ title }: { title: string }) => title.startsWith('cart'))
    const { text } = await request('GET', `/api/incidents/${cart.id}/suspects`, { token: acme.token })
    assert.equal(text.includes('“orders-db: PostgresDown” (incident 1) is about it'), own)
    const browser = makeBrowser(app)
    await browser.signIn(acme.token, 'Ada')
    const { html } = await browser.get(`/incidents/${cart.number}`)
    assert.match(html, /Likely cause elsewhere/)
    const [heading = ''] = html.match(/cause-reasons.*?<\/ul>/s) ?? []
    assert.equal(heading.includes('“orders-db: PostgresDown” (incident 1) is about it'), own)
  })
}
