/** Requests that Node's parser rejects get a normal error response, once, after the responses to earlier requests. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { createListener } from '../../src/http/middleware/listener.ts'
import { createConnections } from '../../src/server/connection/connections.ts'
import type { Tls } from '../../src/server/connection/tls.ts'
import { createLog } from '../../src/server/log.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeCertificate } from '../helpers/certificates.ts'
import { alertGroup } from '../helpers/payloads.ts'
import { eventually } from '../helpers/server.ts'

type Sent = string | Buffer

/**
 * `exchange` sends raw bytes and returns everything received until the server closes the connection. `log` is the
 * server's log.
 */
async function serving(t: TestContext, tls: Tls | null = null) {
  const lines: string[] = []
  const world = makeWorld(t, undefined, undefined, { log: createLog('info', (line) => void lines.push(line)) })
  const { server } = createConnections(createListener(world.app, world.server), tls)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const open = () => {
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    return socket.on('error', () => {})
  }
  const exchange = (sent: Sent) => {
    const socket = open()
    socket.write(sent)
    return text(socket)
  }
  const figures = () => world.server.metrics.text({ database: 0, wal: 0, free: 0, waiting: 0 })
  return { ...world, server, open, exchange, figures, lines, log: () => lines.map((line) => JSON.parse(line)) }
}

const head = (...lines: string[]) => [...lines, '', ''].join('\r\n')
const statuses = (answers: string) => answers.match(/(?<=HTTP\/1\.1 )\d{3}/g)?.map(Number)

const HEALTH = head('GET /healthz HTTP/1.1', 'Host: a')
const METRICS = ['POST /api/webhooks/metrics HTTP/1.1', 'Host: a']
const CHUNKED = 'Transfer-Encoding: chunked'

/** What is sent, and how it is rejected. */
const KINDS: Readonly<Record<string, readonly [status: number, detail: RegExp, sent: Sent]>> = {
  'what is no HTTP': [
    400,
    /^not a valid HTTP\/1\.1 request \(Invalid method encountered\); see/,
    'hunter2 hunter2\r\n\r\n',
  ],
  'illegal bytes': [
    400,
    /^not a valid HTTP\/1\.1 request \(Invalid header/,
    head('GET / HTTP/1.1', 'Host: a', 'A: hunter2\0'),
  ],
  'two lengths': [400, /Duplicate Content-Length/, head(...METRICS, 'Content-Length: 1', 'Content-Length: 2')],
  'a length and chunks': [400, /Transfer-Encoding can't be/, head(...METRICS, 'Content-Length: 1', CHUNKED)],
  'a head over 16 KiB': [
    431,
    /^the headers are larger than 16 KiB;/,
    head('GET / HTTP/1.1', `Host: ${'hunter2'.repeat(3_000)}`),
  ],
  'HTTP/2': [400, /^this port does not support HTTP\/2; use/, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  'TLS on a port without': [400, /^this port does not support TLS; use http:/, Buffer.from('16030100a5010000', 'hex')],
  'a request for a tunnel': [
    400,
    /^incmon is not a proxy; request a path/,
    head('CONNECT hunter2:443 HTTP/1.1', 'Host: hunter2:443'),
  ],
  'HTTP/1.1 without a Host': [400, /^the Host header is missing/, head('GET /healthz HTTP/1.1')],
}

for (const [what, [status, detail, sent]] of Object.entries(KINDS)) {
  test(`${what} gets ${status} with a one-line problem, and its connection is closed`, async (t) => {
    const { exchange } = await serving(t)
    const [top = '', body = ''] = (await exchange(sent)).split('\r\n\r\n')
    const problem = JSON.parse(body)
    assert.deepEqual([statuses(top), problem.status, problem.type], [[status], status, 'about:blank'])
    assert.match(problem.detail, detail)
    for (const header of ['application/problem+json', 'x-request-id: test-1', 'nosniff', 'no-store', 'Date: '])
      assert.ok(top.includes(header), top)
    assert.match(top, /^connection: close$/im)
  })

  test(`${what} is counted, and logged without the sent bytes`, async (t) => {
    const { exchange, figures, log, lines } = await serving(t)
    const answer = await exchange(sent)
    const [{ level, status: logged, route, client, requestId }] = log()
    assert.deepEqual([level, logged, route, client, requestId], ['warn', status, 'none', '127.0.0.1', 'test-1'])
    assert.equal(/hunter2/.test(answer + lines), false)
    assert.match(await figures(), /requests_total\{[^}]*route="none",status="4xx"[^}]*\} 1/)
  })
}

test('a thousand of them result in one log line', async (t) => {
  const { exchange, lines, figures } = await serving(t)
  for (let time = 0; time < 1_000; time += 1) await exchange('hunter2\r\n\r\n')
  assert.equal(lines.length, 1)
  assert.match(await figures(), /route="none",status="4xx"[^}]*\} 1000/)
})

test('a truncated request head is refused', async (t) => {
  const { open, log } = await serving(t)
  const socket = open()
  socket.end('GET /healthz HTTP/1.1\r\n')
  assert.match(
    await text(socket),
    /^HTTP\/1\.1 400 [\s\S]*the connection ended before the request was complete; send it/,
  )
  assert.equal(log()[0].cause, 'HPE_INVALID_EOF_STATE')
})

