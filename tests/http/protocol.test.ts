/** What all paths have in common: methods, slashes, bodies, headers, problem documents. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ROUTES } from '../../src/app.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeService, newUuid } from '../helpers/factory.ts'

const SERVICE = { name: 'cart', namespace: 'shop' }
const PATHS = [...new Set(ROUTES.map(({ path }) => path))]

describe('methods', () => {
  for (const path of PATHS) {
    test(`${path} refuses another method with 405 and names its own`, async (t) => {
      const { acme, request } = makeWorld(t)
      const own = ROUTES.filter((route) => route.path === path).map(({ method }) => method)
      const { status, headers } = await request('PUT', path.replace(':id', newUuid()), { token: acme.token })
      const allowed = headers.get('allow')?.split(', ') ?? []
      assert.deepEqual([status, allowed.filter((method) => method !== 'HEAD')], [405, own])
    })
  }

  test('HEAD is GET without a body', async (t) => {
    const { acme, request } = makeWorld(t)
    const { status, text, headers } = await request('HEAD', '/api/services', { token: acme.token })
    assert.deepEqual([status, text, headers.get('content-type')], [200, '', 'application/json'])
  })

  test('OPTIONS allows no cross-origin requests', async (t) => {
    const { request } = makeWorld(t)
    const headers = { Origin: 'https://elsewhere.example', 'Access-Control-Request-Method': 'POST' }
    const answer = await request('OPTIONS', '/api/services', { headers })
    assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [405, null])
  })
})

describe('paths', () => {
  for (const path of ['/api/services', '/api/alerts', '/healthz', '/openapi.json']) {
    test(`${path}/ is equivalent to ${path}`, async (t) => {
      const { acme, request } = makeWorld(t)
      const answers = [path, `${path}/`].map((one) => request('GET', one, { token: acme.token }))
      const [plain, slashed] = await Promise.all(answers)
      assert.deepEqual([slashed?.status, slashed?.text], [200, plain?.text])
    })
  }

  test('a webhook without /api or with another name is told the right paths', async (t) => {
    const { request } = makeWorld(t)
    for (const path of ['/webhooks/metrics', '/api/webhooks/grafana']) {
      const { status, body } = await request('POST', path, { body: {} })
      assert.deepEqual([status, /send to \/api\/webhooks\/cluster for/.test(body.detail)], [404, true])
    }
  })

  for (const path of ['/api', '/api/nothing', '/api/services/x/y/z', '/API/services', '/%E0%A4%A']) {
    test(`${path} gets 404 as a problem document`, async (t) => {
      const { request } = makeWorld(t)
      const { status, headers } = await request('GET', path)
      assert.deepEqual([status, headers.get('content-type')], [404, 'application/problem+json'])
    })
  }
})

describe('the body of a REST request', () => {
  const post = async (t: Parameters<typeof makeWorld>[0], body: unknown, headers: Record<string, string> = {}) => {
    const { acme, request } = makeWorld(t)
    return request('POST', '/api/services', { token: acme.token, body, headers })
  }

  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/x+json',
  ]) {
    test(`can be declared as ${type}`, async (t) => {
      assert.equal((await post(t, SERVICE, { 'Content-Type': type })).status, 201)
    })
  }

  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', 'x']) {
    test(`declared as ${type} is refused with 415`, async (t) => {
      assert.equal((await post(t, SERVICE, { 'Content-Type': type })).status, 415)
    })
  }

  for (const encoding of ['gzip', 'br', 'zstd', 'gzip, identity']) {
    test(`encoded as ${encoding} is refused with 415`, async (t) => {
      const body = gzipSync(JSON.stringify(SERVICE))
      assert.equal((await post(t, body, { 'Content-Encoding': encoding })).status, 415)
    })
  }

  for (const [what, body] of [
    ['empty', ''],
    ['cut off', '{"name":'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a text', '"cart"'],
    ['in invalid UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])],
    ['a hundred thousand lists deep', '['.repeat(100_000)],
    ['with 1e400 for a name', '{"name":1e400,"namespace":""}'],
  ] as const) {
    test(`that is ${what} is refused with 400`, async (t) => {
      assert.equal((await post(t, body)).status, 400)
    })
  }

  test('over 1 MiB is refused with 413, whether its length is declared or not', async (t) => {
    const body = Buffer.alloc(1_048_577, ' ')
    const declared = { 'Content-Length': String(body.length) }
    assert.deepEqual([(await post(t, body)).status, (await post(t, body, declared)).status], [413, 413])
  })

  test('can contain a __proto__ key without any effect', async (t) => {
    const { status } = await post(t, '{"name":"cart","namespace":"","__proto__":{"score":1},"constructor":1}')
    assert.deepEqual([status, ({} as { score?: number }).score], [201, undefined])
  })

  test('has only NUL and lone surrogates replaced', async (t) => {
    const { body } = await post(t, '{"name":"a\\u0000\\ud800\\u2028\\u202e😀","namespace":""}')
    assert.equal(body.name, 'a\ufffd\ufffd\u2028\u202e😀')
  })
})

describe('every response', () => {
  for (const path of ['/api/services', '/healthz', '/nothing', '/api/alerts?page=x']) {
    test(`of ${path} is protected from caches, frames and content sniffing`, async (t) => {
      const { acme, request } = makeWorld(t)
      const { headers } = await request('GET', path, { token: acme.token })
      const names = ['x-content-type-options', 'cache-control', 'referrer-policy']
      assert.deepEqual(
        names.map((name) => headers.get(name)),
        ['nosniff', 'no-store', 'no-referrer'],
      )
      assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
    })
  }
})

describe('a problem document', () => {
  test('is shorter than 1 kB and repeats no input, even with many errors', async (t) => {
    const { acme, request } = makeWorld(t)
    const secret = 'hunter2'.repeat(100)
    const query = ['page', 'limit', 'from', 'to', 'status', 'severity', 'source', 'serviceId'].map(
      (name) => `${name}=${secret}`,
    )
    const { status, text } = await request('GET', `/api/alerts?${query.join('&')}`, { token: acme.token })
    assert.deepEqual([status, text.length < 1024, text.includes('hunter2')], [400, true, false])
  })

  test('about a bug contains no details of the machine', async (t) => {
    const lines: string[] = []
    t.mock.method(process.stderr, 'write', (line: string) => lines.push(line) > 0)
    const { acme, db, request } = makeWorld(t)
    makeService(db, acme, 'cart', { health: '{"not":"a list"}' })
    db.execute('ALTER TABLE rejections RENAME TO lost')
    const { status, text } = await request('GET', '/api/rejections', { token: acme.token })
    assert.deepEqual([status, /rejections|SQL|\/work|\.ts/.test(text), lines.length], [500, false, 1])
  })
})
