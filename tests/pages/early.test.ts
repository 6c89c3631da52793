/** The beginning of a page, which a browser gets before the page is read. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { gunzipSync, unzipSync } from 'node:zlib'
import { makeWorld } from '../helpers/app.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

const PAGES = ['/', '/?view=wall&tv=1', '/incidents', '/incidents/1', '/alerts', '/sources', '/reports']

/** Acme has one incident. Ada of Acme and Charlie are signed in. */
async function start(t: TestContext) {
  const { request, app, acme, charlie, db } = makeWorld(t)
  const body = alertmanager([alert('Down', { service: 'cart', severity: 'critical' }), alert('Slow', { service: 'ü' })])
  await request('POST', '/api/webhooks/metrics', { token: acme.token, body })
  const [browser, outsider] = [makeBrowser(app), makeBrowser(app)]
  await browser.signIn(acme.token, 'Ada')
  await outsider.signIn(charlie.token, 'Charlie')
  const ask = async (path: string, { who = browser, method = 'GET', headers = {} } = {}) => {
    const cookie = [...who.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const sent = { accept: 'text/html', 'accept-encoding': 'gzip', cookie, ...headers }
    return app.request(`http://localhost${path}`, { method, headers: sent })
  }
  const metrics = async () => (await request('GET', '/metrics', { token: acme.token })).body
  const services = await request('GET', '/api/services', { token: acme.token })
  const service = `/services/${services.body[0].id}`
  return { browser, outsider, ask, db, app, service, metrics }
}

/** Returns the parts of a compressed response, as they arrive. */
async function partsOf(response: Response): Promise<readonly Uint8Array[]> {
  const parts: Uint8Array[] = []
  for await (const part of response.body ?? []) parts.push(part)
  return parts
}

const textOf = async (response: Response) => gunzipSync(Buffer.concat(await partsOf(response))).toString()

test('the beginning names the style sheet and the script, and arrives before the rest', async (t) => {
  const { ask, service } = await start(t)
  for (const path of [...PAGES, service]) {
    const [first = new Uint8Array(), ...others] = await partsOf(await ask(path))
    // What is not complete yet must be readable.
    const beginning = unzipSync(first, { finishFlush: 2 }).toString()
    assert.match(
      beginning,
      /^<!doctype html>[\s\S]*rel="stylesheet" href="\/assets\/\w+\.css"[\s\S]*\.js" defer>/,
      path,
    )
    assert.doesNotMatch(beginning, /<title>|<body/)
    assert.equal(others.length, 1)
  }
})

test('a page in two parts is the same page', async (t) => {
  const { browser, ask, service } = await start(t)
  for (const path of [...PAGES, service])
    assert.equal(await textOf(await ask(path)), (await browser.get(path)).html, path)
})

test('a page that does not exist has no beginning', async (t) => {
  const { ask, outsider, service } = await start(t)
  const unknown = `${service.slice(0, -4)}0000`
  for (const [path, who] of [['/incidents/99'], ['/incidents/1', outsider], [unknown], [service, outsider]] as const) {
    const response = await ask(path, who ? { who } : {})
    assert.equal(response.status, 404)
    assert.match(await textOf(response), /Error 404/)
  }
})

test('a visitor without a session gets no beginning', async (t) => {
  const { app } = await start(t)
  const response = await app.request('http://localhost/', {
    headers: { 'accept-encoding': 'gzip', accept: 'text/html' },
  })
  assert.deepEqual([response.status, response.headers.get('location')], [303, '/sign-in'])
})

test('a page that fails after its beginning says so, and is counted and logged as failed', async (t) => {
  const { ask, db, metrics } = await start(t)
  db.execute('ALTER TABLE correlations RENAME TO gone')
  const response = await ask('/')
  assert.equal(response.status, 200)
  assert.match(await textOf(response), /^<!doctype html>[\s\S]*This is a bug in incmon\. Try again\./)
  assert.match(await metrics(), /route="GET \/",status="5xx"/)
})

test('a page whose error cannot be shown is cut, so that no half of it passes as the whole', async (t) => {
  const { ask, db } = await start(t)
  db.execute('ALTER TABLE services RENAME TO gone')
  await assert.rejects(async () => textOf(await ask('/alerts')), /cannot be shown/)
})

test('an update, a request for the headers, and a program get no beginning', async (t) => {
  const { ask } = await start(t)
  const update = await ask('/', { headers: { 'x-refresh': '1' } })
  assert.equal((await partsOf(update)).length, 1)
  assert.notEqual(update.headers.get('x-csrf'), null)
  assert.equal((await ask('/', { method: 'HEAD' })).body, null)
  const program = await ask('/incidents/1', { headers: { 'accept-encoding': 'identity' } })
  assert.match(await program.text(), /^<!doctype html>/)
})
