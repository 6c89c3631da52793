/** Bad input over real sockets: bombs, broken protocols and slow senders do not affect anyone else. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { suite, type TestContext, test } from 'node:test'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { alert, alertmanager } from '../helpers/senders.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { createGenerator, figure, judging, memoryOf, resetHighest } from './generator.ts'
import { makeDatabase, startServer } from './server.ts'

const METRICS = '/api/webhooks/metrics'
const MEBIBYTE = 1_048_576
const SLOW = 500
/** A request's headers must arrive within ten seconds, which the server checks every second. */
const HEAD_WITHIN = 12_000

async function served(t: TestContext) {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const server = await startServer(t, file)
  const generator = createGenerator({ url: server.url, token }, 4)
  t.after(generator.close)
  return { ...server, ...generator, token, port: Number(new URL(server.url).port) }
}

/** Returns the server's response to these bytes, up to when it closes the connection or is silent for a second. */
async function answerTo(port: number, bytes: string, waits = 1_000): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.setTimeout(waits, () => socket.destroy())
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  return text
}

const labelled = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`l${index}`, 'x']))
const group = (text: string) => `{"receiver":"x","status":"firing","alerts":[${text}]}`

const BOMBS: readonly (readonly [what: string, make: () => string | Buffer, statuses: readonly number[]])[] = [
  ['a depth of 200,000', () => group(`{"labels":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}}`), [400]],
  ['100,000 labels', () => JSON.stringify(alertmanager([alert('X', labelled(100_000))])), [200, 400]],
  [
    'a text of 10 MB',
    () => JSON.stringify(alertmanager([alert('X', { summary: 'x'.repeat(10_000_000) })])),
    [200, 400],
  ],
  ['11 MB', () => Buffer.alloc(11 * MEBIBYTE, 0x20), [413]],
  [
    '50,000 alerts',
    () => group(Array.from({ length: 50_000 }, () => '{"labels":{"alertname":"X"}}').join()),
    [400, 413],
  ],
  ['5 MB of brackets', () => '['.repeat(5 * MEBIBYTE), [400]],
  ['1e400', () => group('{"labels":{"alertname":"X"},"n":1e400}'), [200, 400]],
  ['a key of 1 MB', () => group(`{"labels":{"alertname":"X","${'k'.repeat(MEBIBYTE)}":"v"}}`), [200, 400]],
  ['a key that comes twice', () => group('{"labels":{"alertname":"X","alertname":"Y"}}'), [200, 400]],
]

const COMPRESSED = /^HTTP\/1\.1 400[\s\S]*the body is compressed/
const REFUSED = /^HTTP\/1\.1 4(00|15)/
const JSON_IN = 'Content-Type: application/json\r\nContent-Encoding:'

/** Compressed bodies are rejected without being read. */
const ENCODED: readonly (readonly [what: string, headers: string, body: Buffer, answer: RegExp])[] = [
  ['gzip that grows from 1 MB to 1 GB', `${JSON_IN} gzip`, gzipSync(Buffer.alloc(1024 * MEBIBYTE)), COMPRESSED],
  ['brotli', `${JSON_IN} br`, brotliCompressSync(Buffer.from('{}')), COMPRESSED],
  ['zstd', `${JSON_IN} zstd`, zstdCompressSync(Buffer.from('{}')), COMPRESSED],
  ['UTF-16', 'Content-Type: application/json; charset=utf-16', Buffer.from('{"alerts":[]}', 'utf16le'), REFUSED],
  ['invalid UTF-8', 'Content-Type: application/json', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), REFUSED],
  ['a form', 'Content-Type: multipart/form-data; boundary=x', Buffer.from('--x--'), REFUSED],
  ['text', 'Content-Type: text/plain', Buffer.from('hello'), REFUSED],
]

