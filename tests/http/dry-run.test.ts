/** ?dryRun=1: shows each decision about a delivery without storing anything. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { makeWorld } from '../helpers/app.ts'
import { alertGroup } from '../helpers/payloads.ts'
import { alert } from '../helpers/senders.ts'

const METRICS = '/api/webhooks/metrics'
const CLUSTER = '/api/webhooks/cluster'
const GOOD = JSON.parse(alertGroup(1)).alerts[0]

test('a dry run says what would happen and stores nothing', async (t) => {
  const { acme, request } = makeWorld(t)
  const body = { alerts: [GOOD, {}] }
  const answer = await request('POST', `${METRICS}?dryRun=1`, { token: acme.token, body })
  const { received, dryRun, decisions, rejected } = answer.body
  assert.deepEqual([received, dryRun, decisions.length, rejected.length], [false, true, 1, 1])
  const lists = ['events', 'alerts', 'rejections', 'sources'].map((list) =>
    request('GET', `/api/${list}`, { token: acme.token }),
  )
  assert.deepEqual(
    (await Promise.all(lists)).map((list) => list.body.pagination.total),
    [0, 0, 0, 0],
  )
})

test('a misspelled value of dryRun is refused, and nothing is stored', async (t) => {
  const { acme, request } = makeWorld(t)
  const { status } = await request('POST', `${METRICS}?dryRun=yes`, { token: acme.token, body: alertGroup(1) })
  assert.equal(status, 400)
})

test('a dry run accepts 100 items, even with invalid items', async (t) => {
  const { acme, request } = makeWorld(t)
  const body = { alerts: [{}, ...JSON.parse(alertGroup(100)).alerts] }
  const answer = await request('POST', `${METRICS}?dryRun=1`, { token: acme.token, body })
  assert.deepEqual([answer.status, answer.body.decisions.length], [200, 100])
})

test('a dry run of 101 items is refused, and nothing is stored', async (t) => {
  const { acme, db, request } = makeWorld(t)
  const { status, body } = await request('POST', `${METRICS}?dryRun=1`, { token: acme.token, body: alertGroup(101) })
  assert.equal(status, 400)
  assert.match(
    body.detail,
    /at most 100 items, but this request has 101; nothing was stored; send fewer items, or omit dryRun/,
  )
  assert.deepEqual(db.all(db.sql.selectFrom('senders').select('id')), [])
})

test('a misspelled dryRun parameter is refused, and nothing is stored', async (t) => {
  const { acme, request, db } = makeWorld(t)
  const { status, body } = await request('POST', '/api/webhooks/metrics?dryrun=1', {
    token: acme.token,
    body: { alerts: [] },
  })
  assert.equal(status, 400)
  assert.match(body.detail, /did you mean dryRun\?/)
  assert.deepEqual(db.all(db.sql.selectFrom('senders').select('id')), [])
})

test('a dry run says which incident opens and who would be told, by which rule', async (t) => {
  const { acme, request, deps } = makeWorld(t)
  const rules = [{ matchers: [{ name: 'team', op: '=' as const, value: 'pay' }] }]
  createChannel(deps, acme.key, { name: 'pay', kind: 'webhook', target: 'https://a.example/', rules })
  const tried = async (labels: Record<string, string>) => {
    const answer = await request('POST', `${METRICS}?dryRun=1`, {
      token: acme.token,
      body: { alerts: [alert('Down', labels)] },
    })
    return answer.body.decisions[0]
  }
  const critical = await tried({ service: 'till', team: 'pay' })
  assert.deepEqual(critical.outcome.incident, {
    title: 'till: Down',
    severity: 'critical',
    status: 'open',
    isNew: true,
  })
  assert.deepEqual([critical.suspects[0].ref, critical.asked], ['shop/till', undefined])
  assert.deepEqual([critical.told[0].channel, critical.told[0].rule, critical.told[0].why], ['pay', 1, 'at-once'])
  assert.equal((await tried({ service: 'till', team: 'x' })).told[0].why, 'no-rule-matches')
  const warning = await tried({ service: 'till', team: 'pay', severity: 'warning' })
  assert.deepEqual([warning.outcome.incident, warning.told], [null, []])
})

const event = (reason: string, more: Record<string, unknown> = {}) =>
  [
    'cluster',
    { reason, message: reason, namespace: 'shop', podName: 'cart-7d9f5b6c8-xk2lp', involvedObjectKind: 'Pod', ...more },
  ] as const
const down = (labels: Record<string, string>, more = {}) =>
  ['metrics', { alerts: [{ ...alert('Down', { service: 'till', ...labels }), ...more }] }] as const
const ofEvents = 'only Kubernetes events show the problem, so it must last a minute or be reported 4 times first'
const ofRule = 'only a critical condition opens an incident'

for (const [what, [source, body], why] of [
  ['a warning', down({ severity: 'warning' }), `the alert is warning; ${ofRule}`],
  ['a back-off of the severity error', event('BackOff'), ofEvents],
  ['a critical event', event('OOMKilled'), ofEvents],
  ['an event of which no pod is unavailable', event('FailedSync'), `the alert is warning; ${ofRule}`],
  [
    'a failed probe',
    event('Unhealthy', { message: 'Readiness probe failed' }),
    'the probe must continue to fail first',
  ],
  [
    'a pod of a CI job',
    event('OOMKilled', { podName: 'runner-a1-project-7-concurrent-0-x2kqp' }),
    'pods of CI jobs open no incident',
  ],
  ['a reported end', down({}, { status: 'resolved', endsAt: '2026-03-14T12:00:00Z' }), 'the alert no longer fires'],
] as const)
  test(`a dry run says why ${what} opens no incident`, async (t) => {
    const { acme, request } = makeWorld(t)
    const { body: answer } = await request('POST', `/api/webhooks/${source}?dryRun=1`, { token: acme.token, body })
    const { incident, why: said } = answer.decisions[0].outcome
    assert.deepEqual([incident, said], [null, why])
  })

test('a dry run of an old Kubernetes event says that it opens an incident, as it does two seconds after its receipt', async (t) => {
  const { acme, request } = makeWorld(t)
  const tried = async (count: number, lastTime: string) => {
    const [, body] = event('BackOff', { count, firstTime: '2026-03-14T11:40:00Z', lastTime })
    const { decisions } = (await request('POST', `${CLUSTER}?dryRun=1`, { token: acme.token, body })).body
    return decisions[0].outcome.incident?.isNew ?? null
  }
  assert.deepEqual([await tried(5, '2026-03-14T11:57:00Z'), await tried(5, '2026-03-14T11:59:59Z')], [true, true])
  const [, first] = event('BackOff', { lastTime: '2026-03-14T11:59:59Z' })
  const { body } = await request('POST', `${CLUSTER}?dryRun=1`, { token: acme.token, body: first })
  assert.deepEqual([body.decisions[0].outcome.incident, body.decisions[0].outcome.why], [null, ofEvents])
})

test('a dry run says that a silence or the setting prevents an incident, and the resolution of another does not', async (t) => {
  const { acme, request } = makeWorld(t)
  const send = async (method: string, path: string, body: unknown) =>
    (await request(method, path, { token: acme.token, body: JSON.stringify(body) })).body
  const tried = async () => (await send('POST', `${METRICS}?dryRun=1`, down({})[1])).decisions[0].outcome.why
  assert.equal(await tried(), null)
  await send('POST', METRICS, down({})[1])
  const [{ id }] = (await request('GET', '/api/incidents', { token: acme.token })).body.data
  await send('PATCH', `/api/incidents/${id}`, { status: 'resolved' })
  const matchers = [{ name: 'service', op: '=', value: 'till' }]
  const other = async (labels: Record<string, string>) =>
    (await send('POST', `${METRICS}?dryRun=1`, down(labels)[1])).decisions[0].outcome.why
  // What begins beside an alert that a user left on brings the incident back.
  assert.deepEqual([await other({ pod: 'till-0' }), await other({ alertname: 'Other' })], [null, null])
  const silence = await send('POST', '/api/silences', { matchers, endsAt: '2026-03-15', comment: 'x' })
  assert.equal(await other({ pod: 'till-0' }), 'the alert is silenced')
  await request('DELETE', `/api/silences/${silence.id}`, { token: acme.token })
  await send('PATCH', '/api/organization', { settings: { 'auto-incidents': 'off' } })
  assert.equal(await other({ service: 'shop' }), 'the setting auto-incidents is off')
})

test('suspects are looked up for five incidents, and the answer says so', async (t) => {
  const { acme, request } = makeWorld(t)
  const suspectsOf = async (...services: readonly string[]) => {
    const body = { alerts: services.map((service) => alert('Down', { service })) }
    const { decisions, warnings = [] } = (await request('POST', `${METRICS}?dryRun=1`, { token: acme.token, body }))
      .body
    return [decisions.filter((one: { suspects: unknown[] }) => one.suspects.length > 0).length, warnings.length]
  }
  assert.deepEqual(await suspectsOf('a', 'b', 'c', 'd', 'e'), [5, 0])
  assert.deepEqual(await suspectsOf('a', 'b', 'c', 'd', 'e', 'f', 'g'), [5, 1])
  assert.deepEqual(await suspectsOf('a', 'b', 'c', 'd', 'e', 'e', 'a'), [7, 0])
})

test('of many dry runs at once, sixteen wait for their turn and the others are refused', async (t) => {
  const { acme, request } = makeWorld(t)
  const body = { alerts: [alert('Down', { service: 'till' })] }
  const tried = Array.from({ length: 40 }, () => request('POST', `${METRICS}?dryRun=1`, { token: acme.token, body }))
  const statuses = (await Promise.all(tried)).map(({ status }) => status)
  const count = (status: number) => statuses.filter((one) => one === status).length
  assert.deepEqual([count(200), count(503)], [16, 24])
  assert.equal((await request('POST', `${METRICS}?dryRun=1`, { token: acme.token, body })).status, 200)
})

test('a deploy that creates its service shows the health of that service', async (t) => {
  const { acme, request } = makeWorld(t)
  const body = {
    object_kind: 'pipeline',
    object_attributes: { id: 7, ref: 'main', status: 'success', created_at: '2026-03-14 11:50:00 UTC' },
    project: { path_with_namespace: 'shop/cart', default_branch: 'main' },
    builds: [{ id: 1, name: 'deploy', stage: 'deploy', status: 'success', environment: { name: 'production' } }],
  }
  const answer = await request('POST', '/api/webhooks/ci?dryRun=1', { token: acme.token, body })
  const [{ service, health }] = answer.body.decisions
  assert.deepEqual([service.name, service.isNew, health?.status], ['cart', true, 'healthy'])
})

test('a dry run says by which of two rules an item belongs to a known alert', async (t) => {
  const { acme, request } = makeWorld(t)
  const send = (fingerprint: string, labels: object, dryRun = true) => {
    const body = { alerts: [{ ...alert('Down', { service: 'cart', ...labels }, {}), fingerprint }] }
    return request('POST', `${METRICS}${dryRun ? '?dryRun=1' : ''}`, { token: acme.token, body })
  }
  const ruleOf = async (...args: Parameters<typeof send>) => {
    const { alert } = (await send(...args)).body.decisions[0]
    return [alert.change, alert.rules.identity]
  }
  assert.deepEqual(await ruleOf('aa', { severity: 'warning' }), ['opened', 'the sender’s fingerprint'])
  await send('aa', { severity: 'warning' }, false)
  assert.deepEqual(await ruleOf('aa', { severity: 'warning' }), ['repeated', 'the sender’s fingerprint'])
  const [change, rule] = await ruleOf('bb', { severity: 'critical' })
  assert.deepEqual(
    [change, rule],
    ['repeated', 'the labels that survive a restart, because no alert has this fingerprint'],
  )
})
