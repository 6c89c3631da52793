/** The channel pages without JavaScript: create, test, change and remove, and who is allowed to. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { NOTIFICATION_KINDS } from '../../src/domain/notification/kind.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeToken } from '../helpers/factory.ts'
import { makeServerContext } from '../helpers/server-context.ts'
import { makeBrowser } from '../helpers/site.ts'

const LIST = '/settings/notifications'
const SLACK = 'https://hooks.slack.com/services/T0/B0/planted'
const NEWS = [...NOTIFICATION_KINDS]
/** The initial content of the form for a new channel. */
const FORM = {
  ...{ kind: 'slack', name: 'on-call', address: SLACK, zone: 'Europe/Berlin', rules: '1', do: 'save' },
  ...{ remindAfter: '10', remindEvery: '30', escalateAfter: '0' },
}

async function start(t: TestContext, around: Parameters<typeof makeServerContext>[0] = {}) {
  const world = makeWorld(t, undefined, undefined, around)
  const browser = makeBrowser(world.app)
  await browser.signIn(world.acme.token)
  const outsider = makeBrowser(world.app)
  await outsider.signIn(world.charlie.token)
  const channels = async () => (await world.request('GET', '/api/channels', { token: world.acme.token })).body.data
  const create = (more: Record<string, string> = {}) => browser.send(`${LIST}/new`, [...fields(more)])
  return { ...world, browser, outsider, channels, create }
}

/** Returns the form's fields. All events are selected unless `more` names some. */
function fields(more: Record<string, string>): [string, string][] {
  const all = Object.entries({ ...FORM, ...more })
  return 'rule-0-events' in more ? all : [...all, ...NEWS.map((word): [string, string] => ['rule-0-events', word])]
}

test('a channel is created, and its secret URL is never shown', async (t) => {
  const { browser, create, channels } = await start(t)
  const { location } = await create()
  const [{ id, name, rules, timeZone }] = await channels()
  assert.deepEqual([name, rules, timeZone], ['on-call', [], 'Europe/Berlin'])
  assert.equal(location, `${LIST}/${id}?done=channel-created`)
  for (const path of [LIST, `${LIST}/${id}`]) {
    const { html } = await browser.get(path)
    assert.deepEqual(
      [html.includes('hooks.slack.com/***') || html.includes('services/***'), html.includes('planted')],
      [true, false],
    )
  }
})

test('the page of the senders shows a channel whose receiver is gone', async (t) => {
  const { browser, outsider, create, channels, db } = await start(t)
  await create()
  const [{ id }] = await channels()
  db.run(db.sql.updateTable('channels').set({ enabled: 0, failing: 'gone <b>', failing_since: 0 }))
  const { html } = await browser.get('/sources')
  assert.match(html, /Failing channels[\s\S]+on-call<\/a> sends nothing any more[\s\S]+gone &lt;b&gt;/)
  assert.ok(html.includes(`href="${LIST}/${id}"`))
  assert.doesNotMatch((await outsider.get('/sources')).html, /Failing channels/)
})

test('every page warns of a channel whose messages are not delivered, and no page of an outsider', async (t) => {
  const { browser, outsider, create, db } = await start(t)
  await create()
  const warning = /href="\/settings\/notifications" title="Messages are not delivered to 1 channel"/
  assert.doesNotMatch((await browser.get('/alerts')).html, warning)
  db.run(db.sql.updateTable('channels').set({ failing: 'the receiver responded with 503', failing_since: 0 }))
  for (const path of ['/', '/alerts', '/reports']) assert.match((await browser.get(path)).html, warning)
  assert.doesNotMatch((await outsider.get('/alerts')).html, warning)
})

test('rules and quiet hours are stored as the API stores them', async (t) => {
  const { create, channels } = await start(t)
  const quiet = { 'rule-0-quiet': '1', 'rule-0-from': '22:00', 'rule-0-to': '07:00', 'rule-0-zone': 'Europe/Berlin' }
  const rule = { 'rule-0-events': 'opened', 'rule-0-severity': 'error', 'rule-0-services': 'cart, checkout' }
  await create({ ...rule, ...quiet, remindAfter: '5', escalateAfter: '15' })
  const [{ rules, remindAfter, escalateAfter }] = await channels()
  const quietHours = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' }
  assert.deepEqual(rules, [{ events: ['opened'], minSeverity: 'error', services: ['cart', 'checkout'], quietHours }])
  assert.deepEqual([remindAfter, escalateAfter], [5, 15])
})

test('a Telegram bot is entered by its token and its chat', async (t) => {
  const { create, channels } = await start(t)
  await create({ kind: 'telegram', address: '123:planted', chat: '-1001' })
  const [{ target }] = await channels()
  assert.equal(target, 'https://api.telegram.org/bot***/sendMessage?chat_id=-1001')
})

for (const [more, message] of [
  [{ name: '' }, 'Name: Empty; write at least one character.'],
  [{ address: 'hook' }, 'Webhook URL: Not a URL; send a URL such as https://example.com/hook.'],
  [{ kind: 'mail', address: '' }, 'Email addresses: Missing; this kind of channel requires it.'],
  [{ zone: 'Nowhere' }, 'Time zone for times in messages: Expected a time zone such as Europe/Berlin.'],
  [{ remindAfter: 'soon' }, 'Remind after: Expected a whole number of minutes from 0 to 10080.'],
  [
    { 'rule-0-quiet': '1', 'rule-0-from': '25:00', 'rule-0-to': '07:00', 'rule-0-zone': 'UTC' },
    'Rule 1, quiet from: Expected a clock time such as 22:00.',
  ],
] as const) {
  test(`${JSON.stringify(more)} is refused with the label of the field, and typed text is kept`, async (t) => {
    const { create, channels } = await start(t)
    const { status, html } = await create(more)
    assert.deepEqual([status, html.includes(`>${message}</a>`), await channels()], [400, true, []])
    assert.match(html, /value="30"/)
  })
}

