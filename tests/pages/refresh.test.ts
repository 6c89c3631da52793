/** Refreshing an open page: visitors share one rendering, and each gets only what is meant for them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { makeIncident, makeService, makeToken } from '../helpers/factory.ts'
import { makeBrowser } from '../helpers/site.ts'

const SECOND = 1_000

/** Gives Acme and Charlie a critical service each. Pages and the age of a rendering use the same clock. */
function start(t: TestContext) {
  const spent = { ms: 0 }
  const pauses: number[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  const world = makeWorld(t, undefined, undefined, { elapsed: () => spent.ms, pause })
  const { app, db, acme, charlie, clock, server } = world
  const { notices } = server.web
  t.after(notices.close)
  for (const owner of [acme, charlie])
    makeIncident(db, owner, makeService(db, owner, 'cart', { status: 'critical' }), { status: 'open' })
  const enter = async (token = acme.token) => {
    const browser = makeBrowser(app)
    await browser.signIn(token)
    const refresh = (path = '/') => browser.get(path, { 'x-refresh': '1' })
    return { ...browser, refresh }
  }
  const pass = (ms: number) => {
    spent.ms += ms
    clock.now += ms
  }
  const follow = (told: (text: string) => void) => {
    const send = (bytes: Uint8Array) => told(Buffer.from(bytes).toString())
    notices.subscribe({ organizationId: acme.key, send, isAllowed: () => true, end: () => {} }, '')
  }
  /** Resolves when the notice of a change has been delivered. */
  const change = (kind: 'alert' | 'service' = 'alert') =>
    new Promise<void>((resolve) => {
      follow((text) => text.includes(`event: ${kind}`) && resolve())
      notices.announce({ kind, id: 'a', organizationId: acme.key })
    })
  return { ...world, enter, spent, pauses, pass, follow, change }
}

const updatedAt = ({ html }: { readonly html: string }) => /Updated <time datetime="([^"]+)"/.exec(html)?.[1]

test('two visitors share one rendering until the next change', async (t) => {
  const { enter, pass, change } = start(t)
  const [ada, ben] = [await enter(), await enter()]
  const first = updatedAt(await ada.refresh())
  pass(SECOND)
  assert.equal(updatedAt(await ben.refresh()), first)
  await change()
  assert.notEqual(updatedAt(await ben.refresh()), first)
})

test('a rendering is shared for two seconds, because it shows durations', async (t) => {
  const { enter, pass } = start(t)
  const ada = await enter()
  const first = updatedAt(await ada.refresh())
  pass(2 * SECOND)
  assert.notEqual(updatedAt(await ada.refresh()), first)
})

test('a change is shown within a second of the last rendering', async (t) => {
  const { enter, pauses, pass, change } = start(t)
  const ada = await enter()
  await ada.refresh()
  pass(SECOND / 4)
  await change()
  await ada.refresh()
  assert.deepEqual(pauses, [0.75 * SECOND])
})

test('a change of a status is shown sooner, whatever else changed before', async (t) => {
  const { enter, pauses, pass, change } = start(t)
  const ada = await enter()
  await ada.refresh()
  pass(SECOND / 4)
  await change('alert')
  await change('service')
  await ada.refresh()
  pass(SECOND / 4)
  await change('alert')
  await ada.refresh()
  assert.deepEqual(pauses, [0.15 * SECOND, 0.75 * SECOND])
})

test('a page that is opened is never an earlier rendering', async (t) => {
  const { enter, pass } = start(t)
  const ada = await enter()
  const first = updatedAt(await ada.refresh())
  pass(SECOND)
  assert.notEqual(updatedAt(await ada.get('/')), first)
})

test('a shared page contains no CSRF token, and each visitor gets an own token', async (t) => {
  const { enter } = start(t)
  const [ada, ben] = [await enter(), await enter()]
  const [first, second] = [await ada.refresh('/incidents/1'), await ben.refresh('/incidents/1')]
  assert.deepEqual([...first.html.matchAll(/name="csrf" value="([^"]+)"/g)], [])
  assert.equal(first.headers.get('x-csrf'), await ada.csrf())
  assert.equal(second.headers.get('x-csrf'), await ben.csrf())
})

test('Charlie does not get the rendering of Acme', async (t) => {
  const { enter, pass, charlie } = start(t)
  const first = updatedAt(await (await enter()).refresh())
  pass(SECOND)
  const outsider = await (await enter(charlie.token)).refresh()
  assert.notEqual(updatedAt(outsider), first)
  assert.ok(outsider.html.includes('Charlie') && !outsider.html.includes('Acme'))
})

test('a visitor who may only read gets no button from the rendering of another', async (t) => {
  const { enter, db, acme } = start(t)
  const writer = await (await enter()).refresh('/incidents/1')
  const reader = await (await enter(makeToken(db, acme, ['read']))).refresh('/incidents/1')
  assert.deepEqual(
    [writer, reader].map(({ html }) => html.includes('Acknowledge')),
    [true, false],
  )
})

test('the page of the own session is not shared', async (t) => {
  const { enter } = start(t)
  const { headers, html } = await (await enter()).refresh('/settings')
  assert.equal(headers.get('x-csrf'), null)
  assert.match(html, /name="csrf" value="[^"]+"/)
})

test('a missing page is answered 404 each time', async (t) => {
  const { enter } = start(t)
  const ada = await enter()
  assert.deepEqual([(await ada.refresh('/incidents/7')).status, (await ada.refresh('/incidents/7')).status], [404, 404])
})

test('an ended session is asked to sign in', async (t) => {
  const { enter } = start(t)
  const ada = await enter()
  await ada.refresh()
  ada.cookies.clear()
  assert.equal((await ada.refresh()).location.startsWith('/sign-in'), true)
})

test('a page waits longer until its next refresh if many pages are open', async (t) => {
  const { enter, follow } = start(t)
  const ada = await enter()
  const alone = Number((await ada.refresh()).headers.get('x-refresh-after'))
  for (let count = 0; count < 5_000; count += 1) follow(() => {})
  const among = Number((await ada.refresh()).headers.get('x-refresh-after'))
  assert.deepEqual([alone, among > 30 * SECOND], [0, true])
})

test('many pages do not refresh at the same time', async (t) => {
  const { enter, follow } = start(t)
  const ada = await enter()
  for (let count = 0; count < 10_000; count += 1) follow(() => {})
  const waits: number[] = []
  for (let count = 0; count < 8; count += 1) waits.push(Number((await ada.refresh()).headers.get('x-refresh-after')))
  assert.ok(Math.max(...waits) - Math.min(...waits) > 5 * SECOND, waits.join())
})
