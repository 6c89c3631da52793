/** Bodies in very many small chunks close their connection, and nothing else is affected. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createConnections } from '../../src/server/connection/connections.ts'

const HEAD = 'POST / HTTP/1.1\r\nHost: incmon\r\nTransfer-Encoding: chunked\r\n\r\n'
const END = '0\r\n\r\n'
const chunks = (count: number, size: number) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`.repeat(count)

/** Starts a server. Returns a function that sends a request, and returns the request as the server got it. */
async function serving(t: TestContext) {
  const listen = (_: IncomingMessage, response: ServerResponse) => void server.emit('asked', response)
  const { server } = createConnections({ listen, explain: () => null, refuse: () => assert.fail() }, null)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const send = async (sent: string) => {
    const asked = once(server, 'asked')
    const socket = connect(port, '127.0.0.1', () => socket.write(sent)).on('error', () => {})
    t.after(() => socket.destroy())
    const [response] = (await asked) as [ServerResponse]
    return { socket: socket.resume(), response }
  }
  /** Returns the number of received bytes, and whether the connection is still open after the body. */
  const receive = async (sent: string) => {
    const { response, socket } = await send(sent)
    const { req } = response
    let received = 0
    req
      .on('error', () => {})
      .on('data', (part: Buffer) => {
        received += part.length
      })
    await Promise.race(['end', 'close'].map((name) => new Promise((resolve) => req.on(name, resolve))))
    const isOpen = !req.socket.destroyed
    socket.destroy()
    return { received, isOpen }
  }
  return { send, receive }
}

for (const [count, size] of [
  [65, 1],
  [60_000, 1],
  [1_000, 200],
] as const) {
  test(`a body of ${count} chunks of ${size} bytes closes the connection`, async (t) => {
    const { receive } = await serving(t)
    const { received, isOpen } = await receive(`${HEAD}${chunks(count, size)}`)
    assert.deepEqual([received <= 64 * size, isOpen], [true, false])
  })
}

for (const [count, size] of [
  [64, 1],
  [1_000, 512],
  [3, 1_000_000],
] as const) {
  test(`a body of ${count} chunks of ${size} bytes is received completely`, async (t) => {
    const { receive } = await serving(t)
    assert.deepEqual(await receive(`${HEAD}${chunks(count, size)}${END}`), { received: count * size, isOpen: true })
  })
}

test('a body without chunks may arrive in small parts', async (t) => {
  const { send } = await serving(t)
  const { response, socket } = await send('POST / HTTP/1.1\r\nHost: incmon\r\nContent-Length: 100\r\n\r\n')
  let parts = 0
  for (let sent = 0; sent < 100; sent += 1) {
    socket.write('x')
    await once(response.req, 'data')
    parts += 1
  }
  assert.deepEqual([parts, response.req.socket.destroyed], [100, false])
})

test('small chunks that arrive after the response close the connection as well', async (t) => {
  const { send } = await serving(t)
  const { response, socket } = await send(HEAD)
  response.end('no')
  socket.write(chunks(1_000, 1))
  await new Promise((resolve) => socket.on('close', resolve))
})

test('after a connection with small chunks, the next ones are served, and their chunks are counted anew', async (t) => {
  const { receive } = await serving(t)
  for (let round = 0; round < 20; round += 1) {
    assert.equal((await receive(HEAD + chunks(100, 1))).isOpen, false)
    assert.deepEqual(await receive(`${HEAD}${chunks(64, 1)}${END}`), { received: 64, isOpen: true })
  }
})
