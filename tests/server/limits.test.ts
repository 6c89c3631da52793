/** Limits set by an administrator: requests above them are rejected properly, and they can be changed at run time. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { DEFAULTS } from '../../src/config.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { alertGroup } from '../helpers/payloads.ts'
import { readExposition } from '../helpers/prometheus.ts'
import { crashLoop } from '../helpers/senders.ts'
import { eventually, startServer } from '../helpers/server.ts'

type Running = Awaited<ReturnType<typeof startServer>>

function postMany({ request }: Running, count: number): Promise<number[]> {
  const body = String(alertGroup(1))
  const posted = Array.from({ length: count }, () => request('POST', '/api/webhooks/metrics', body))
  return Promise.all(posted.map((answer) => answer.then(({ status }) => status)))
}

async function figure({ url, token }: Running, name: string): Promise<number | undefined> {
  const response = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${token}` } })
  return readExposition(await response.text()).get(name)
}

/** Locks the database from another process, so that deliveries wait until the returned function is called. */
function holdStore(t: TestContext, { db }: Running): () => void {
  db.pragma('busy_timeout = 1')
  const other = openStore(db.file)
  t.after(() => other.close())
  other.execute('BEGIN IMMEDIATE')
  return () => other.execute('ROLLBACK')
}

/** Posts this many requests at once while the database is locked, and unlocks it after a number of rejections. */
async function postHeld(t: TestContext, server: Running, count: number, refused: number): Promise<number[]> {
  const release = holdStore(t, server)
  const answered: number[] = []
  const all = Array.from({ length: count }, async () => answered.push(...(await postMany(server, 1))))
  await eventually(
    async () => answered.length,
    (length) => length === refused,
  )
  release()
  await Promise.all(all)
  return answered.sort()
}

test('more than max-waiting simultaneous requests get 503, and the others 200', async (t) => {
  const server = await startServer(t, { 'max-waiting': 1 })
  assert.deepEqual(await postHeld(t, server, 3, 2), [200, 503, 503])
})

test('senders that never retry have a queue four times as long', async (t) => {
  const server = await startServer(t, { 'max-waiting': 1 })
  const release = holdStore(t, server)
  const event = JSON.stringify(crashLoop('cart-1'))
  const answered: number[] = []
  const all = Array.from({ length: 6 }, async () =>
    answered.push((await server.request('POST', '/api/webhooks/cluster', event)).status),
  )
  await eventually(
    async () => answered.length,
    (length) => length === 2,
  )
  release()
  await Promise.all(all)
  assert.deepEqual(answered.sort(), [200, 200, 200, 200, 503, 503])
})

test('a higher limit applies from the next request on', async (t) => {
  const server = await startServer(t, { 'max-waiting': 1 })
  server.running.change({ ...DEFAULTS, 'max-waiting': 2 }, null)
  assert.deepEqual(await postHeld(t, server, 3, 1), [200, 200, 503])
})

test('no request is pending after all are answered', async (t) => {
  const server = await startServer(t)
  await postMany(server, 30)
  assert.equal(await figure(server, 'incmon_waiting_deliveries'), 0)
})

test('a connection above max-connections is closed immediately, and counted', async (t) => {
  const server = await startServer(t, { 'max-connections': 2 })
  const port = Number(new URL(server.url).port)
  let closed = 0
  const sockets = Array.from({ length: 5 }, () =>
    connect(port, '127.0.0.1')
      .on('error', () => {})
      .once('close', () => {
        closed += 1
      }),
  )
  await eventually(
    async () => closed,
    (count) => count === 3,
  )
  for (const socket of sockets) socket.destroy()
  // Until the server has noticed, each new connection is also closed.
  await eventually(
    () => figure(server, 'incmon_dropped_connections_total').catch(() => 0),
    (count = 0) => count >= 3,
  )
})

test('little free space makes the server not ready, but it still accepts requests', async (t) => {
  const server = await startServer(t, { 'min-free-disk': 1_000_000_000 })
  const { status, body } = await server.request('GET', '/readyz')
  assert.deepEqual([status, (await postMany(server, 1))[0]], [503, 200])
  assert.match(
    body.detail,
    /^\d+ MiB of disk space is free, which is less than min-free-disk = 1000000000; free some space$/,
  )
})
