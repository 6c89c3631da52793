/** Headers on the wire: what every kind of response contains, each header exactly once. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createListener } from '../../src/http/middleware/listener.ts'
import { createConnections } from '../../src/server/connection/connections.ts'
import type { ServerContext } from '../../src/server/context.ts'
import { createLog } from '../../src/server/log.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeToken, newUuid } from '../helpers/factory.ts'
import { alertGroup } from '../helpers/payloads.ts'

type World = ReturnType<typeof makeWorld>
type Asked = {
  readonly method?: string
  readonly path: string
  readonly body?: string | object
  readonly token?: string
}

const BEARS = [
  ...['cache-control', 'content-security-policy', 'referrer-policy'],
  ...['x-content-type-options', 'x-request-id', 'date', 'connection'],
]

/** Each kind of response, and the request that causes it. */
const KINDS: Readonly<
  Record<string, { readonly status: number; readonly ask: (world: World) => Asked | Promise<Asked> }>
> = {
  'a list': { status: 200, ask: () => ({ path: '/api/services' }) },
  'an answer to HEAD': { status: 200, ask: () => ({ method: 'HEAD', path: '/api/services' }) },
  'what was made': {
    status: 201,
    ask: () => ({ method: 'POST', path: '/api/services', body: { name: 'cart', namespace: '' } }),
  },
  nothing: {
    status: 204,
    ask: async ({ acme, request }) => {
      const made = await request('POST', '/api/tokens', { token: acme.token, body: { name: 'x', scopes: ['read'] } })
      return { method: 'DELETE', path: `/api/tokens/${made.body.id}` }
    },
  },
  'a delivery': { status: 200, ask: () => ({ method: 'POST', path: '/api/webhooks/metrics', body: alertGroup(1) }) },
  'a page': { status: 200, ask: () => ({ path: '/docs' }) },
  figures: { status: 200, ask: () => ({ path: '/metrics' }) },
  'a fault of the caller': { status: 400, ask: () => ({ path: '/api/alerts?page=x' }) },
  'a wrong token': { status: 401, ask: () => ({ path: '/api/services', token: 'wrong' }) },
  'a lacking scope': {
    status: 403,
    ask: ({ db, acme }) => ({ path: '/api/tokens', token: makeToken(db, acme, ['read']) }),
  },
  'a missing record': { status: 404, ask: () => ({ path: `/api/services/${newUuid()}` }) },
  'a missing path': { status: 404, ask: () => ({ path: '/nothing' }) },
  'another method': { status: 405, ask: () => ({ method: 'PUT', path: '/api/services' }) },
  'too long a body': {
    status: 413,
    ask: () => ({ method: 'POST', path: '/api/services', body: ' '.repeat(1_048_577) }),
  },
  'a store that takes no write': {
    status: 503,
    ask: ({ db }) => {
      db.pragma('query_only = ON')
      return { method: 'POST', path: '/api/services', body: { name: 'cart', namespace: '' } }
    },
  },
}

for (const [what, { status, ask }] of Object.entries(KINDS)) {
  test(`${what}: ${status} has each common header once`, async (t) => {
    const { world, send } = await serving(t)
    const { statusCode, rawHeaders } = await send(await ask(world))
    const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
    assert.equal(statusCode, status)
    assert.deepEqual(new Set(names).size, names.length, names.join())
    assert.deepEqual(
      BEARS.filter((name) => !names.includes(name)),
      [],
    )
  })
}

test('a 304 has an ETag and a request ID but no body', async (t) => {
  const { send } = await serving(t)
  const { etag = '' } = (await send({ path: '/docs' })).headers
  const { statusCode, headers } = await send({ path: '/docs' }, { 'If-None-Match': etag })
  assert.deepEqual([statusCode, headers.etag, headers['x-request-id']], [304, etag, 'test-2'])
  assert.deepEqual([headers['cache-control'], headers['content-length']], ['no-cache', undefined])
})

for (const path of ['/api/services', '/nothing', '/docs']) {
  test(`the length of ${path} is declared in bytes`, async (t) => {
    const { send } = await serving(t)
    const answer = await send({ path })
    assert.equal(Number(answer.headers['content-length']), answer.body.length)
  })
}

test('before a shutdown, every response has Connection: close', async (t) => {
  const { send } = await serving(t, { isStopping: () => true })
  const answers = [await send({ path: '/healthz' }), await send({ path: '/nothing' })]
  assert.deepEqual(
    answers.map(({ headers }) => headers.connection),
    ['close', 'close'],
  )
})

/** Starts a server. Returns a function that sends requests, by default with Acme's token. */
async function serving(t: TestContext, around: Partial<ServerContext> = {}) {
  const world = makeWorld(t, undefined, undefined, { log: createLog('error', () => {}), ...around })
  const { server } = createConnections(createListener(world.app, world.server), null)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const send = async (asked: Asked, more: Record<string, string> = {}) => {
    const { method = 'GET', path, body, token = world.acme.token } = asked
    const headers = { Authorization: `Bearer ${token}`, ...more }
    const sent = request({ host: '127.0.0.1', port, method, path, headers })
    sent.end(typeof body === 'object' ? JSON.stringify(body) : body)
    const [message] = (await once(sent, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk)
    const { statusCode, rawHeaders, headers: answered } = message
    return { statusCode, rawHeaders, headers: answered, body: Buffer.concat(chunks) }
  }
  return { world, send }
}
