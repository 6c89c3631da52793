/** Signing in without JavaScript: token, setup link, proxy, sessions, and protection against forged forms. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createSetupLink, signIn } from '../../src/actions/sessions.ts'
import { revokeToken } from '../../src/actions/tokens.ts'
import { listSessions } from '../../src/store/sessions.ts'
import { makeWorld } from '../helpers/app.ts'
import { DAY, MINUTE, makeService, makeToken } from '../helpers/factory.ts'
import { makeServerContext } from '../helpers/server-context.ts'
import { makeBrowser } from '../helpers/site.ts'

function start(t: TestContext) {
  const world = makeWorld(t)
  return { ...world, browser: makeBrowser(world.app), other: makeBrowser(world.app) }
}

test('a visitor without a session is asked to sign in, and then sees the requested page', async (t) => {
  const { browser, acme } = start(t)
  assert.equal((await browser.get('/?status=critical')).location, '/sign-in?to=%2F%3Fstatus%3Dcritical')
  const { status, location } = await browser.post('/sign-in', { token: acme.token, to: '/?status=critical' })
  assert.deepEqual([status, location], [303, '/?status=critical&done=signed-in'])
  assert.equal((await browser.get(location)).status, 200)
})

test('the cookie is inaccessible to scripts and other sites', async (t) => {
  const { browser, acme } = start(t)
  const { headers } = await browser.signIn(acme.token)
  assert.match(
    headers.get('set-cookie') ?? '',
    /^incmon_session=\S{43}; Path=\/; SameSite=Lax; HttpOnly; Max-Age=2592000$/,
  )
})

test('signing in to another port on the same host keeps this session', async (t) => {
  const { app, acme } = start(t)
  const cookieAt = async (origin: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin }
    const body = `token=${acme.token}`
    const response = await app.request(`${origin}/sign-in`, { method: 'POST', headers, body })
    return response.headers.get('set-cookie')?.split(';')[0] ?? ''
  }
  const [here, there] = [await cookieAt('http://localhost:8080'), await cookieAt('http://localhost:8090')]
  assert.notEqual(here.split('=')[0], there.split('=')[0])
  const page = await app.request('http://localhost:8080/', { headers: { cookie: `${there}; ${here}` } })
  assert.equal(page.status, 200)
})

for (const [what, token] of [
  ['an unknown token', `incmon_${'x'.repeat(43)}`],
  ['no token', ''],
  ['a text that is no token', '<script>'],
] as const) {
  test(`${what} is refused with an explanation next to the field`, async (t) => {
    const { browser } = start(t)
    const { status, html } = await browser.signIn(token, 'Ada')
    assert.deepEqual([status, browser.cookies.size], [401, 0])
    assert.match(html, /id="token-fault">This token is unknown, revoked or expired\.</)
    assert.match(html, /value="Ada"/)
  })
}

test('a token that can only send events cannot be used to sign in', async (t) => {
  const { browser, db, acme } = start(t)
  const { html } = await browser.signIn(makeToken(db, acme, ['ingest']))
  assert.match(html, /can only send events/)
})

test("Charlie sees nothing of Acme's", async (t) => {
  const { browser, other, db, acme, charlie } = start(t)
  makeService(db, acme, 'secret-service')
  await browser.signIn(acme.token)
  await other.signIn(charlie.token)
  assert.match((await browser.get('/')).html, /secret-service/)
  assert.doesNotMatch((await other.get('/')).html, /secret-service|Acme/)
})

test('a session ends immediately with its token', async (t) => {
  const { browser, deps, acme, request } = start(t)
  await browser.signIn(acme.token)
  const { body } = await request('GET', '/api/tokens', { token: acme.token })
  revokeToken(deps, acme.key, body.data[0].id)
  assert.equal((await browser.get('/')).status, 303)
})

test('a session lasts 12 hours, or 30 days if the box is checked', async (t) => {
  const { browser, other, clock, acme } = start(t)
  await browser.post('/sign-in', { token: acme.token })
  await other.signIn(acme.token)
  clock.now += 13 * 60 * MINUTE
  assert.deepEqual([(await browser.get('/')).status, (await other.get('/')).status], [303, 200])
  clock.now += 30 * DAY
  assert.equal((await other.get('/')).status, 303)
})

test('the last uses of sessions are stored together, at most every ten seconds', async (t) => {
  const { browser, other, db, clock, acme } = start(t)
  const before = clock.now
  await browser.signIn(acme.token)
  await other.signIn(acme.token)
  const usedAfter = () => listSessions(db, acme.key, clock.now).map(({ lastUsedAt }) => lastUsedAt - before)
  clock.now += MINUTE
  await browser.get('/')
  await other.get('/')
  // The newest session is listed first.
  assert.deepEqual(usedAfter(), [0, MINUTE])
  clock.now += 10_000
  await browser.get('/')
  assert.deepEqual(usedAfter(), [MINUTE, MINUTE])
})

test('pages can be read even if the time of last use cannot be stored', async (t) => {
  const { browser, db, clock, acme } = start(t)
  await browser.signIn(acme.token)
  clock.now += MINUTE
  db.pragma('query_only = 1')
  assert.equal((await browser.get('/')).status, 200)
})

test('opening a setup link changes nothing, and its button signs in once', async (t) => {
  const { browser, other, deps, acme } = start(t)
  const { secret } = createSetupLink(deps, acme.key)
  assert.match((await browser.get(`/setup?key=${secret}`)).html, /It works once/)
  assert.equal((await browser.post('/setup', { key: secret, person: 'Ada' })).status, 303)
  assert.equal((await browser.get('/')).status, 200)
  assert.deepEqual(
    [(await other.get(`/setup?key=${secret}`)).status, (await other.post('/setup', { key: secret })).status],
    [403, 403],
  )
})

test('a person who gives no name with a setup link is called administrator', async (t) => {
  const { browser, deps, acme, request } = start(t)
  const { secret } = createSetupLink(deps, acme.key)
  const { html } = await browser.get(`/setup?key=${secret}`)
  assert.match(html, /Timelines, postmortems and messages show this name/)
  await browser.post('/setup', { key: secret, person: '' })
  await browser.send('/sources/test', { connect: 'metrics' })
  const { body } = await request('GET', '/api/events', { token: acme.token })
  assert.match(JSON.stringify(body.data[0]), /by Administrator \(setup link\)/)
})

test('pages show the command that started the program', async (t) => {
  const { browser } = start(t)
  for (const path of ['/sign-in', '/setup?key=spent'])
    assert.match((await browser.get(path)).html, /<code>npm run -s incmon -- setup-link<\/code>/)
})

test('a setup link expires after 30 minutes', async (t) => {
  const { browser, deps, clock, acme } = start(t)
  const { secret } = createSetupLink(deps, acme.key)
  clock.now += 30 * MINUTE
  const { status, html } = await browser.post('/setup', { key: secret })
  assert.equal(status, 403)
  assert.match(html, /no longer works/)
})

for (const to of [
  '//evil.example',
  '/\\evil.example',
  'https://evil.example/',
  'javascript:alert(1)',
  '/\tx',
  '/sign-out',
]) {
  test(`signing in never leads to ${JSON.stringify(to)}`, async (t) => {
    const { browser, acme } = start(t)
    assert.equal((await browser.post('/sign-in', { token: acme.token, to })).location, '/?done=signed-in')
  })
}

for (const [what, headers] of [
  ['of another site', { origin: 'https://evil.example' }],
  ['that says another site sent it', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost' }],
  ['of a sandboxed page', { origin: 'null' }],
] as const) {
  test(`a form ${what} is refused`, async (t) => {
    const { browser, acme } = start(t)
    const { status, html } = await browser.post('/sign-in', { token: acme.token }, headers)
    assert.deepEqual([status, browser.cookies.size], [403, 0])
    assert.match(html, /not sent from a page of incmon/)
  })
}

test('a form without a CSRF token is shown again and has no effect', async (t) => {
  const { browser, acme } = start(t)
  await browser.signIn(acme.token)
  const { status, html } = await browser.post('/sign-out', { csrf: 'wrong' })
  assert.equal(status, 403)
  assert.match(html, /Send this again\?/)
  assert.equal((await browser.get('/')).status, 200)
})

test('typed text survives the end of a session', async (t) => {
  const { browser, acme } = start(t)
  const asked = await browser.post('/sign-out', { text: 'rolled <back>', csrf: 'old' })
  assert.match(asked.html, /Nothing that you typed is lost/)
  const waiting = /name="waiting" value="([^"]+)"/.exec(asked.html)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const { html } = await browser.post('/sign-in', { token: acme.token, to: '/', waiting })
  assert.match(html, /name="text" value="rolled &lt;back&gt;"/)
  assert.match(html, /name="csrf" value="[\w-]{43}"/)
})

test('a form that is shown again names its fields in words, and only those that a person filled', async (t) => {
  const { browser, acme } = start(t)
  const waiting = 'seen=before&rootCause=disk+full'
  const { html } = await browser.post('/sign-in', { token: acme.token, to: '/', waiting })
  assert.match(html, /<dt>root cause<\/dt><dd class="typed">disk full</)
  assert.doesNotMatch(html, /<dt>seen</)
  assert.match(html, /name="seen" value="before"/)
})

test('signing out ends the session', async (t) => {
  const { browser, deps, acme } = start(t)
  const { secret } = signIn(deps, acme.token, { person: 'Ada', agent: '', stay: true })
  browser.cookies.set('incmon_session', secret)
  const csrf = /name="csrf" value="([^"]+)"/.exec((await browser.post('/sign-out', { csrf: '' })).html)?.[1] ?? ''
  assert.equal((await browser.post('/sign-out', { csrf })).location, '/sign-in?done=signed-out')
  browser.cookies.set('incmon_session', secret)
  assert.equal((await browser.get('/')).status, 303)
})

test('a page has a strict policy and no inline scripts or styles', async (t) => {
  const { browser, acme } = start(t)
  await browser.signIn(acme.token)
  const { headers, html } = await browser.get('/')
  assert.doesNotMatch(headers.get('content-security-policy') ?? '', /unsafe|https?:|\*/)
  assert.doesNotMatch(html, /<script>| style="| on\w+="/)
})