test('a slow request head is refused with 408', async (t) => {
  const { exchange, server, log } = await serving(t)
  server.headersTimeout = 1
  assert.match(
    await exchange('GET /healthz HTTP/1.1\r\n'),
    /^HTTP\/1\.1 408 [\s\S]*within 20 seconds, or its headers within 10;/,
  )
  assert.deepEqual([log()[0].status, log()[0].route], [408, 'none'])
})

test('a connection without a request is closed without a response', async (t) => {
  const { open, server, lines } = await serving(t)
  server.headersTimeout = 1
  assert.equal(await text(open()), '')
  assert.deepEqual(lines, [])
})

test('a client that disconnected is not logged, and the next one is answered', async (t) => {
  const { open, exchange, server, lines } = await serving(t)
  server.once('clientError', () => server.emit('told'))
  const told = once(server, 'told')
  const socket = open()
  socket.write('GET /healthz HTTP/1.1\r\n', () => socket.resetAndDestroy())
  await told
  assert.deepEqual(lines, [])
  assert.match(await exchange(head('GET /healthz HTTP/1.1', 'Host: a', 'Connection: close')), /^HTTP\/1\.1 200 OK/)
})

test('the connection of a client that keeps sending is closed', async (t) => {
  const { open, lines } = await serving(t)
  const socket = open()
  const more = setInterval(() => socket.write('more'.repeat(1_000)), 1)
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(more)
  assert.equal(lines.length, 1)
})

test('an unknown Expect header is ignored', async (t) => {
  const { exchange } = await serving(t)
  const answer = await exchange(head('GET /healthz HTTP/1.1', 'Host: a', 'Expect: wonders', 'Connection: close'))
  assert.match(answer, /^HTTP\/1\.1 200 OK/)
})

describe('after other requests of its connection', () => {
  test('it is answered last, and every request gets its own response', async (t) => {
    const { exchange, acme } = await serving(t)
    const body = alertGroup(1)
    const delivery = head(...METRICS, `Authorization: Bearer ${acme.token}`, `Content-Length: ${body.length}`) + body
    assert.deepEqual(statuses(await exchange(`${delivery}${HEALTH}hunter2\r\n\r\n`)), [200, 200, 400])
  })

  test('it gets no response if an earlier request closed the connection', async (t) => {
    const { exchange } = await serving(t)
    const answers = await exchange(`${head('GET /healthz HTTP/1.1', 'Host: a', 'Connection: close')}hunter2\r\n\r\n`)
    assert.deepEqual(statuses(answers), [200])
  })
})

describe('a body that is unreadable', () => {
  const bearer = (token: string) => `Authorization: Bearer ${token}`

  for (const [what, status, detail, ...more] of [
    ['chunks that are none', 400, /not a valid HTTP\/1\.1 request \(Invalid character in chunk size\)/, 'zz\r\n'],
    ['extensions of a chunk over 16 KiB', 413, /chunk extensions are larger than 16 KiB/, `1;${'x'.repeat(20_000)}`],
  ] as const) {
    test(`because of ${what} is refused by the route that reads it: ${status}`, async (t) => {
      const { exchange, acme, log, db } = await serving(t)
      const answers = await exchange(head(...METRICS, bearer(acme.token), CHUNKED) + more.join(''))
      assert.deepEqual(statuses(answers), [status])
      assert.match(answers, detail)
      assert.deepEqual([log().length, log()[0].route, log()[0].status], [1, 'POST /api/webhooks/metrics', status])
      assert.deepEqual(db.all(db.sql.selectFrom('events').select('id')), [])
    })
  }

  test('because it is slow gets 408, after the earlier responses', async (t) => {
    const { open, acme, server, log } = await serving(t)
    const socket = open()
    socket.write(HEALTH + head(...METRICS, bearer(acme.token), 'Content-Length: 5'))
    const [before] = await once(socket, 'data')
    server.headersTimeout = 1
    server.requestTimeout = 1
    assert.deepEqual(statuses(`${before}${await text(socket)}`), [200, 408])
    assert.deepEqual([log().length, log()[0].route], [1, 'POST /api/webhooks/metrics'])
  })

  test('gets no second response if the request was already answered', async (t) => {
    const { open, log } = await serving(t)
    const socket = open()
    socket.write(head(...METRICS, CHUNKED))
    const [answer] = await once(socket, 'data')
    socket.write('zz\r\n')
    assert.deepEqual([statuses(`${answer}${await text(socket)}`), log().length], [[401], 1])
  })

  test('gets no second response if the request is answered in the meantime', async (t) => {
    const { exchange, log } = await serving(t)
    assert.deepEqual([statuses(await exchange(`${head(...METRICS, CHUNKED)}zz\r\n`)), log().length], [[401], 1])
  })
})

describe('on a port with TLS', () => {
  const secure = (t: TestContext) => {
    const { cert, key } = makeCertificate(t)
    return serving(t, { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8'), minVersion: 'TLSv1.2' })
  }

  test('closes plain HTTP and logs the reason', async (t) => {
    const { exchange, log, figures } = await secure(t)
    assert.equal(await exchange(HEALTH), '')
    assert.deepEqual([log()[0].detail, log()[0].client], ['this port requires TLS; use https://', '127.0.0.1'])
    assert.doesNotMatch(await figures(), /route="none",status="4xx"/)
  })

  test('closes a connection without a TLS handshake', async (t) => {
    const { exchange, lines, log } = await secure(t)
    await exchange(Buffer.from('1603010005hunter2'))
    await eventually(
      async () => lines.length,
      (count) => count === 1,
    )
    assert.match(log()[0].detail, /^the TLS connection failed \(.+\); check that the client trusts the certificate$/)
  })
})
