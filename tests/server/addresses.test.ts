/** Connections per address: one that opens as many as possible leaves room for others. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { DEFAULTS } from '../../src/config.ts'
import { eventually, startServer } from '../helpers/server.ts'

const TWO = { 'max-connections-per-address': 2 }

/**
 * Starts a server. Returns a function that connects from any local address, returns whether it was served, and keeps
 * the connection open.
 */
async function reaching(t: TestContext, settings: Parameters<typeof startServer>[1]) {
  const server = await startServer(t, settings)
  const port = Number(new URL(server.url).port)
  const reach = async (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
    t.after(() => socket.destroy())
    socket.write('GET /healthz HTTP/1.1\r\nHost: incmon\r\n\r\n')
    const isAnswered = await new Promise<boolean>((resolve) => {
      socket.once('data', () => resolve(true)).once('close', () => resolve(false))
    })
    return { socket, isAnswered }
  }
  const reachTimes = async (times: number, from: string) => {
    const all = await Promise.all(Array.from({ length: times }, () => reach(from)))
    return all.filter(({ isAnswered }) => isAnswered).length
  }
  return { ...server, reach, reachTimes }
}

test("connections above an address's limit are closed; other addresses are served", async (t) => {
  const { reachTimes } = await reaching(t, TWO)
  assert.deepEqual([await reachTimes(5, '127.0.0.1'), await reachTimes(1, '127.0.0.2')], [2, 1])
})

test('an address can open a connection after it has closed one', async (t) => {
  const { reach, reachTimes } = await reaching(t, TWO)
  const { socket } = await reach('127.0.0.1')
  await reach('127.0.0.1')
  socket.destroy()
  await eventually(
    () => reachTimes(1, '127.0.0.1'),
    (answered) => answered === 1,
  )
  assert.equal(await reachTimes(1, '127.0.0.1'), 0)
})

test('a trusted proxy has no limit', async (t) => {
  const { reachTimes } = await reaching(t, { ...TWO, 'trusted-proxies': ['127.0.0.1'] })
  assert.equal(await reachTimes(5, '127.0.0.1'), 5)
})

test('a higher limit applies from the next connection on', async (t) => {
  const { reachTimes, running } = await reaching(t, TWO)
  await reachTimes(3, '127.0.0.1')
  running.change({ ...DEFAULTS, 'max-connections-per-address': 4 }, null)
  assert.equal(await reachTimes(3, '127.0.0.1'), 2)
})

test('the first one is logged with the remedy, the others are counted', async (t) => {
  const { reachTimes, running, lines } = await reaching(t, TWO)
  await reachTimes(5, '127.0.0.3')
  await running.close()
  const [first, more, ...others] = lines.map((line) => JSON.parse(line))
  assert.deepEqual([first.level, first.client, first.connections], ['warn', '127.0.0.3', 2])
  assert.match(first.remedy, /trusted-proxies.+max-connections-per-address$/)
  assert.deepEqual([more.times, others], [2, []])
})

/** Opens connections that send the beginning of a request, and waits until the server has them. */
async function occupy(t: TestContext, url: string, text: string, addresses: readonly string[]): Promise<Socket[]> {
  const sockets = addresses.map((localAddress) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress }).on('error', () => {})
    t.after(() => socket.destroy())
    socket.write(text)
    return socket.resume()
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  await pause(50)
  return sockets
}

const SIX = { 'max-connections': 6 }
const HEAD = 'GET / HTTP/1.1\r\n'
const SLOW_FORM = 'POST /sign-in HTTP/1.1\r\nHost: incmon\r\nContent-Length: 9\r\n\r\nkey='

for (const [what, text] of Object.entries({
  'silent connections': '',
  'unfinished heads': HEAD,
  'unfinished forms': SLOW_FORM,
})) {
  test(`addresses with many ${what} do not lock out an address with fewer`, async (t) => {
    const { url, reachTimes } = await reaching(t, SIX)
    const [oldest, ...others] = await occupy(t, url, text, [
      ...Array(3).fill('127.0.0.2'),
      ...Array(3).fill('127.0.0.3'),
    ])
    assert.equal(await reachTimes(1, '127.0.0.1'), 1)
    assert.deepEqual([oldest?.destroyed, others.filter(({ destroyed }) => destroyed).length], [true, 0])
  })
}

test('an address with as many connections as any other gets no place when the server is full', async (t) => {
  const { url, reachTimes } = await reaching(t, SIX)
  await occupy(t, url, HEAD, Array(6).fill('127.0.0.2'))
  assert.deepEqual([await reachTimes(4, '127.0.0.1'), await reachTimes(2, '127.0.0.2')], [3, 0])
})

test('an address with one connection less than another does not take its place', async (t) => {
  const { url, reachTimes } = await reaching(t, SIX)
  const addresses = [...Array(3).fill('127.0.0.2'), ...Array(2).fill('127.0.0.3'), '127.0.0.4']
  const sockets = await occupy(t, url, HEAD, addresses)
  assert.equal(await reachTimes(1, '127.0.0.3'), 0)
  assert.ok(sockets.every(({ destroyed }) => !destroyed))
})

test('a connection that waits for a response, or receives a stream, keeps its place', async (t) => {
  const { url, token, reachTimes } = await reaching(t, SIX)
  const stream = `GET /api/stream HTTP/1.1\r\nHost: incmon\r\nAuthorization: Bearer ${token}\r\n\r\n`
  const sockets = await occupy(t, url, stream, Array(6).fill('127.0.0.2'))
  assert.equal(await reachTimes(1, '127.0.0.1'), 0)
  assert.ok(sockets.every(({ destroyed }) => !destroyed))
})

test('a trusted proxy keeps its connections', async (t) => {
  const { url, reachTimes } = await reaching(t, { ...SIX, 'trusted-proxies': ['127.0.0.2'] })
  await occupy(t, url, HEAD, Array(6).fill('127.0.0.2'))
  assert.equal(await reachTimes(1, '127.0.0.1'), 0)
})
