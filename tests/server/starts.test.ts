/** Requests that arrive at the same time start in several rounds of the event loop, so that no round takes long. */
import assert from 'node:assert/strict'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate as round } from 'node:timers/promises'
import { createTurns } from '../../src/domain/request/turns.ts'
import { spreadStarts } from '../../src/server/connection/starts.ts'
import { startServer } from '../helpers/server.ts'

/** Starts requests whose processing takes this many milliseconds. Returns the URLs of the started requests. */
function starting(milliseconds: number) {
  const started: (string | undefined)[] = []
  let now = 0
  const listen: RequestListener = ({ url }) => {
    started.push(url)
    now += milliseconds
  }
  const start = spreadStarts(listen, createTurns(), () => now)
  const request = (url: string, destroyed = false, method = 'GET') =>
    start({ url, method } as IncomingMessage, { destroyed } as ServerResponse)
  return { started, request }
}

test('after 20 ms, the other requests of a round start one per round, in order', async () => {
  const { started, request } = starting(15)
  for (const url of ['/a', '/b', '/c', '/d']) request(url)
  assert.deepEqual(started, ['/a', '/b'])
  await round()
  assert.deepEqual(started, ['/a', '/b', '/c'])
  request('/e')
  await round()
  assert.deepEqual(started, ['/a', '/b', '/c', '/d'])
  await round()
  assert.deepEqual(started, ['/a', '/b', '/c', '/d', '/e'])
})

test('requests that take less than 20 ms together start at once', () => {
  const { started, request } = starting(0)
  for (let sent = 0; sent < 100; sent += 1) request('/a')
  assert.equal(started.length, 100)
})

test('a health check does not wait for other requests', () => {
  const { started, request } = starting(25)
  for (const url of ['/a', '/b', '/healthz']) request(url)
  assert.deepEqual(started, ['/a', '/healthz'])
})

test('what a sender posts does not wait: the engine refuses what it cannot store soon', () => {
  const { started, request } = starting(25)
  for (const url of ['/a', '/b']) request(url)
  request('/c', false, 'POST')
  assert.deepEqual(started, ['/a', '/c'])
})

test('a request whose client is gone before its turn is not started', async () => {
  const { started, request } = starting(25)
  request('/a')
  request('/b', true)
  await round()
  assert.deepEqual(started, ['/a'])
})

test('pipelined requests are answered in order, also after a request that is refused', async (t) => {
  const { url } = await startServer(t)
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => void socket.destroy())
  const paths = ['/healthz', '/nothing', '/api/alerts', '/healthz']
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: incmon\r\n\r\n`).join(''))
  let text = ''
  for await (const chunk of socket) {
    text += chunk
    if (text.split('HTTP/1.1 ').length > paths.length && text.endsWith('}')) break
  }
  assert.deepEqual(
    [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status)),
    [200, 404, 401, 200],
  )
})
