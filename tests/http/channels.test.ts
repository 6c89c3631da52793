/** /api/channels and /api/deliveries. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { recordSent, takeMessage } from '../../src/actions/messages.ts'
import { listDueChannels } from '../../src/store/notification/outbox.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeService, newUuid } from '../helpers/factory.ts'
import { makeServerContext } from '../helpers/server-context.ts'

const SLACK = { name: 'on-call', kind: 'slack', url: 'https://hooks.slack.com/services/T0/B0/planted' }
const NIGHT = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' }

function withChannels(t: TestContext, ...more: Parameters<typeof makeServerContext>) {
  const world = makeWorld(t, undefined, undefined, ...more)
  const { token } = world.acme
  const post = (body: object, path = '/api/channels') => world.request('POST', path, { token, body })
  return { ...world, token, post }
}

test('no path returns the secrets of a channel', async (t) => {
  const { post, request, token } = withChannels(t)
  const made = await post({ ...SLACK, rules: [{ minSeverity: 'error', quietHours: NIGHT }] })
  const { body } = made
  assert.deepEqual([made.status, body.target, body.secret], [201, 'https://hooks.slack.com/services/***', null])
  assert.deepEqual([body.enabled, body.lastDelivery, body.failing, body.remindAfter], [true, null, null, 10])
  const paths = ['/api/channels', `/api/channels/${body.id}`, '/api/deliveries', '/api/organization', '/metrics']
  const answers = await Promise.all(paths.map((path) => request('GET', path, { token })))
  for (const { text } of [made, ...answers]) assert.equal(text.includes('planted'), false)
})

test('the secret of a webhook is shown once, and again only when it is rotated', async (t) => {
  const { post, request, token } = withChannels(t)
  const { body } = await post({ name: 'hook', kind: 'webhook', url: 'https://example.com/hook' })
  assert.match(body.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const listed = await request('GET', '/api/channels', { token })
  assert.equal(listed.text.includes(body.secret), false)
  const rotated = await request('POST', `/api/channels/${body.id}/rotate-secret`, { token })
  assert.match(rotated.body.secret, /^whsec_/)
})

test('a change keeps all omitted fields', async (t) => {
  const { post, request, token } = withChannels(t)
  const { id } = (await post({ ...SLACK, timeZone: 'Europe/Berlin' })).body
  const { body } = await request('PATCH', `/api/channels/${id}`, { token, body: { enabled: false, remindAfter: 0 } })
  assert.deepEqual([body.enabled, body.remindAfter, body.timeZone, body.name], [false, 0, 'Europe/Berlin', 'on-call'])
})

test('a rule that matches no service is saved with a warning', async (t) => {
  const { post, db, acme } = withChannels(t)
  makeService(db, acme, 'cart')
  const { body } = await post({ ...SLACK, rules: [{ services: ['cart'] }, { services: ['crat'], namespaces: ['x'] }] })
  assert.deepEqual(body.warnings, ['none of the services in rule 2 exist', 'none of the namespaces in rule 2 exist'])
})

test('the regular expressions of all rules together are limited, and Charlie can still use as many', async (t) => {
  const { post, request, token, charlie } = withChannels(t)
  const rules = Array.from({ length: 9 }, (_, n) => ({ matchers: [{ name: 'pod', op: '=~', value: `a{${990 + n}}` }] }))
  const { status, body } = await post({ ...SLACK, rules })
  assert.equal(status, 201)
  const more = await post({ ...SLACK, name: 'second', rules })
  assert.deepEqual([more.status, /the regular expressions of all rules together/.test(more.text)], [409, true])
  const changed = await request('PATCH', `/api/channels/${body.id}`, { token, body: { rules: [...rules, ...rules] } })
  assert.equal(changed.status, 409)
  assert.equal((await request('PATCH', `/api/channels/${body.id}`, { token, body: { rules } })).status, 200)
  assert.equal((await post({ ...SLACK, name: 'third', rules: [{ minSeverity: 'error' }] })).status, 201)
  const other = await request('POST', '/api/channels', { token: charlie.token, body: { ...SLACK, rules } })
  assert.equal(other.status, 201)
})

test('a rule without events is saved with a warning', async (t) => {
  const { post } = withChannels(t)
  const { body } = await post({ ...SLACK, rules: [{ events: [] }] })
  assert.deepEqual(body.warnings, ['rule 1 has an empty list of events, so it never sends anything'])
})

test("a test returns the receiver's response", async (t) => {
  const outcome = { status: 404, detail: 'no_team', remoteId: null, retryAfter: 0 }
  const notifier = { ...makeServerContext().notifier, test: async () => outcome, warning: () => 'no links' }
  const { post, request, token } = withChannels(t, { notifier })
  const { id } = (await post(SLACK)).body
  const { body } = await request('POST', `/api/channels/${id}/test`, { token })
  assert.deepEqual(body, { delivered: false, status: 404, detail: 'no_team', warning: 'no links' })
})

test('a URL that can never work is refused before it is saved', async (t) => {
  const refusal = 'the address is in a private network'
  const notifier = { ...makeServerContext().notifier, checkTarget: async () => ({ refusal, warning: null }) }
  const { post, request, token } = withChannels(t, { notifier })
  const { status, body } = await post({ ...SLACK, url: 'http://10.0.0.1/x' })
  assert.deepEqual([status, body.errors], [400, [{ path: 'url', message: refusal }]])
  assert.deepEqual((await request('GET', '/api/channels', { token })).body.data, [])
})

test('a host that DNS cannot resolve is saved with a warning', async (t) => {
  const notifier = { ...makeServerContext().notifier, checkTarget: async () => ({ refusal: null, warning: 'unknown' }) }
  const { post, request, token } = withChannels(t, { notifier })
  const { status, body } = await post(SLACK)
  assert.deepEqual([status, body.warnings], [201, ['unknown']])
  const renamed = await request('PATCH', `/api/channels/${body.id}`, { token, body: { name: 'other' } })
  assert.deepEqual([renamed.status, renamed.body.warnings], [200, []])
})

test('an email channel without a mail server is refused with the remedy', async (t) => {
  const notifier = { ...makeServerContext().notifier, hasMailServer: () => false }
  const { post } = withChannels(t, { notifier })
  const { status, body } = await post({ name: 'mail', kind: 'mail', to: 'team@example.com' })
  assert.deepEqual(
    [status, body.detail],
    [409, 'this server is not configured to send email: set smtp-url and mail-from, then send SIGHUP to the server'],
  )
})

test('lists a message with its channel and incident', async (t) => {
  const { post, request, token, db, acme } = withChannels(t)
  const channel = (await post(SLACK)).body
  const service = makeService(db, acme, 'cart')
  const wanted = { title: 'Down', serviceId: service.id, severity: 'error' }
  const incident = (await post(wanted, '/api/incidents')).body
  const path = `/api/deliveries?channelId=${channel.id}&status=pending`
  const [one, ...more] = (await request('GET', path, { token })).body.data
  assert.deepEqual(more, [])
  assert.deepEqual([one.channel, one.incidentId, one.kind, one.count], ['on-call', incident.id, 'opened', 1])
  assert.deepEqual([one.status, one.attempts, one.nextAttemptAt], ['pending', 0, '2026-03-14T12:00:00.000Z'])
})

test('shows a message as it was sent, without what only the notifier needs', async (t) => {
  const { post, request, token, db, deps, acme } = withChannels(t)
  await post(SLACK)
  await post({ title: 'Down', serviceId: makeService(db, acme, 'cart').id, severity: 'error' }, '/api/incidents')
  const [due] = listDueChannels(db, deps.now())
  const message = takeMessage(deps, due?.channelId ?? assert.fail()) ?? assert.fail()
  recordSent(deps, message, { title: 'Down since 12:00.', body: 'cart' })
  const [{ sent }] = (await request('GET', '/api/deliveries', { token })).body.data
  assert.deepEqual(Object.keys(sent), ['title', 'body', 'status', 'problem', 'firing'])
  assert.deepEqual([sent.title, sent.status, sent.firing], ['Down since 12:00.', 'open', []])
})

for (const [what, change, path] of [
  ['no name', { name: '' }, 'name'],
  ['an unknown kind', { kind: 'pager' }, 'kind'],
  ['no address', { url: undefined }, 'url'],
  ['an address of another protocol', { url: 'file:///etc/passwd' }, 'url'],
  ['mail addresses instead of a URL', { url: undefined, to: 'a@example.com' }, 'url'],
  ['an unknown event', { rules: [{ events: ['exploded'] }] }, 'rules[0].events[0]'],
  ['an unknown time zone', { timeZone: 'Mars' }, 'timeZone'],
  ['endless quiet hours', { rules: [{ quietHours: { ...NIGHT, to: '22:00' } }] }, 'rules[0].quietHours.to'],
  ['51 rules', { rules: Array.from({ length: 51 }, () => ({})) }, 'rules'],
  ['a reminder after -1 minutes', { remindAfter: -1 }, 'remindAfter'],
] as const) {
  test(`a channel with ${what} is refused by name`, async (t) => {
    const { post } = withChannels(t)
    const { status, body } = await post({ ...SLACK, ...change })
    assert.deepEqual([status, body.errors[0].path], [400, path])
  })
}

test('a channel name must be unique only within an organization', async (t) => {
  const { post, request, charlie } = withChannels(t)
  await post(SLACK)
  assert.equal((await post(SLACK)).status, 409)
  assert.equal((await request('POST', '/api/channels', { token: charlie.token, body: SLACK })).status, 201)
})

test("Charlie can neither see, test, change nor delete Acme's channel or its deliveries", async (t) => {
  const { post, request, charlie, token, db, acme } = withChannels(t)
  const { id } = (await post(SLACK)).body
  await post({ title: 'x', serviceId: makeService(db, acme, 'cart').id, severity: 'error' }, '/api/incidents')
  const as = { token: charlie.token }
  assert.equal((await request('GET', `/api/deliveries?channelId=${id}`, as)).body.pagination.total, 0)
  assert.equal((await request('GET', '/api/deliveries', as)).body.pagination.total, 0)
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/test'],
    ['POST', '/rotate-secret'],
  ] as const) {
    assert.equal((await request(method, `/api/channels/${id}${path}`, as)).status, 404)
  }
  assert.equal((await request('GET', `/api/channels/${newUuid()}`, { token })).status, 404)
})
