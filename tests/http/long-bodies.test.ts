/**
 * POST /api/webhooks/… with very many items: all are stored, and other requests do not have to wait for all of them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLong, read } from '../../src/http/api/webhooks/bodies.ts'
import { makeWorld } from '../helpers/app.ts'
import { alertGroup } from '../helpers/payloads.ts'
import { eventually, startServer } from '../helpers/server.ts'

const METRICS = '/api/webhooks/metrics'

test('five thousand alerts get five thousand different IDs', async (t) => {
  const { acme, request } = makeWorld(t)
  const { status, body } = await request('POST', METRICS, { token: acme.token, body: alertGroup(5000) })
  assert.deepEqual([status, new Set(body.eventIds).size], [200, 5000])
})

test('other requests are answered in between', async (t) => {
  const { url, request } = await startServer(t)
  const answered: string[] = []
  const many = request('POST', METRICS, alertGroup(5000)).then(({ status }) => answered.push(`many ${status}`))
  for (let i = 0; i < 3; i += 1) {
    await fetch(`${url}/healthz`).then(({ status }) => answered.push(`health ${status}`))
    await request('POST', METRICS, alertGroup(1)).then(({ status }) => answered.push(`one ${status}`))
  }
  await many
  assert.deepEqual(answered, [...Array(3).fill(['health 200', 'one 200']).flat(), 'many 200'])
})

test('of many long bodies that arrive at once, one slice is parsed in each round of the event loop', async () => {
  const body = Buffer.from(alertGroup(750))
  assert.equal(isLong(body), true)
  let [rounds, isDone] = [0, false]
  const count = () => {
    rounds += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const read20 = await Promise.all(Array.from({ length: 20 }, () => read('metrics', body, 0)))
  isDone = true
  assert.deepEqual([read20.map(({ intake }) => intake.accepted.length), rounds >= 60], [Array(20).fill(750), true])
})

test('a client that disconnects halfway loses nothing', async (t) => {
  const { url, token, get } = await startServer(t)
  const stored = async (): Promise<number> => (await get('/api/alerts?limit=1')).pagination.total
  const gone = new AbortController()
  const headers = { Authorization: `Bearer ${token}` }
  const many = fetch(url + METRICS, { method: 'POST', headers, body: alertGroup(5000), signal: gone.signal })
  const ended = assert.rejects(many, { name: 'AbortError' })
  await eventually(stored, (total) => total > 0)
  gone.abort()
  await ended
  await eventually(stored, (total) => total === 5000)
})

test('invalid items are listed, and too many items are refused', async (t) => {
  const { acme, request } = makeWorld(t)
  const { alerts } = JSON.parse(alertGroup(1500))
  const some = await request('POST', METRICS, { token: acme.token, body: { alerts: [...alerts, 7] } })
  assert.deepEqual([some.body.eventIds.length, some.body.rejected[0].index], [1500, 1500])
  const many = await request('POST', METRICS, { token: acme.token, body: { alerts: Array(20_001).fill(alerts[0]) } })
  assert.match(many.body.detail, /at most 20000/)
})

test('a body that is not JSON or has no alerts is 400 and is stored as a rejection', async (t) => {
  const { acme, request } = makeWorld(t)
  const long = 'x'.repeat(200_000)
  for (const body of [`{"${long}`, { [long]: [] }]) {
    assert.equal((await request('POST', METRICS, { token: acme.token, body })).status, 400)
  }
  const { data } = (await request('GET', '/api/rejections', { token: acme.token })).body
  assert.deepEqual(
    data.map(({ error }: { error: string }) => error.slice(0, 12)),
    ['alerts: expe', 'body: not JS'],
  )
})

test('a dry run of more than 100 items is refused and stores nothing', async (t) => {
  const { acme, request } = makeWorld(t)
  const { status, body } = await request('POST', `${METRICS}?dryRun=1`, { token: acme.token, body: alertGroup(101) })
  assert.deepEqual([status, /at most 100 items, but this request has 101/.test(body.detail)], [400, true])
  assert.equal((await request('GET', '/api/events', { token: acme.token })).body.pagination.total, 0)
})

test("Charlie sees nothing of Acme's, and his own request that arrived in between", async (t) => {
  const { acme, charlie, request } = makeWorld(t)
  const many = request('POST', METRICS, { token: acme.token, body: alertGroup(1500) })
  await request('POST', METRICS, { token: charlie.token, body: alertGroup(1) })
  await many
  assert.equal((await request('GET', '/api/alerts', { token: charlie.token })).body.pagination.total, 1)
})
