/** GET /alerts, /alerts/groups, /status, /receivers and the probes of Alertmanager's API. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { makeWorld } from '../../helpers/app.ts'
import { MINUTE, makeAlert, makeService, makeToken } from '../../helpers/factory.ts'

const API = '/alertmanager/api/v2'
const NOON = Date.parse('2026-03-14T12:00:00Z')
const at = (minutes: number) => new Date(NOON + minutes * MINUTE).toISOString()
type Found = { readonly labels: Record<string, string>; readonly status: { readonly state: string } }

function alert(name: string, more: Record<string, string> = {}) {
  const labels = { alertname: name, namespace: 'shop', service: 'cart', severity: 'warning', ...more }
  return { labels, annotations: { summary: name }, startsAt: at(-1), endsAt: at(4), generatorURL: 'http://p/graph' }
}

function makeAlertmanager(t: TestContext) {
  const world = makeWorld(t)
  const { token } = world.acme
  const get = (path: string, own = token) => world.request('GET', `${API}${path}`, { token: own })
  const post = (path: string, body: unknown, own = token) =>
    world.request('POST', `${API}${path}`, { token: own, body, headers: { 'Content-Type': 'application/json' } })
  const names = async (query = '') =>
    (await get(`/alerts${query}`)).body.map(({ labels }: Found) => labels.alertname).sort()
  return { ...world, token, get, post, names }
}

test('a firing alert has its own labels, times and links', async (t) => {
  const { post, get } = makeAlertmanager(t)
  await post('/alerts', [alert('Slow')])
  const [found] = (await get('/alerts')).body
  const { updatedAt, ...rest } = found
  assert.equal(updatedAt, at(0))
  assert.deepEqual(rest, {
    ...alert('Slow'),
    fingerprint: rest.fingerprint,
    receivers: [{ name: 'incmon' }],
    status: { inhibitedBy: [], mutedBy: [], silencedBy: [], state: 'active' },
  })
})

test('each fingerprint of an alert is listed with its own labels', async (t) => {
  const { post, get } = makeAlertmanager(t)
  await post('/alerts', [alert('Slow'), alert('Slow', { severity: 'critical' })])
  const { body } = await get('/alerts')
  assert.deepEqual(body.map(({ labels }: Found) => labels.severity).sort(), ['critical', 'warning'])
  assert.ok(body[0].fingerprint < body[1].fingerprint)
})

test('an alert whose end has passed without a repeat is not listed', async (t) => {
  const { post, names, clock, deps } = makeAlertmanager(t)
  await post('/alerts', [alert('Slow')])
  clock.now += 5 * MINUTE
  assert.deepEqual(await names(), [])
  while (await deps.engine.sweep());
  assert.deepEqual(await names(), [])
})

test('an alert that is not sent again ended at its last report once its end passes', async (t) => {
  const { post, request, token, clock, deps } = makeAlertmanager(t)
  await post('/alerts', [alert('Slow')])
  clock.now += 4 * MINUTE
  while (await deps.engine.sweep());
  const [ended] = (await request('GET', '/api/alerts', { token })).body.data
  assert.deepEqual([ended.status, ended.resolution, ended.endsAt], ['resolved', 'inferred', at(0)])
})

for (const [query, expected] of [
  ['?filter=alertname="Slow"', ['Slow']],
  ['?filter=alertname%3D~"S.*"', ['Slow']],
  ['?filter=alertname!=Slow', ['Down']],
  ['?filter=alertname=Slow&filter=missing=', ['Slow']],
  ['?filter=missing=x', []],
  ['?filter=__proto__=x', []],
  ['?receiver=inc.*', ['Down', 'Slow']],
  ['?receiver=inc', []],
  ['?active=false', []],
  ['?active=maybe', []],
  ['?silenced=false&inhibited=false&unprocessed=false&active=true', ['Down', 'Slow']],
  ['?receiver_matchers=owner="me"', []],
] as const) {
  test(`GET /alerts${query} lists ${expected.join(' and ') || 'nothing'}`, async (t) => {
    const { post, names } = makeAlertmanager(t)
    await post('/alerts', [alert('Slow'), alert('Down')])
    assert.deepEqual(await names(query), expected)
  })
}

for (const [query, message] of [
  ['?filter=alertname', /^bad matcher format: alertname$/],
  ['?filter=', /^bad matcher format: $/],
  ['?filter=a="b",c="d"', /unescaped double quote/],
  ['?filter=a="b', /unescaped double quote/],
  ['?filter=a%3D~(', /regular expression/],
  ['?receiver=(', /^failed to parse receiver param/],
] as const) {
  test(`GET /alerts${query} is refused with a JSON string`, async (t) => {
    const { get } = makeAlertmanager(t)
    for (const path of ['/alerts', '/alerts/groups']) {
      const { status, body } = await get(`${path}${query}`)
      assert.equal(status, 400)
      assert.match(body, message)
    }
  })
}

test('an alert that one replica ends still fires while another replica sends it', async (t) => {
  const { post, names, clock } = makeAlertmanager(t)
  await post('/alerts', [alert('Slow')])
  clock.now += 10_000
  await post('/alerts', [{ ...alert('Slow'), endsAt: new Date(clock.now).toISOString() }])
  assert.deepEqual(await names(), [])
  clock.now += 1_000
  await post('/alerts', [alert('Slow')])
  assert.deepEqual(await names(), ['Slow'])
})

test('groups have the alerts with equal alertname and namespace', async (t) => {
  const { post, get } = makeAlertmanager(t)
  await post('/alerts', [alert('Slow', { pod: 'b' }), alert('Down'), alert('Slow', { pod: 'a' })])
  const { body } = await get('/alerts/groups')
  assert.deepEqual(
    body.map(({ labels, alerts }: { labels: object; alerts: Found[] }) => [
      labels,
      alerts.map((one) => one.labels.pod),
    ]),
    [
      [{ alertname: 'Down', namespace: 'shop' }, [undefined]],
      [{ alertname: 'Slow', namespace: 'shop' }, ['a', 'b']],
    ],
  )
})

test('groups that are too large are refused, and those of one receiver are not', async (t) => {
  const { post, get, request, token } = makeAlertmanager(t)
  const summary = 'x'.repeat(8_000)
  await post(
    '/alerts',
    Array.from({ length: 600 }, (_, n) => ({ ...alert('Slow', { pod: `p${n}` }), annotations: { summary } })),
  )
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const body = { name, kind: 'webhook', url: 'https://hooks.example.com/x', rules: [{}] }
    assert.equal((await request('POST', '/api/channels', { token, body })).status, 201)
  }
  const refused = await get('/alerts/groups')
  assert.deepEqual(
    [refused.status, refused.body.message],
    [400, 'the groups have more than 24 MiB; ask for one receiver, or filter the alerts'],
  )
  for (const path of ['/alerts/groups?receiver=a', '/alerts']) assert.equal((await get(path)).status, 200)
})

for (const path of ['/alerts', '/alerts/groups'])
  test(`long alerts are not collected in memory: ${path}`, async (t) => {
    const { db, acme, get } = makeAlertmanager(t)
    const service = makeService(db, acme, 'wordy')
    const labels = JSON.stringify({ alertname: 'A', log: 'x'.repeat(250_000) })
    for (let index = 0; index < 101; index += 1) {
      makeAlert(db, acme, service, { labels, fingerprint: `${index}`.padStart(16, '0'), starts_at: NOON })
    }
    const { status, body } = await get(path)
    assert.equal(status, 400)
    assert.match(body.message, /^the alerts have more than 24 MiB; ask for one receiver, or filter the alerts$/)
    assert.equal((await get(`${path}?filter=alertname="B"`)).status, 200)
  })

test('an alert of a failed node’s pod is inhibited by the alert of the node', async (t) => {
  const { post, get } = makeAlertmanager(t)
  const node = {
    labels: { alertname: 'NodeDown', node: 'worker-1', severity: 'critical' },
    startsAt: at(-1),
    endsAt: at(4),
  }
  await post('/alerts', [node, alert('PodDown', { node: 'worker-1' })])
  const { body } = await get('/alerts?filter=alertname=PodDown')
  const [leader] = (await get('/alerts?filter=alertname=NodeDown')).body
  assert.deepEqual([body[0].status.state, body[0].status.inhibitedBy], ['suppressed', [leader.fingerprint]])
  assert.deepEqual((await get('/alerts?inhibited=false&filter=alertname=PodDown')).body, [])
})

test('the alerts of a group are inhibited by the alert of the cause', async (t) => {
  const { post, get } = makeAlertmanager(t)
  const annotations = { summary: 'dial tcp: lookup postgres.shop.svc: no such host' }
  const services = ['postgres', 'cart', 'search']
  const down = services.map((service) => ({ ...alert('Down', { service, severity: 'critical' }), annotations }))
  await post('/alerts', [...down, alert('Slow', { service: 'other', severity: 'critical' })])
  const { body } = await get('/alerts')
  const found = (service: string) => body.find(({ labels }: Found) => labels.service === service)
  const leader = found('postgres')
  assert.deepEqual([leader.status.state, found('other').status.state], ['active', 'active'])
  for (const service of ['cart', 'search']) assert.deepEqual(found(service).status.inhibitedBy, [leader.fingerprint])
})

test('two alerts with a common cause are no group, and neither is inhibited', async (t) => {
  const { post, get } = makeAlertmanager(t)
  const annotations = { summary: 'dial tcp: lookup postgres.shop.svc: no such host' }
  const down = ['postgres', 'cart'].map((service) => ({
    ...alert('Down', { service, severity: 'critical' }),
    annotations,
  }))
  await post('/alerts', down)
  const states = (await get('/alerts')).body.map(({ status }: Found) => status.state)
  assert.deepEqual(states, ['active', 'active'])
})

test('the status has a configuration with a route for each rule of each channel', async (t) => {
  const { get, request, token } = makeAlertmanager(t)
  const rules = [{ minSeverity: 'critical', namespaces: ['shop'] }, { services: ['cart.v2'] }]
  const body = { name: 'on call', kind: 'webhook', url: 'https://example.com/x', rules }
  assert.equal((await request('POST', '/api/channels', { token, body })).status, 201)
  const { config, versionInfo } = (await get('/status')).body
  const { route, receivers } = parse(config.original)
  assert.equal(versionInfo.version, '0.34.0')
  assert.deepEqual(receivers, [{ name: 'incmon' }, { name: 'on call' }])
  assert.deepEqual(
    route.routes.map(({ receiver }: { receiver: string }) => receiver),
    ['on call', 'on call'],
  )
  assert.match(route.routes[0].matchers[0], /^severity=~"critical\|/)
  assert.deepEqual(route.routes[1].matchers, ['service=~"cart\\\\.v2"'])
})

test('the receivers of an alert are the channels that get its notifications', async (t) => {
  const { get, post, request, token } = makeAlertmanager(t)
  const channel = {
    name: 'on call',
    kind: 'webhook',
    url: 'https://example.com/x',
    rules: [{ minSeverity: 'critical' }],
  }
  await request('POST', '/api/channels', { token, body: channel })
  await post('/alerts', [alert('Down', { severity: 'critical' }), alert('Slow')])
  const receiversOf = async (name: string) => (await get(`/alerts?filter=alertname=${name}`)).body[0].receivers
  assert.deepEqual(await receiversOf('Down'), [{ name: 'on call' }])
  assert.deepEqual(await receiversOf('Slow'), [{ name: 'incmon' }])
  assert.deepEqual(
    (await get('/receivers')).body.map(({ name }: { name: string }) => name),
    ['incmon', 'on call'],
  )
})

for (const [path, text] of [
  ['/alertmanager/-/healthy', /^OK$/],
  ['/alertmanager/-/ready', /^OK$/],
  ['/alertmanager/metrics', /^alertmanager_build_info\{.*version="0\.34\.0"\} 1$/m],
] as const) {
  test(`${path} needs no token`, async (t) => {
    const { request } = makeAlertmanager(t)
    const answered = await request('GET', path)
    assert.equal(answered.status, 200)
    assert.match(answered.text, text)
  })
}

for (const path of ['/alerts', '/alerts/groups', '/silences', '/receivers', '/status']) {
  test(`Charlie sees nothing of Acme at ${path}`, async (t) => {
    const { get, post, charlie, token, request } = makeAlertmanager(t)
    await post('/alerts', [alert('Slow')])
    const silence = { matchers: [{ name: 'alertname', value: 'Slow', isRegex: false }], startsAt: at(0), endsAt: at(9) }
    await post('/silences', { ...silence, createdBy: 'Acme', comment: 'upgrade' })
    await request('POST', '/api/channels', {
      token,
      body: { name: 'Slow', kind: 'webhook', url: 'https://example.com/x' },
    })
    const { status, text } = await get(path, charlie.token)
    assert.equal(status, 200)
    assert.doesNotMatch(text, /Slow|upgrade/)
  })
  test(`${path} requires a token with the read scope`, async (t) => {
    const { get, request, db, acme } = makeAlertmanager(t)
    assert.equal((await get(path, makeToken(db, acme, ['ingest', 'write']))).status, 403)
    assert.equal((await request('GET', `${API}${path}`)).status, 401)
  })
}
