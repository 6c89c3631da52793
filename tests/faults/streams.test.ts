/**
 * Event streams: a thousand are notified quickly, a client that reconnects misses nothing, and a client that never
 * reads costs nothing.
 */
import assert from 'node:assert/strict'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { alert, alertmanager } from '../helpers/senders.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { createGenerator, descriptorsOf, figure, judging, memoryOf } from './generator.ts'
import { makeDatabase, startServer } from './server.ts'

const STREAMS = 1_000
const STALLED = 10
const RECONNECTS = 40
/** The size of a Unix socket's buffers. Until they are full, the server cannot notice that nobody is reading. */
const SOCKET_BYTES = 212_992
/** The interval in milliseconds at which storms end up in separate deliveries. */
const COLLECTED = 550
/** The time in milliseconds after which a client that never reads should have been disconnected. */
const MAX_STALLED = 60_000
const METRICS = '/api/webhooks/metrics'

type Stream = { readonly text: () => string; readonly close: () => void }

async function served(t: TestContext) {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const most = ['--max-connections', '4000', '--max-connections-per-address', '4000']
  const server = await startServer(t, file, [], most)
  const { post, close } = createGenerator({ url: server.url, token }, 4)
  t.after(close)
  const agent = new Agent({ keepAlive: false })
  const open = (after?: string) =>
    new Promise<Stream>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${token}`, ...(after === undefined ? {} : { 'Last-Event-ID': after }) }
      const taken = (response: IncomingMessage) => {
        let text = ''
        response.setEncoding('utf8').on('error', () => {})
        response.on('data', (chunk) => {
          text += chunk
          resolve({ text: () => text, close: () => void request.destroy() })
        })
      }
      const request = get(`${server.url}/api/stream`, { agent, headers }, taken).on('error', reject)
    })
  let number = 0
  const send = async () => {
    number += 1
    const reply = await post(METRICS, JSON.stringify(alertmanager([alert(`Streamed${number}`, { service: 'cart' })])))
    assert.equal(reply?.status, 200)
  }
  /** Sends new alerts for as many services, which is the maximum number of notices in one delivery. */
  const storm = async () => {
    const alerts = Array.from({ length: 45 }, (_, index) => {
      number += 1
      return alert(`Storm${number}`, { service: `shop-${index}`, severity: 'critical' })
    })
    assert.equal((await post(METRICS, JSON.stringify(alertmanager(alerts))))?.status, 200)
  }
  const sockets = () => descriptorsOf(server.pid).filter((target) => target.startsWith('socket:')).length
  return { ...server, file, open, send, storm, sockets }
}

test('1,000 streams are notified within half a second, and cost nothing after they are closed', async (t) => {
  const { open, send, sockets, pid } = await served(t)
  await send()
  const [memory, own] = [memoryOf(pid).now, sockets()]
  const judge = judging(t, 26, pid)
  const streams: Stream[] = []
  for (let opened = 0; opened < STREAMS; opened += 100)
    streams.push(...(await Promise.all(Array.from({ length: 100 }, () => open()))))
  const more = memoryOf(pid).now - memory
  await send()
  const began = performance.now()
  await eventually(
    async () => streams.filter(({ text }) => text().includes('event: alert')).length,
    (told) => told === STREAMS,
  )
  const ms = Math.round(performance.now() - began)
  for (const { close } of streams) close()
  const closed = performance.now()
  await eventually(
    async () => sockets(),
    (count) => count <= own + 2,
  )
  const goneMs = Math.round(performance.now() - closed)
  const words = `${STREAMS} streams notified in ${ms} ms, ${more} MB of additional memory, closed after ${goneMs} ms`
  figure(t, 26, words)
  assert.ok(more <= 150, words)
  judge(ms <= 500 && goneMs <= 2_000, words)
})

test('a stream that reconnects repeatedly during a storm gets each notice exactly once', async (t) => {
  const { open, send } = await served(t)
  const whole = await open()
  const start = idIn(whole.text()) ?? ''
  let [after, text, sent] = [start, '', 0]
  for (let round = 0; round < RECONNECTS; round += 1) {
    const stream = await open(after)
    for (; sent < (round + 1) * 2; sent += 1) await send()
    // Faster than notices are collected, so that some connections get one and others do not.
    await pause(100)
    stream.close()
    text += stream.text()
    after = idIn(stream.text()) ?? after
  }
  const last = await open(after)
  await eventually(
    async () => noticesIn(text + last.text()).size + noticesIn(whole.text()).size,
    (count) => count === 2 * sent,
  )
  const counts = [...noticesIn(text + last.text()).values()]
  figure(
    t,
    26,
    `${sent} notices over ${RECONNECTS} reconnections: ${counts.filter((count) => count > 1).length} twice, 0 missed`,
  )
  assert.deepEqual(noticesIn(text + last.text()), noticesIn(whole.text()))
})

test('streams that nobody reads are disconnected soon, and little is buffered for them', async (t) => {
  const { file, open, storm, sockets, pid } = await served(t)
  await storm()
  const [before, judge, reader] = [memoryOf(pid).now, judging(t, 26, pid), await open()]
  const own = sockets()
  for (let opened = 0; opened < STALLED; opened += 1) {
    // The operating system buffers megabytes for a local TCP connection, but only 200 kB for a Unix socket.
    const socket = connect(`${file}.sock`).pause()
    t.after(() => void socket.on('error', () => {}).destroy())
    socket.write('GET /api/stream HTTP/1.1\r\nHost: x\r\n\r\n')
  }
  await eventually(
    async () => sockets(),
    (count) => count >= own + STALLED,
  )
  let fullAt = Number.NaN
  // A client that never reads does not notice that its connection was closed.
  while (sockets() > own && !(performance.now() - fullAt > MAX_STALLED)) {
    await storm()
    await pause(COLLECTED)
    if (Number.isNaN(fullAt) && reader.text().length > SOCKET_BYTES) fullAt = performance.now()
  }
  const seconds = Number.isNaN(fullAt) ? 0 : (performance.now() - fullAt) / 1000
  const [kilobytes, more] = [Math.round(reader.text().length / 1000), memoryOf(pid).now - before]
  const words = `${STALLED} clients that never read: disconnected ${seconds.toFixed(0)} s after their sockets were full, ${kilobytes} kB each, ${more} MB of additional memory`
  figure(t, 26, words)
  assert.ok(sockets() <= own && kilobytes <= 1_000 && more <= 100, words)
  judge(seconds <= 30, words)
})

/** Returns how often a stream received a notice about each alert. */
function noticesIn(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [id] of text.matchAll(/(?<=event: alert\ndata: ).*/g)) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

/** Returns the last id in a stream. */
function idIn(text: string): string | undefined {
  return text.match(/(?<=^id: ).*$/gm)?.at(-1)
}
