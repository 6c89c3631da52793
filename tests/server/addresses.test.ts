/** Connections per address: one that opens as many as possible leaves room for others. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
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
