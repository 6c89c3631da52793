/** What a hostile API server sends neither fills the memory nor keeps this process busy. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Access } from '../../src/kubernetes/access.ts'
import { ApiError, type Client, createClient } from '../../src/kubernetes/client.ts'

/** Starts a server that answers each request with `send`, and a client for it. */
async function client(t: TestContext, send: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => send(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const tls = { ca: null, cert: null, key: null }
  const access: Access = { name: 'a', server: `http://127.0.0.1:${port}`, tls, isUnverified: false, token: () => null }
  const made = createClient(access, Date.now)
  t.after(() => made.close())
  return made
}

/** Sends text again and again until the client closes the connection. */
const endless = (head: string, text: string) => (socket: Socket) => {
  socket.write(head)
  const more = () => {
    if (!socket.destroyed && socket.write(text)) setImmediate(more)
  }
  socket.on('drain', more)
  more()
}

const OK = 'HTTP/1.1 200 OK\r\n\r\n'
const BLOCK = ' '.repeat(65_536)
const reads: Readonly<Record<string, (of: Client) => Promise<unknown>>> = {
  get: ({ get }) => get('/version'),
  items: ({ items }) => items('/api/v1/pods', () => {}),
  lines: ({ lines }) => lines('/api/v1/pods', { onOpen: () => {}, onLine: () => {} }),
}

for (const [name, read] of Object.entries(reads)) {
  test(`interim responses and a response without end are given up: ${name}`, async (t) => {
    const interim = await client(t, endless('', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1_000)))
    await assert.rejects(read(interim), new ApiError(0, 'the API server sent more than 20 interim responses'))
    const long = await client(t, endless(OK, BLOCK))
    await assert.rejects(read(long), /^Error: the API server sent .* of more than 8388608 characters$/)
    const failing = await client(t, endless('HTTP/1.1 500 Internal Server Error\r\n\r\n', BLOCK))
    await assert.rejects(read(failing), (error) => error instanceof ApiError && error.status === 500)
  })
}

test('an error with a long message is cut', async (t) => {
  const body = JSON.stringify({ message: '\\"'.repeat(1_000_000) })
  const { get } = await client(t, (socket) => socket.end(`HTTP/1.1 403 Forbidden\r\n\r\n${body}`))
  await assert.rejects(get('/version'), (error: ApiError) => error.status === 403 && error.message.length === 300)
})