suite('bad input', { concurrency: 1 }, () => {
  test('no bomb takes long, uses much memory, or ends the server', async (t) => {
    const { post, pid, url } = await served(t)
    // Warms up, so that memory that any load would use is not attributed to a bomb.
    for (let number = 0; number < 2_000; number += 1)
      await post(METRICS, JSON.stringify(alertmanager([alert(`Warm${number}`, labelled(40))])))
    let [slowest, largest] = [0, 0]
    for (const [what, make, statuses] of BOMBS) {
      const body = make()
      const judge = judging(t, 29, pid)
      resetHighest(pid)
      const [began, before] = [performance.now(), memoryOf(pid).now]
      const reply = await post(METRICS, body)
      const ms = Math.round(performance.now() - began)
      // If the server closes the connection before the whole body is sent, the client might see only that.
      if (reply) assert.ok(statuses.includes(reply.status), `${what}: ${reply.status} ${reply.text.slice(0, 200)}`)
      judge(ms <= 250, `${what}: ${ms} ms`)
      const more = memoryOf(pid).highest - before
      assert.ok(more <= (body.length > 9_000_000 ? 64 : 50), `${what}: ${more} MB more`)
      ;[slowest, largest] = [Math.max(slowest, ms), Math.max(largest, more)]
    }
    figure(t, 29, `${BOMBS.length} bombs, at most ${slowest} ms and ${largest} MB each`)
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
  })

  test('500 slow senders delay nobody, and are disconnected after the time limit for headers', async (t) => {
    const { post, port, pid } = await served(t)
    const judge = judging(t, 32, pid)
    const sockets = Array.from({ length: SLOW }, () => connect(port, '127.0.0.1').on('error', () => {}))
    const closed = sockets.map((socket) => once(socket.resume(), 'close'))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    for (const socket of sockets) socket.write('POST /api/webhooks/metrics HTTP/1.1\r\nHost: x\r\nX-')
    const since = performance.now()
    const reply = await post(METRICS, JSON.stringify(alertmanager([alert('Good', {})])))
    const ms = Math.round(performance.now() - since)
    await Promise.all(closed)
    const gone = Math.round(performance.now() - since)
    figure(t, 32, `a valid request among ${SLOW} slow ones took ${ms} ms; the slow ones were closed after ${gone} ms`)
    assert.equal(reply?.status, 200)
    judge(ms <= 200 && gone <= HEAD_WITHIN, `${ms} ms, closed after ${gone} ms`)
  })

  for (const [what, bytes, status] of [
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a bad chunk', `POST ${METRICS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`, 40],
    ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
    ['a head of 20 kB', `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['noise', '\u0016\u0003\u0001\u0000 noise\r\n\r\n', 400],
  ] as const) {
    test(`${what} is refused with ${status === 40 ? '400 or 401' : status}`, async (t) => {
      const { port } = await served(t)
      assert.match(await answerTo(port, bytes), new RegExp(`^HTTP/1\\.1 ${status}`))
    })
  }

  test('8 pipelined requests get 8 responses, and 100 close the connection', async (t) => {
    const { port } = await served(t)
    const answered = async (requests: number) => {
      const text = await answerTo(port, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(requests))
      return text.match(/HTTP\/1\.1 200/g)?.length ?? 0
    }
    assert.deepEqual([await answered(8), await answered(100)], [8, 0])
  })

  test('no encoding is confused with another or decompressed', async (t) => {
    const { port, token, pid } = await served(t)
    const before = memoryOf(pid).now
    for (const [what, headers, body, refusal] of ENCODED) {
      const head = `POST ${METRICS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${headers}\r\nContent-Length: ${body.length}\r\n\r\n`
      const answer = await answerTo(port, head + body.toString('latin1'))
      assert.match(answer, refusal, `${what}: ${answer.slice(0, 100)}`)
    }
    const more = memoryOf(pid).highest - before
    figure(t, 33, `${ENCODED.length} encodings rejected, ${more} MB of additional memory`)
    assert.ok(more <= 20, `${more} MB more`)
  })
})