test('a client that prefers JSON gets links to the API at the root, and problem documents elsewhere', async (t) => {
  const { browser } = start(t)
  const root = await browser.get('/', { accept: 'application/json' })
  assert.equal(JSON.parse(root.html).openapi, '/openapi.json')
  const missing = await browser.get('/nothing', { accept: 'application/json' })
  assert.equal(JSON.parse(missing.html).status, 404)
})

test('a browser gets a page for an unknown URL, and a problem document below /api', async (t) => {
  const { browser } = start(t)
  const { status, html } = await browser.get('/nothing')
  assert.deepEqual([status, /<h1>There is no page at this URL\.<\/h1>/.test(html)], [404, true])
  assert.equal((await browser.get('/api/nothing')).headers.get('content-type'), 'application/problem+json')
})

test('a theme is remembered, and the form returns to its page', async (t) => {
  const { browser } = start(t)
  const { location } = await browser.post('/theme', { theme: 'dark', back: '/sign-in' })
  assert.equal(location, '/')
  assert.match((await browser.get('/sign-in')).html, /<html lang="en" data-theme="dark">/)
})

test('assets are cached for a year under a URL that changes with their content', async (t) => {
  const { browser } = start(t)
  const [, style = ''] = /href="(\/assets\/\w+\.css)"/.exec((await browser.get('/sign-in')).html) ?? []
  const { status, headers } = await browser.get(style)
  assert.deepEqual([status, headers.get('cache-control')], [200, 'public, max-age=31536000, immutable'])
  assert.equal((await browser.get(style, { 'if-none-match': headers.get('etag') ?? '' })).status, 304)
  assert.equal((await browser.get('/assets/none.css')).status, 404)
})

