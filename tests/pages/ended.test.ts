/** What pages say about what is over: for how long it was on, what ended it, and when nobody reported its end. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { stateText } from '../../src/web/incident/view.ts'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, type Body, build, kubernetesEvent, pipeline } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

const SECOND = 1000
const LABELS = { service: 'cart', severity: 'critical' }
const FORM = { name: 'Acme', plan: 'Team', 'auto-incidents': 'critical', 'auto-resolve': '30', heartbeats: '1' }

async function start(t: TestContext) {
  const { request, app, acme, clock, db, deps } = makeWorld(t)
  const post = async (source: string, body: unknown) => {
    const { status } = await request('POST', `/api/webhooks/${source}`, { token: acme.token, body })
    assert.ok(status < 300, `${status}`)
  }
  const browser = makeBrowser(app)
  await browser.signIn(acme.token, 'Ada')
  return {
    ...{ browser, clock, db, deps, request, token: acme.token, post },
    /** Sends an alert of the cart, with times in ms from noon. */
    cart: (startsAt: number, endsAt?: number) => {
      clock.now = NOON + (endsAt ?? startsAt)
      const ended = endsAt === undefined ? {} : { endsAt: clock.now }
      return post('metrics', alertmanager([alert('Down', LABELS, { startsAt: NOON + startsAt, ...ended })]))
    },
    /** Sends a successful deploy of the cart, at a time in ms from noon. */
    deploy: (at: number) => {
      clock.now = NOON + at
      const jobs = [build('deploy', 'success', { environment: { name: 'production' } })]
      return post('ci', pipeline('success', 'shop/cart', { at: clock.now, jobs }))
    },
    text: async (path: string) => (await browser.get(path)).html.replace(/<[^>]*>|\s+/g, ' ').replace(/ +/g, ' '),
  }
}

test('a duration that is over has its seconds on all pages, in the document, the API and the lists', async (t) => {
  const { cart, browser, clock, text, request, token } = await start(t)
  await cart(0)
  await cart(0, 14 * MINUTE + 50 * SECOND)
  clock.now += 5 * MINUTE
  await browser.send('/incidents/1/status', { status: 'resolved' })
  const [service] = (await request('GET', '/api/services', { token })).body
  for (const path of ['/incidents/1', '/incidents/1/postmortem', '/incidents', `/services/${service.id}`])
    assert.match(await text(path), /14 min 50 s/, path)
  const markdown = (await browser.get('/incidents/1/postmortem.md')).html
  assert.match(markdown, /Critical for:\*\* 14 min 50 s/)
  assert.match(markdown, /TTR[^\n]*19 min 50 s/)
  assert.match(await text('/incidents/1/postmortem'), /Time to resolve \(TTR\) 19 min 50 s/)
  assert.match(await text('/reports'), /Time to resolve 19 min 50 s/)
})

test('an incident whose severity a user lowered says for how much of the whole it was critical', async (t) => {
  const { cart, clock, text, request, token } = await start(t)
  await cart(0)
  clock.now = NOON + 5 * MINUTE
  const [{ id }] = (await request('GET', '/api/incidents', { token })).body.data
  await request('PATCH', `/api/incidents/${id}`, { token, body: { severity: 'warning' } })
  await cart(0, 30 * MINUTE)
  clock.now += 5 * MINUTE
  assert.match(await text('/incidents/1'), /Was critical for 5 min of 30 min from 12:00 to 12:30/)
})

test('an alert that fired twice says how often and for how long', async (t) => {
  const { cart, text } = await start(t)
  for (const [from, to] of [
    [0, 8],
    [14, 30],
  ] as const) {
    await cart(from * MINUTE)
    await cart(from * MINUTE, to * MINUTE)
  }
  assert.match(await text('/incidents/1'), /fired 2 times, for 24 min in all/)
})

test('an alert whose end nobody reported was last reported then: in its row, on its page and as a suspect', async (t) => {
  const { cart, clock, db, text, request, token } = await start(t)
  await cart(0)
  await cart(0, 9 * MINUTE)
  db.execute("UPDATE alerts SET resolution = 'inferred'")
  clock.now += 2 * MINUTE
  const [found] = (await request('GET', '/api/alerts?q=Down', { token })).body.data
  const incident = await text('/incidents/1')
  assert.match(incident, /fired for at least 9 min, last reported at 12:09/)
  assert.match(incident, /last reported at 12:09, no end was reported/)
  assert.doesNotMatch(incident, /the alert has ended|ended after/)
  assert.match(await text(`/alerts/${found.id}`), /at least 9 min ?, /)
})

function scaled(name: string, hash: string, at: number): Body {
  const message = `Scaled up replica set ${name}-${hash} from 0 to 2`
  return kubernetesEvent('ScalingReplicaSet', name, { kind: 'Deployment', message, at, type: 'Normal' })
}

test('the end of a rollout is not known, so that a fix says when it started', async (t) => {
  const { cart, clock, text, post } = await start(t)
  await cart(0)
  clock.now = NOON + 10 * MINUTE
  await post('cluster', scaled('cart', '6f8d7b9c5', clock.now))
  await cart(0, 13 * MINUTE + 20 * SECOND)
  clock.now += 2 * MINUTE
  const fix = /Probable fix: rollout shop\/ ?cart@ ?6f8d7b9c5 ?, started 3 min 20 s before the problem ended/
  assert.match(await text('/incidents/1'), fix)
})

