/** Closing connections: requests in progress are answered, endless responses are ended, and unread ones are aborted. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect as connectSecurely } from 'node:tls'
import { createConnections } from '../../src/server/connection/connections.ts'
import { makeCertificate } from '../helpers/certificates.ts'

/** Far more than the operating system buffers. */
const LARGE = 'x'.repeat(64_000_000)
/** Otherwise, these tests would wait forever, or for five of the server's checks of 10 seconds each. */
const ENDS = { timeout: 35_000 }

const LIMITS = { openResponses: 8, unsentBytes: 1_048_576, allUnsentBytes: 1e9, unreadMs: 20_000, closed: () => {} }

/** Starts a server with the given responses. Returns a function that sends requests over kept-alive connections. */
async function serving(
  t: TestContext,
  limits: Partial<typeof LIMITS> = {},
  tls: Parameters<typeof createConnections>[1] = null,
) {
  const listen = (_: IncomingMessage, response: ServerResponse) => void server.emit('asked', response)
  const { server, drain } = createConnections({ listen, explain: () => null, refuse: () => assert.fail() }, tls, {
    ...LIMITS,
    ...limits,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true })
  t.after(() => {
    agent.destroy()
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const ask = async () => {
    const asked = once(server, 'asked')
    const request = get({ host: '127.0.0.1', port, agent })
    const answered = once(request, 'response').then(([message]) => read(message))
    const [response] = (await asked) as [ServerResponse]
    return { response, answered }
  }
  /** Sends a request on a new connection without reading the response until told to. */
  const askOnly = async (sent = 'GET / HTTP/1.1\r\nHost: incmon\r\nConnection: close\r\n\r\n') => {
    const asked = once(server, 'asked')
    const socket = tls ? connectSecurely({ port, rejectUnauthorized: false }) : connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.on('error', () => {}).pause()
    socket.write(sent)
    const [response] = (await asked) as [ServerResponse]
    return { response, socket }
  }
  return { ask, askOnly, port, server, drain: () => drain(() => {}) }
}

function secured(t: TestContext) {
  const { cert, key } = makeCertificate(t)
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8'), minVersion: 'TLSv1.2' } as const
}

async function read(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of message) text += chunk
  return text
}

test('a shutdown waits for a response in progress', async (t) => {
  const { ask, drain } = await serving(t)
  const { response, answered } = await ask()
  const drained = drain()
  response.end('late')
  assert.equal(await answered, 'late')
  await drained
})

test('a shutdown ends a stream properly, with everything that was written', async (t) => {
  const { ask, drain } = await serving(t)
  const { response, answered } = await ask()
  response.write('data: 1\n\n')
  await drain()
  assert.equal(await answered, 'data: 1\n\n')
})

test('a connection with an incomplete TLS handshake does not delay a shutdown', ENDS, async (t) => {
  const { askOnly, port, drain } = await serving(t, {}, secured(t))
  const { response } = await askOnly()
  response.end()
  const silent = connect(port, '127.0.0.1')
  silent.on('error', () => {})
  await once(silent, 'connect')
  await Promise.all([drain(), once(silent, 'close')])
})

test('an idle connection does not delay a shutdown', async (t) => {
  const { ask, drain } = await serving(t)
  const { response, answered } = await ask()
  response.end('done')
  await answered
  await drain()
})

for (const isSecure of [false, true]) {
  test(
    `a response that the client does not read is aborted with its connection${isSecure ? ', even over TLS' : ''}`,
    ENDS,
    async (t) => {
      const { askOnly } = await serving(t, { unreadMs: 100 }, isSecure ? secured(t) : null)
      const { response, socket } = await askOnly()
      response.end(LARGE)
      await once(response, 'close')
      const closed = once(socket, 'close')
      socket.resume()
      await closed
      assert.deepEqual([response.writableFinished, socket.bytesRead < LARGE.length], [false, true])
    },
  )
}

test('a stream that nobody reads is aborted', ENDS, async (t) => {
  const { askOnly } = await serving(t, { unreadMs: 100 })
  const { response } = await askOnly()
  response.write(LARGE)
  await once(response, 'close')
})

test('a slow response is not considered abandoned', ENDS, async (t) => {
  const { ask, askOnly } = await serving(t, { unreadMs: 100 })
  const slow = await ask()
  const untaken = await askOnly()
  untaken.response.end(LARGE)
  await once(untaken.response, 'close')
  slow.response.end('late')
  assert.equal(await slow.answered, 'late')
})

const REQUEST = 'GET / HTTP/1.1\r\nHost: incmon\r\n\r\n'

test('eight requests without a response are accepted on a connection, and the ninth closes it', async (t) => {
  const { askOnly, server } = await serving(t)
  const responses: ServerResponse[] = []
  server.on('request', (_, response) => responses.push(response))
  await askOnly(REQUEST.repeat(8))
  const { socket } = await askOnly(REQUEST.repeat(9))
  await once(socket.resume(), 'close')
  // The ninth is not processed.
  assert.equal(responses.length, 17)
})

test('the next request of a connection is processed after the response to the one before', async (t) => {
  const { askOnly, server } = await serving(t)
  const responses: ServerResponse[] = []
  server.on('asked', (response) => responses.push(response))
  const { socket } = await askOnly(REQUEST.repeat(3))
  assert.equal(responses.length, 1)
  const next = once(server, 'asked')
  responses[0]?.end('first')
  await next
  assert.equal(responses.length, 2)
  const closed = once(socket, 'close')
  socket.destroy()
  await closed
  // Nothing starts for a client that is gone.
  assert.equal(responses.length, 2)
})

for (const isSecure of [false, true]) {
  test(`the requests that follow on a closed connection are not parsed${isSecure ? ', even over TLS' : ''}`, async (t) => {
    const { askOnly, server } = await serving(t, { openResponses: 1 }, isSecure ? secured(t) : null)
    let parsed = 0
    server.on('request', () => {
      parsed += 1
    })
    const { socket } = await askOnly(REQUEST.repeat(500))
    await once(socket.resume(), 'close')
    assert.equal(parsed, 2)
  })
}

test('every response of a closed connection is closed, so that a stream that waits for its turn ends', async (t) => {
  const { askOnly, server } = await serving(t)
  const closed: Promise<unknown>[] = []
  server.on('request', (_, response) => closed.push(once(response, 'close')))
  const { socket } = await askOnly(REQUEST.repeat(3))
  socket.destroy()
  await Promise.all(closed)
  assert.equal(closed.length, 3)
})

test('a request closes its connection if the client has not read a megabyte before', async (t) => {
  const { askOnly } = await serving(t)
  const { socket, response } = await askOnly(REQUEST)
  response.write(LARGE)
  socket.write(REQUEST)
  await once(response, 'close')
})

test('if all clients leave too much unread, the client that began first is disconnected', ENDS, async (t) => {
  const { askOnly } = await serving(t, { allUnsentBytes: LARGE.length * 1.5 })
  const first = await askOnly()
  first.response.end(LARGE)
  const second = await askOnly()
  second.response.end(LARGE)
  await once(first.response, 'close')
  assert.equal(second.response.closed, false)
})

test('a client that reads gets a large response completely', async (t) => {
  const { ask } = await serving(t)
  const { response, answered } = await ask()
  response.end(LARGE)
  assert.equal((await answered).length, LARGE.length)
})
