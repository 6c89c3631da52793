/** HEAD, OPTIONS and aborted requests leave nothing behind, on every route. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ROUTES } from '../../src/app.ts'
import { createListener } from '../../src/http/middleware/listener.ts'
import { createConnections } from '../../src/server/connection/connections.ts'
import { PAGES } from '../../src/web/routes.ts'
import { type Member, makeWorld } from '../helpers/app.ts'
import { eventually } from '../helpers/server.ts'

const PATHS = [...new Set([...ROUTES, ...PAGES].map(({ path }) => path.replace(/:\w+/g, 'x')))]

async function serving(t: TestContext) {
  const world = makeWorld(t)
  const { server } = createConnections(createListener(world.app, world.server), null)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const send = async ({ token }: Member, request: string, abort: boolean) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    socket.write(`${request} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`)
    if (abort) await once(socket.end(), 'finish')
    else await once(socket.resume(), 'end')
    socket.destroy()
  }
  return { ...world, send, subscribers: world.server.web.notices.count }
}

const none = async (subscribers: () => number) =>
  eventually(
    async () => subscribers(),
    (count) => count === 0,
  )

for (const method of ['HEAD', 'OPTIONS']) {
  test(`${method} on every route leaves no subscriber`, async (t) => {
    const { acme, charlie, send, subscribers } = await serving(t)
    for (const path of PATHS) for (const one of [acme, charlie]) await send(one, `${method} ${path}`, false)
    assert.equal(subscribers(), 0)
  })
}

test('a GET whose client is gone leaves no subscriber, on every route', async (t) => {
  const { acme, charlie, send, subscribers } = await serving(t)
  for (const path of PATHS) for (const one of [acme, charlie]) await send(one, `GET ${path}`, true)
  await none(subscribers)
})

test('an event stream that waits behind another one on its connection leaves no subscriber', async (t) => {
  const { acme, send, subscribers } = await serving(t)
  const stream = `GET /api/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${acme.token}\r\n\r\n`
  await send(acme, `${stream.repeat(3)}GET /api/stream`, true)
  await none(subscribers)
})

test('an organization has at most 1,000 event streams, and Charlie still gets one', async (t) => {
  const { acme, charlie, app, server } = makeWorld(t)
  const open = (token: string) => app.request('/api/stream', { headers: { Authorization: `Bearer ${token}` } })
  const stream = { organizationId: acme.key, send: () => {}, isAllowed: () => true, end: () => {} }
  for (let opened = 0; opened < 1_000; opened += 1) server.web.notices.subscribe({ ...stream }, '')
  const refused = await open(acme.token)
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5'])
  assert.equal((await open(charlie.token)).status, 200)
})
