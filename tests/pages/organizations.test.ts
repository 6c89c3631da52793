/** A person who is signed in to several organizations switches between them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { revokeToken } from '../../src/actions/tokens.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeBrowser } from '../helpers/site.ts'

/** Ada is signed in to Acme, and then to Charlie. */
async function start(t: TestContext) {
  const world = makeWorld(t)
  const browser = makeBrowser(world.app)
  const shown = async () =>
    /class="organization clip"[^>]*>\s*([^<]*?)\s*</.exec((await browser.get('/settings')).html)?.[1]
  const idOf = async (token: string) => (await world.request('GET', '/api/organization', { token })).body.id
  await browser.signIn(world.acme.token, 'Ada')
  return { ...world, browser, shown, idOf }
}

test('a person who signs in to a second organization keeps the first, and switches back', async (t) => {
  const { browser, shown, idOf, acme, charlie } = await start(t)
  const first = await shown()
  await browser.signIn(charlie.token, 'Ada')
  assert.notEqual(await shown(), first)
  assert.match((await browser.get('/organizations')).html, new RegExp(`Switch to ${first}`))
  const { location } = await browser.send('/organizations', { organization: await idOf(acme.token) })
  assert.deepEqual([location, await shown()], ['/?done=switched', first])
})

test('an organization to which nobody signed in cannot be chosen', async (t) => {
  const { browser, shown, idOf, charlie } = await start(t)
  const before = await shown()
  for (const organization of [await idOf(charlie.token), '', 'x']) {
    assert.equal((await browser.send('/organizations', { organization })).status, 404)
  }
  assert.equal(await shown(), before)
})

test('a forged form cannot switch', async (t) => {
  const { browser, shown, idOf, acme, charlie } = await start(t)
  await browser.signIn(charlie.token)
  const before = await shown()
  await browser.post('/organizations', { organization: await idOf(acme.token), csrf: 'x' })
  assert.equal(await shown(), before)
})

test('only a person with several organizations sees the switch in the navigation bar', async (t) => {
  const { browser, charlie } = await start(t)
  assert.doesNotMatch((await browser.get('/')).html, /href="\/organizations"/)
  await browser.signIn(charlie.token)
  assert.match((await browser.get('/')).html, /href="\/organizations"/)
})

test('signing in to the same organization again replaces its session', async (t) => {
  const { browser, acme } = await start(t)
  await browser.signIn(acme.token, 'Ada')
  assert.doesNotMatch([...browser.cookies.values()].join(), /\./)
})

test('an organization whose token was revoked is not offered', async (t) => {
  const { browser, acme, charlie, deps, request } = await start(t)
  await browser.signIn(charlie.token)
  const tokens = (await request('GET', '/api/tokens', { token: acme.token })).body
  for (const { id } of tokens.data ?? tokens) revokeToken(deps, acme.key, id)
  assert.doesNotMatch((await browser.get('/organizations')).html, />Switch to /)
})

test('signing out ends the sessions of all organizations', async (t) => {
  const { browser, charlie, app } = await start(t)
  await browser.signIn(charlie.token)
  const secrets = [...browser.cookies.values()].flatMap((value) => value.split('.'))
  await browser.send('/sign-out', {})
  for (const secret of secrets) {
    const stolen = makeBrowser(app, { cookie: `incmon_session=${secret}` })
    assert.match((await stolen.get('/')).location, /^\/sign-in/)
  }
  assert.equal(secrets.length, 2)
})

test('a cookie of another host with the same name signs nobody out', async (t) => {
  const { browser, app, charlie } = await start(t)
  await browser.signIn(charlie.token)
  const [own = ''] = browser.cookies.values()
  const strange = 'x'.repeat(43)
  const withCookies = (...values: readonly string[]) =>
    makeBrowser(app, { cookie: values.map((value) => `incmon_session=${value}`).join('; ') })
  for (const values of [
    [strange, own],
    ['', own],
    [own, strange],
    [`${strange}.${strange}`, strange, own],
  ])
    assert.equal((await withCookies(...values).get('/')).status, 200)
  for (const values of [[strange], [`${strange}.${own}`], [...Array(8).fill(strange), own]])
    assert.equal((await withCookies(...values).get('/')).status, 303)
  const both = withCookies(strange, own)
  await both.send('/settings/name', { person: 'Grace' })
  assert.match((await both.get('/settings')).html, /Grace/)
})
