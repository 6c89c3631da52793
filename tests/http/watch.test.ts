/** Every request gets an id, is logged if it is rejected, and has a client address even behind trusted proxies. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLog } from '../../src/server/log.ts'
import { makeWorld } from '../helpers/app.ts'
import { alertGroup } from '../helpers/payloads.ts'
import { startServer } from '../helpers/server.ts'

function loggedWorld(t: Parameters<typeof makeWorld>[0], level = 'info') {
  const lines: string[] = []
  const log = createLog(level, (line) => void lines.push(line))
  return { ...makeWorld(t, undefined, undefined, { log }), lines, read: () => lines.map((line) => JSON.parse(line)) }
}

describe('X-Request-Id', () => {
  for (const id of ['4711', '01900000-0000-7000-8000-000000000000', 'Root=1-67891233-abcdef012345678912345678']) {
    test(`${id} is kept`, async (t) => {
      const { request } = makeWorld(t)
      const { headers } = await request('GET', '/healthz', { headers: { 'X-Request-Id': id } })
      assert.equal(headers.get('x-request-id'), id)
    })
  }

  for (const id of ['', 'a b', '"', 'é', '<script>', 'x'.repeat(129)]) {
    test(`${JSON.stringify(id.slice(0, 10))} is replaced`, async (t) => {
      const { request } = makeWorld(t)
      const { headers } = await request('GET', '/healthz', { headers: { 'X-Request-Id': id } })
      assert.equal(headers.get('x-request-id'), 'test-1')
    })
  }

  test('is generated if the request has none, also for errors', async (t) => {
    const { request } = makeWorld(t)
    const answers = [
      await request('GET', '/healthz'),
      await request('GET', '/api/services'),
      await request('GET', '/x'),
    ]
    assert.deepEqual(
      answers.map(({ headers }) => headers.get('x-request-id')),
      ['test-1', 'test-2', 'test-3'],
    )
  })
})

describe('the log', () => {
  test('contains the caller, the route and the reason of a rejection', async (t) => {
    const { request, read } = loggedWorld(t)
    await request('GET', '/api/services?token=hunter2', { headers: { 'X-Request-Id': 'r1' } })
    const [{ time, detail, ...line }] = read()
    assert.match(detail, /^no token; send an Authorization: Bearer/)
    assert.deepEqual(line, {
      ...{ level: 'warn', status: 401, route: 'GET /api/services', method: 'GET', path: '/api/services' },
      ...{ client: '', requestId: 'r1', message: 'refused' },
    })
  })

  test('contains successful requests only at level debug', async (t) => {
    const { acme, request, lines, read } = loggedWorld(t)
    await request('GET', '/api/services', { token: acme.token })
    assert.deepEqual(lines, [])
    const loud = loggedWorld(t, 'debug')
    await loud.request('GET', '/api/services?q=1', { token: loud.acme.token })
    const [{ message, path, status }] = loud.read()
    assert.deepEqual([message, path, status, read().length], ['request', '/api/services', 200, 0])
  })

  test('contains no token, header or payload, at any level', async (t) => {
    const { acme, db, request, lines } = loggedWorld(t, 'debug')
    const body = alertGroup(1).toString().replace('WorkerNotReady', 'CANARY')
    await request('POST', '/api/webhooks/metrics', { token: acme.token, body })
    await request('POST', '/api/webhooks/metrics', { token: `${acme.token}x`, body })
    await request('GET', `/api/alerts/${acme.token}?token=${acme.token}`, { token: acme.token })
    db.execute('ALTER TABLE rejections RENAME TO lost')
    await request('GET', '/api/rejections', { token: acme.token })
    assert.ok(lines.length >= 6)
    assert.ok(!lines.some((line) => line.includes(acme.token.slice(0, 20)) || /CANARY/.test(line)), lines.join(''))
  })

  test('contains one line for a thousand wrong tokens', async (t) => {
    const { request, lines } = loggedWorld(t)
    for (let time = 0; time < 1_000; time += 1) await request('GET', '/api/services', { token: 'wrong' })
    assert.equal(lines.length, 1)
  })
})

describe('a storm of wrong tokens', () => {
  test('is delayed, but a valid token from the same address is not', async (t) => {
    const pauses: number[] = []
    const pause = (ms: number) => Promise.resolve(void pauses.push(ms))
    const { acme, request } = makeWorld(t, undefined, undefined, { pause })
    const send = (token: string) => request('POST', '/api/webhooks/metrics', { token, body: alertGroup(1) })
    for (let time = 0; time < 100; time += 1) assert.equal((await send('wrong')).status, 401)
    assert.deepEqual([(await send(acme.token)).status, pauses], [200, []])
    assert.deepEqual([(await send('wrong')).status, pauses], [401, [1_000]])
  })
})

describe('behind a proxy', () => {
  const forwarded = {
    'X-Forwarded-For': '203.0.113.9',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'incmon.example.com',
  }

  for (const [what, networks, client, origin] of [
    [
      'that is trusted its client is logged, and links lead through it',
      ['127.0.0.0/8'],
      '203.0.113.9',
      'https://incmon.example.com',
    ],
    ['that is not trusted nothing of what it says counts', ['10.0.0.0/8'], '127.0.0.1', ''],
  ] as const) {
    test(what, async (t) => {
      const { url, token, lines, request } = await startServer(t, { 'trusted-proxies': networks })
      const headers = { Authorization: `Bearer ${token}`, ...forwarded }
      const link = (await fetch(`${url}/api/alerts`, { headers })).headers.get('link')
      assert.equal(link?.split(';')[0], `<${origin}/api/alerts?page=1&limit=50>`)
      await request('GET', '/nothing', undefined, forwarded)
      assert.equal(JSON.parse(lines[0] ?? '').client, client)
    })
  }

  test('the Location header contains the public URL', async (t) => {
    const { url, token } = await startServer(t, { 'trusted-proxies': ['127.0.0.1'] })
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...forwarded }
    const body = JSON.stringify({ name: 'cart', namespace: 'shop' })
    const { headers: answered } = await fetch(`${url}/api/services`, { method: 'POST', headers, body })
    assert.match(answered.get('location') ?? '', /^https:\/\/incmon\.example\.com\/api\/services\/[\da-f-]{36}$/)
  })
})
