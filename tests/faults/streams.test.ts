/** Event streams: a thousand are told at once, whoever reconnects misses nothing, and whoever never reads costs nothing. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { alert, alertmanager } from '../helpers/senders.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { createGenerator, figure, judging, memoryOf } from './generator.ts'
import { makeDatabase, startServer } from './server.ts'

const STREAMS = 1_000
const STALLED = 10
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
  const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length
  return { ...server, token, open, send, descriptors }
}

test('1,000 streams are told within half a second, and cost nothing once they are closed', async (t) => {
  const { open, send, descriptors, pid } = await served(t)
  await send()
  const [memory, own] = [memoryOf(pid).now, descriptors()]
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
    async () => descriptors(),
    (count) => count <= own + 2,
  )
  const goneMs = Math.round(performance.now() - closed)
  const words = `${STREAMS} streams told in ${ms} ms, ${more} MB more, gone after ${goneMs} ms`
  figure(t, 26, words)
  assert.ok(more <= 150, words)
  judge(ms <= 500 && goneMs <= 2_000, words)
})

test('who reconnects with the last id misses nothing and hears nothing twice', async (t) => {
  const { open, send } = await served(t)
  const first = await open()
  await send()
  await eventually(
    async () => first.text(),
    (text) => text.includes('event: alert'),
  )
  first.close()
  const last = first
    .text()
    .match(/^id: (.*)$/gm)
    ?.at(-1)
    ?.slice(4)
  for (let sent = 0; sent < 5; sent += 1) await send()
  const second = await open(last)
  const whole = await open(first.text().match(/^id: (.*)$/m)?.[1])
  await eventually(
    async () => second.text(),
    (text) => (text.match(/event: alert/g)?.length ?? 0) >= 5,
  )
  const alerts = (text: string) => text.match(/(?<=event: alert\ndata: ).*/g) ?? []
  assert.deepEqual(alerts(whole.text()), [...alerts(first.text()), ...alerts(second.text())])
  assert.equal(new Set(alerts(whole.text())).size, 6)
})

test('streams that nobody reads take little memory', async (t) => {
  const { url, token, send, pid } = await served(t)
  const before = memoryOf(pid).now
  for (let opened = 0; opened < STALLED; opened += 1) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').pause()
    socket.on('error', () => {})
    t.after(() => void socket.destroy())
    socket.write(`GET /api/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  }
  for (let sent = 0; sent < 200; sent += 1) await send()
  const more = memoryOf(pid).now - before
  figure(t, 26, `${more} MB more beside ${STALLED} that never read`)
  assert.ok(more <= 100, `${more} MB`)
})