test('a deploy that finished before the end says so, and its row in the table is that of a deploy', async (t) => {
  const { cart, clock, text, deploy } = await start(t)
  await cart(0)
  await deploy(10 * MINUTE)
  await cart(0, 12 * MINUTE)
  clock.now += 2 * MINUTE
  const html = await text('/incidents/1')
  assert.match(html, /Probable fix: deploy shop\/ ?cart#31 ?, (?:started|finished) [\d a-z]+ before the problem ended/)
  assert.match(html, /Deploy of pipeline shop\/cart#31 on/)
  assert.doesNotMatch(html, /during which the problem ended/)
})

test('a deploy after which an alert began again is no probable fix', async (t) => {
  const { cart, clock, text, deploy } = await start(t)
  await cart(0)
  await deploy(10 * MINUTE)
  await cart(0, 12 * MINUTE)
  await cart(20 * MINUTE)
  await cart(20 * MINUTE, 25 * MINUTE)
  clock.now += 2 * MINUTE
  assert.doesNotMatch(await text('/incidents/1'), /Probable fix/)
})

test('a merged incident was resolved by whoever merged it, at that time', async (t) => {
  const { cart, browser, clock, text } = await start(t)
  await cart(0)
  await browser.send('/incidents', { service: 'shop/cart', title: 'Other', severity: 'error' })
  clock.now = NOON + 8 * MINUTE
  await browser.send('/incidents/2/merge', { into: '#1' })
  clock.now = NOON + 20 * MINUTE
  assert.match(await text('/incidents/2'), /Resolved .?Ada.?, 12:08/)
  assert.match(await text('/incidents/1'), /shop\/ cart and “Other” Opened automatically/)
  assert.doesNotMatch(await text('/incidents/2'), /and “/)
})

test('a postmortem page has one time zone and both dates, and keeps what people and senders wrote', async (t) => {
  const { cart, browser, clock, text } = await start(t)
  await browser.send('/settings', { ...FORM, 'time-zone': 'Asia/Kolkata' })
  const night = 6 * 60 * MINUTE + 20 * MINUTE
  await cart(night)
  await browser.send('/incidents/1/notes', { text: 'Killed session 4711 at 2026-03-14 18:25:00 UTC' })
  await cart(night, night + 30 * MINUTE)
  clock.now += MINUTE
  await browser.send('/incidents/1/status', { status: 'resolved' })
  const page = await text('/incidents/1/postmortem')
  const [, from = '', to = ''] = /critical from (\S+ \S+) to (\S+ \S+) Kolkata/.exec(page) ?? []
  assert.deepEqual([from.slice(11), to.slice(11)], ['23:50:00', '00:20:00'])
  assert.match(page, /, 23:50:00 Asia\/Kolkata to \w+ \d+ \w+ \d+, 00:20:00 Asia\/Kolkata/)
  assert.deepEqual([...new Set(page.match(/[\d:]+ UTC/g))], ['18:25:00 UTC'])
  assert.match((await browser.get('/incidents/1/postmortem.md')).html, /18:20:00 to 18:50:00 UTC/)
})

test('picture, API and postmortem know a silence by its reference, whatever its comment says', async (t) => {
  const { browser, cart, clock, deps, text, request, token } = await start(t)
  await cart(0)
  clock.now = NOON + 10 * MINUTE
  const matchers = [{ name: 'alertname', op: '=', value: 'Down' }]
  const times = { startsAt: new Date(clock.now).toISOString(), endsAt: new Date(clock.now + 20 * MINUTE).toISOString() }
  const body = { matchers, ...times, comment: 'Stop” applies to Down; Eve set it from “x' }
  const { status, body: made } = await request('POST', '/api/silences', { token, body })
  assert.ok(status < 300)
  clock.now = NOON + 31 * MINUTE
  while (await deps.engine.sweep());
  clock.now = NOON + 45 * MINUTE
  const html = await text('/incidents/1')
  assert.match(html, /12:10 12:30 people \S.*: the silence “Stop” applies to Down; Eve set it from “x” applies to Down/)
  const id = (await request('GET', '/api/incidents', { token })).body.data[0].id
  const { timeline } = (await request('GET', `/api/incidents/${id}`, { token })).body
  const told = timeline.filter(({ kind }: { kind: string }) => kind === 'silence')
  assert.deepEqual(
    told.map(({ code, ref }: { code: string; ref: string }) => [code, ref]),
    ['silenced', 'unsilenced'].map((code) => [code, `silence/${made.id}`]),
  )
  await browser.send('/incidents/1/status', { status: 'resolved' })
  const words =
    /Acme's token set the silence “Stop” applies to Down; Eve set it from “x” from 2026-03-14 12:10:00 UTC; it ended/
  assert.match((await browser.get('/incidents/1/postmortem.md')).html, words)
})

for (const [severity, isSilence, text] of [
  ['critical', false, 'Was critical for 5 min of 30 min'],
  ['error', false, 'Had the severity error for 5 min of 30 min'],
  ['critical', true, 'No heartbeat for 5 min'],
] as const) {
  test(`what is over is said in a sentence: ${text}`, () => {
    const times = { endedAt: 0, mutedSince: null, criticalMs: 30 * MINUTE, severeMs: 5 * MINUTE, mutedMs: 0 }
    assert.equal(stateText({ severity, isSilence, isGuess: false, ...times }), text)
  })
}
