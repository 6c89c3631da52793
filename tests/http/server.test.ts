/** The same interface behind a real socket: what only the server's own request shows. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { getRequestListener } from '@hono/node-server'
import { createConnections } from '../../src/server/connections.ts'
import { createLog } from '../../src/server/log.ts'
import { makeWorld } from '../helpers/app.ts'
import { alertGroup } from '../helpers/payloads.ts'
import { eventually } from '../helpers/server.ts'

/** Sends bytes as they are and gives the first line of the answer; `lines` is the log. */
async function serving(t: TestContext) {
  const lines: string[] = []
  const log = createLog('info', (line) => void lines.push(line))
  const world = makeWorld(t, undefined, undefined, { log })
  const { server } = createConnections(getRequestListener(world.app.fetch), null)
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
  return { ...world, lines, begin, send, bearer: `Authorization: Bearer ${world.acme.token}` }
}

const POST = 'POST /api/webhooks/metrics HTTP/1.1'

test('a delivery is stored and answered', async (t) => {
  const { send, bearer } = await serving(t)
  const body = alertGroup(1)
  assert.equal(await send([POST, bearer, `Content-Length: ${body.length}`], body), 'HTTP/1.1 200 OK')
})

test('so is one in chunks', async (t) => {
  const { send, bearer } = await serving(t)
  const body = alertGroup(1)
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  assert.equal(await send([POST, bearer, 'Transfer-Encoding: chunked'], chunked), 'HTTP/1.1 200 OK')
})

test('one whose connection ends too soon is refused in the log, and nothing of it is stored', async (t) => {
  const { begin, bearer, db, lines } = await serving(t)
  begin([POST, bearer, 'Content-Length: 500'], '{"alerts":[').end()
  await eventually(
    async () => lines.join(''),
    (text) => text.includes('the connection ended before the body was complete'),
  )
  assert.deepEqual(db.all(db.sql.selectFrom('rejections').select('id')), [])
})

test('two Authorization headers are 401, even when both are good', async (t) => {
  const { send, bearer } = await serving(t)
  assert.equal(await send(['GET /api/services HTTP/1.1', bearer, bearer]), 'HTTP/1.1 401 Unauthorized')
})

test('a declared length over the limit is 413 before a byte of the body is sent', async (t) => {
  const { send, bearer } = await serving(t)
  assert.equal(await send([POST, bearer, 'Content-Length: 99999999']), 'HTTP/1.1 413 Payload Too Large')
})

test('chunks over the limit are 413 as soon as they are', async (t) => {
  const { send, bearer } = await serving(t)
  const size = 11 * 1_048_576
  const chunk = Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), Buffer.alloc(size, ' ')])
  assert.equal(await send([POST, bearer, 'Transfer-Encoding: chunked'], chunk), 'HTTP/1.1 413 Payload Too Large')
})

test('a missing token is 401 before a byte of the body is sent', async (t) => {
  const { send } = await serving(t)
  assert.equal(await send([POST, 'Content-Length: 500']), 'HTTP/1.1 401 Unauthorized')
})

test("Charlie's token in a second header does not lend his rights to Acme's", async (t) => {
  const { send, bearer, charlie } = await serving(t)
  const status = await send(['GET /api/services HTTP/1.1', bearer, `Authorization: Bearer ${charlie.token}`])
  assert.equal(status, 'HTTP/1.1 401 Unauthorized')
})
