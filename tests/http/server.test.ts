/** The application behind a real socket: behavior that depends on Node's own request. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { createToken, revokeToken } from '../../src/actions/tokens.ts'
import { createListener } from '../../src/http/middleware/listener.ts'
import { createConnections } from '../../src/server/connection/connections.ts'
import { createLog } from '../../src/server/log.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { makeWorld } from '../helpers/app.ts'
import { alertGroup } from '../helpers/payloads.ts'
import { eventually, startServer } from '../helpers/server.ts'

/**
 * Returns a function that sends raw bytes and returns the first line of the response; `exchange` returns all of it.
 * `lines` is the log.
 */
async function serving(t: TestContext) {
  const lines: string[] = []
  const log = createLog('info', (line) => void lines.push(line))
  const world = makeWorld(t, undefined, undefined, { log })
  const { server } = createConnections(createListener(world.app, world.server), null)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const begin = (head: string[], body: string | Buffer) => {
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    socket.write(`${[...head, 'Host: x', '', ''].join('\r\n')}`)
    socket.write(body)
    return socket
  }
  const send = async (head: string[], body: string | Buffer = '') => {
    const [chunk] = await once(begin(head, body), 'data')
    return String(chunk).split('\r\n')[0]
  }
  const exchange = async (...head: string[]) => {
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.write([...head, 'Connection: close', '', ''].join('\r\n'))
    const [top = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    return { top, body }
  }
  return { ...world, lines, begin, send, exchange, bearer: `Authorization: Bearer ${world.acme.token}` }
}

const POST = 'POST /api/webhooks/metrics HTTP/1.1'
const LIST = 'GET /api/services HTTP/1.0'

test('a webhook request is stored and answered', async (t) => {
  const { send, bearer } = await serving(t)
  const body = alertGroup(1)
  assert.equal(await send([POST, bearer, `Content-Length: ${body.length}`], body), 'HTTP/1.1 200 OK')
})

test('a chunked request is stored and answered', async (t) => {
  const { send, bearer } = await serving(t)
  const body = alertGroup(1)
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  assert.equal(await send([POST, bearer, 'Transfer-Encoding: chunked'], chunked), 'HTTP/1.1 200 OK')
})

test('a request whose connection closes early is logged and not stored', async (t) => {
  const { begin, bearer, db, lines } = await serving(t)
  begin([POST, bearer, 'Content-Length: 500'], '{"alerts":[').end()
  await eventually(
    async () => lines.join(''),
    (log) => log.includes('the connection ended before the request was complete'),
  )
  assert.deepEqual(db.all(db.sql.selectFrom('rejections').select('id')), [])
})

test('a request whose connection is reset is logged and not stored', async (t) => {
  const { begin, bearer, db, lines } = await serving(t)
  const socket = begin([POST, bearer, 'Content-Length: 500'], '')
  socket.write('{"alerts":[', () => socket.resetAndDestroy())
  await eventually(
    async () => lines.join(''),
    (log) => log.includes('the connection ended before the body was complete'),
  )
  assert.deepEqual(db.all(db.sql.selectFrom('rejections').select('id')), [])
})

test('two Authorization headers are 401, even with valid tokens', async (t) => {
  const { send, bearer } = await serving(t)
  assert.equal(await send(['GET /api/services HTTP/1.1', bearer, bearer]), 'HTTP/1.1 401 Unauthorized')
})

test('a declared length over the limit is 413 before a byte of the body is sent', async (t) => {
  const { send, bearer } = await serving(t)
  assert.equal(await send([POST, bearer, 'Content-Length: 99999999']), 'HTTP/1.1 413 Payload Too Large')
})

test('a chunked body is 413 as soon as it exceeds the limit', async (t) => {
  const { send, bearer } = await serving(t)
  const size = 11 * 1_048_576
  const chunk = Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), Buffer.alloc(size, ' ')])
  assert.equal(await send([POST, bearer, 'Transfer-Encoding: chunked'], chunk), 'HTTP/1.1 413 Payload Too Large')
})

test('a missing token is 401 before a byte of the body is sent', async (t) => {
  const { send } = await serving(t)
  assert.equal(await send([POST, 'Content-Length: 500']), 'HTTP/1.1 401 Unauthorized')
})