test('a name that is taken is refused with an explanation', async (t) => {
  const { create } = await start(t)
  await create()
  const { status, html } = await create()
  assert.deepEqual([status, html.includes('A channel named on-call already exists: choose another name.')], [400, true])
})

test('an email channel is refused while the server cannot send email', async (t) => {
  const notifier = { ...makeServerContext().notifier, hasMailServer: () => false }
  const { browser, create } = await start(t, { notifier })
  assert.match((await browser.get(`${LIST}/new?kind=mail`)).html, /This server is not configured to send email/)
  assert.equal((await create({ kind: 'mail', address: 'team@example.com' })).status, 400)
})

test('the secret of a webhook is shown once, and again only when it is replaced', async (t) => {
  const { browser, create, channels } = await start(t)
  assert.match(
    (await create({ kind: 'webhook', address: 'https://example.com/hook' })).html,
    /whsec_[A-Za-z0-9+/]{43}=/,
  )
  const path = `${LIST}/${(await channels())[0].id}`
  assert.doesNotMatch((await browser.get(path)).html, /whsec_/)
  assert.match((await browser.send(path, { do: 'rotate' })).html, /whsec_/)
})

for (const [outcome, text] of [
  [{ status: 404, detail: 'no_team <b>' }, 'The receiver responded with 404 in 0.0 s: no_team &lt;b&gt;'],
  [{ status: null, detail: 'connect ECONNREFUSED' }, 'failed after 0.0 s: connect ECONNREFUSED'],
  [{ status: 200, detail: 'ok' }, 'The receiver responded with 200 in 0.0 s: ok'],
] as const) {
  test(`a test shows ${JSON.stringify(outcome)}`, async (t) => {
    const notifier = {
      ...makeServerContext().notifier,
      test: async () => ({ ...outcome, remoteId: null, retryAfter: 0 }),
    }
    const { browser, create, channels } = await start(t, { notifier })
    await create()
    const { status, html } = await browser.send(`${LIST}/${(await channels())[0].id}`, { do: 'test' })
    assert.deepEqual([status, html.includes(text)], [200, true])
  })
}

test('a warning about the URL is shown when the channel is saved', async (t) => {
  const warning = 'hooks.slack.com cannot be found'
  const notifier = { ...makeServerContext().notifier, checkTarget: async () => ({ refusal: null, warning }) }
  const { create, channels } = await start(t, { notifier })
  const { status, html } = await create()
  assert.deepEqual([status, html.includes(`Saved. Warning: ${warning}.`)], [200, true])
  assert.equal((await channels()).length, 1)
})

test('a rule can be added and removed without JavaScript, and no typed text is lost', async (t) => {
  const { create, channels } = await start(t)
  const { status, html } = await create({ do: 'add-rule', name: 'half typed' })
  assert.deepEqual([status, html.includes('Rule 2'), html.includes('value="half typed"')], [200, true, true])
  const removed = await create({
    do: 'remove-rule-0',
    rules: '2',
    'rule-1-services': 'cart',
    'rule-0-services': 'gone',
  })
  assert.deepEqual([removed.html.includes('value="cart"'), removed.html.includes('value="gone"')], [true, false])
  assert.deepEqual(await channels(), [])
})

test('a change keeps the URL, and a warning is shown for a service that does not exist', async (t) => {
  const { browser, create, channels } = await start(t)
  await create()
  const path = `${LIST}/${(await channels())[0].id}`
  await browser.send(path, fields({ address: '', name: 'night', 'rule-0-services': 'crat' }))
  const [{ name, target }] = await channels()
  assert.deepEqual([name, target], ['night', 'https://hooks.slack.com/services/***'])
  assert.match((await browser.get(path)).html, /Warning: none of the services in rule 1 exist/)
})

test('a channel is disabled, enabled and removed', async (t) => {
  const { browser, create, channels } = await start(t)
  await create()
  const path = `${LIST}/${(await channels())[0].id}`
  await browser.send(path, { do: 'disable' })
  assert.equal((await channels())[0].enabled, false)
  await browser.send(path, { do: 'enable' })
  assert.equal((await channels())[0].enabled, true)
  assert.equal((await browser.send(path, { do: 'remove' })).location, `${LIST}?done=channel-removed`)
  assert.deepEqual([await channels(), (await browser.get(path)).status], [[], 404])
})

test("Charlie can neither see nor change Acme's channel", async (t) => {
  const { create, channels, outsider } = await start(t)
  await create()
  const path = `${LIST}/${(await channels())[0].id}`
  assert.doesNotMatch((await outsider.get(LIST)).html, /on-call/)
  const sent = await Promise.all(['test', 'remove', 'save', 'rotate'].map((one) => outsider.send(path, { do: one })))
  assert.deepEqual(
    [...sent, await outsider.get(path)].map(({ status }) => status),
    [404, 404, 404, 404, 404],
  )
  assert.equal((await channels()).length, 1)
})

test('without the admin scope no channels are shown', async (t) => {
  const { app, db, acme } = await start(t)
  const writer = makeBrowser(app)
  await writer.signIn(makeToken(db, acme, ['read', 'write']))
  const answers = [await writer.get(LIST), await writer.get(`${LIST}/new`), await writer.send(`${LIST}/new`, FORM)]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [403, 403, 403],
  )
  assert.doesNotMatch((await writer.get('/settings')).html, /notifications/)
})