const PROXY = { userHeader: 'remote-user', userOrganization: 'Acme', userScopes: ['read'] as const, pathPrefix: '' }

/** Starts a server behind a proxy that it trusts or does not trust. */
function behindProxy(t: TestContext, isTrusted: boolean, settings: Partial<typeof PROXY> = {}) {
  const { web } = makeServerContext()
  const around = { isTrusted: () => isTrusted, web: { ...web, settings: () => ({ ...PROXY, ...settings }) } }
  const world = makeWorld(t, undefined, undefined, around)
  return { ...world, browser: makeBrowser(world.app, { 'remote-user': 'Ada' }) }
}

test("a trusted proxy's user is signed in, and each form still needs the CSRF token", async (t) => {
  const { browser } = behindProxy(t, true)
  const { status, html } = await browser.get('/')
  assert.deepEqual([status, /Acme/.test(html)], [200, true])
  assert.equal((await browser.post('/sign-out', { csrf: 'wrong' })).status, 403)
})

test('a user header has no effect without a trusted proxy', async (t) => {
  assert.equal((await behindProxy(t, false).browser.get('/')).status, 303)
})

for (const [what, settings] of [
  ['the header is not configured', { userHeader: '' }],
  ['the organization does not exist', { userOrganization: 'Nobody' }],
  ['there are several organizations and none is configured', { userOrganization: '' }],
] as const) {
  test(`a trusted proxy signs nobody in if ${what}`, async (t) => {
    assert.equal((await behindProxy(t, true, settings).browser.get('/')).status, 303)
  })
}

test('a path prefix from a trusted proxy or the settings is added to every URL', async (t) => {
  const { browser } = behindProxy(t, true)
  const { html } = await browser.get('/', { 'x-forwarded-prefix': '/monitoring/' })
  assert.match(html, /href="\/monitoring\/assets\/\w+\.css"/)
  assert.doesNotMatch(html, / (href|action|src)="\/(?!monitoring\/)/)
  const { location } = await behindProxy(t, false, { pathPrefix: '/mon' }).browser.get('/')
  assert.equal(location, '/mon/sign-in')
})

for (const prefix of ['//evil.example', '/../..', '/a"onload="x', 'evil']) {
  test(`the path prefix ${prefix} is ignored`, async (t) => {
    const { html } = await behindProxy(t, true).browser.get('/', { 'x-forwarded-prefix': prefix })
    assert.match(html, / href="\/assets\//)
  })
}