test('a token that another process revokes is refused from the next request on', async (t) => {
  const { db, deps, url, organization } = await startServer(t)
  const other = openStore(db.file)
  t.after(() => other.close())
  for (let time = 0; time < 20; time += 1) {
    const made = createToken(deps, { name: 'brief', scopes: ['read'], organizationId: organization.rowId })
    const ask = () => fetch(`${url}/api/services`, { headers: { Authorization: `Bearer ${made.token}` } })
    // Only the first use of a token is stored.
    for (let use = 0; use < 2; use += 1) assert.equal((await ask()).status, 200)
    revokeToken({ ...deps, db: other }, organization.rowId, made.id)
    assert.equal((await ask()).status, 401)
  }
})

test("Charlie's token in a second header does not give his rights to Acme's token", async (t) => {
  const { send, bearer, charlie } = await serving(t)
  const status = await send(['GET /api/services HTTP/1.1', bearer, `Authorization: Bearer ${charlie.token}`])
  assert.equal(status, 'HTTP/1.1 401 Unauthorized')
})

/** Invalid URLs, and the path that the log shows for them. */
const MALFORMED: Readonly<Record<string, readonly [path: string, ...head: string[]]>> = {
  'a Host that is none': ['/healthz', 'GET /healthz HTTP/1.1', 'Host: a b'],
  'a Host with a port out of range': ['/healthz', 'GET /healthz HTTP/1.1', 'Host: a:99999'],
  'two Hosts': ['/healthz', 'GET /healthz HTTP/1.1', 'Host: a', 'Host: b'],
  'the path *': ['/*', 'OPTIONS * HTTP/1.1', 'Host: a'],
  'a backslash in the path': ['/api\\alerts', 'GET /api\\alerts?token=hunter2 HTTP/1.1', 'Host: a'],
  'the address of a file server': ['/ftp://a/b', 'GET ftp://a/b HTTP/1.1', 'Host: a'],
}

for (const [what, [path, ...head]] of Object.entries(MALFORMED)) {
  test(`${what} gets a one-line problem with the common headers`, async (t) => {
    const { exchange } = await serving(t)
    const { top, body } = await exchange(...head, 'X-Request-Id: mine')
    const { status, detail } = JSON.parse(body)
    assert.match(top, /^HTTP\/1.1 400 Bad Request/)
    for (const header of ['x-request-id: mine', 'x-content-type-options: nosniff', 'cache-control: no-store'])
      assert.ok(top.includes(header), top)
    assert.equal(status, 400)
    assert.match(detail, /^the Host header or the path is malformed; send one Host header/)
  })

  test(`${what} is counted, and logged as a rejection of ${path}`, async (t) => {
    const { exchange, lines, server } = await serving(t)
    await exchange(...head, 'X-Request-Id: mine')
    const told = JSON.parse(lines[0] ?? '')
    const { status, route, requestId, client } = told
    assert.deepEqual([status, route, told.path, requestId, client], [400, 'none', path, 'mine', '127.0.0.1'])
    const figures = await server.metrics.text({ database: 0, wal: 0, free: 0, waiting: 0 })
    assert.match(figures, /requests_total\{[^}]*route="none",status="4xx"[^}]*\} 1/)
  })
}

test('the next request on a connection is answered after a malformed one', async (t) => {
  const { exchange } = await serving(t)
  const first = ['POST /a\\b HTTP/1.1', 'Host: a', 'Content-Length: 5', '', 'helloGET /healthz HTTP/1.1', 'Host: a']
  const { body } = await exchange(...first)
  assert.match(body, /HTTP\/1.1 200 OK/)
})

for (const head of [['GET /healthz HTTP/1.0'], ['GET /healthz HTTP/1.1', 'Host:']]) {
  test(`${head.join(', ')} contains no host and is answered`, async (t) => {
    const { exchange } = await serving(t)
    assert.match((await exchange(...head)).top, /^HTTP\/1.1 200 OK/)
  })
}

test('HTTP/1.0 without a Host also requires a token', async (t) => {
  const { exchange, bearer } = await serving(t)
  const [own, none] = [await exchange(LIST, bearer), await exchange(LIST)]
  assert.match(own.top, /^HTTP\/1.1 200 OK/)
  assert.match(none.top, /^HTTP\/1.1 401 Unauthorized/)
})
