/** /docs: the API reference is public, for Charlie as well. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { ROUTES } from '../../src/app.ts'
import { makeWorld } from '../helpers/app.ts'

test('/docs needs no token and accepts a trailing slash', async (t) => {
  const { charlie, request } = makeWorld(t)
  const answers = await Promise.all([
    request('GET', '/docs'),
    request('GET', '/docs/'),
    request('GET', '/docs', { token: charlie.token }),
    request('GET', '/docs', { token: 'unknown' }),
  ])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  )
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  assert.equal(answers[0]?.headers.get('content-type'), 'text/html; charset=UTF-8')
})

test('HEAD returns the same headers without the page', async (t) => {
  const { request } = makeWorld(t)
  const [head, get] = [await request('HEAD', '/docs'), await request('GET', '/docs')]
  assert.deepEqual([head.status, head.text], [200, ''])
  assert.equal(head.headers.get('etag'), get.headers.get('etag'))
})

test('a browser with the current page receives 304', async (t) => {
  const { request } = makeWorld(t)
  const first = await request('GET', '/docs')
  const etag = first.headers.get('etag') ?? ''
  const again = await request('GET', '/docs', { headers: { 'If-None-Match': `"other", ${etag}` } })
  assert.deepEqual([again.status, again.text, again.headers.get('cache-control')], [304, '', 'no-cache'])
  assert.equal((await request('GET', '/docs', { headers: { 'If-None-Match': '"other"' } })).status, 200)
})

test('only the page and the document may be cached, and only to be revalidated', async (t) => {
  const { request } = makeWorld(t)
  const kept = async (path: string) => (await request('GET', path)).headers.get('cache-control')
  assert.deepEqual(
    [await kept('/docs'), await kept('/openapi.json'), await kept('/doc')],
    ['no-cache', 'no-cache', 'no-store'],
  )
})

test('the page shows the URL of the request', async (t) => {
  const { app } = makeWorld(t)
  for (const url of ['http://127.0.0.1:8080', 'https://incmon.example.com', 'http://[::1]:9000']) {
    const text = await (await app.request(`${url}/docs`)).text()
    assert.ok(text.includes(`curl &quot;${url}/api/services&quot;`), url)
    assert.ok(!text.includes('incmon.invalid'))
  }
})

for (const host of ['a$(reboot)', 'a`b`', "a'b", 'a"b', 'a&b', 'a;b', 'a!b']) {
  test(`the host ${host} is never shown, because people paste commands from the page`, async (t) => {
    const { app } = makeWorld(t)
    const forged = Object.defineProperty(new Request('http://x/docs'), 'url', { value: `http://${host}/docs` })
    const answer = await app.request(forged)
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /the Host header is not a host and port/)
  })
}

test('the Content-Security-Policy allows only the hash of the style', async (t) => {
  const { request } = makeWorld(t)
  const { text, headers } = await request('GET', '/docs')
  const [style = '', ...more] = [...text.matchAll(/<style>(.*?)<\/style>/gs)].map(([, css = '']) => css)
  const hash = createHash('sha256').update(style).digest('base64')
  const policy = headers.get('content-security-policy') ?? ''
  assert.deepEqual([more, policy.includes(`style-src 'sha256-${hash}';`)], [[], true])
  assert.ok(policy.startsWith("default-src 'none';") && !policy.includes('unsafe'))
  assert.doesNotMatch(text, /<script|<link|<img|<iframe|\son\w+=|\sstyle=|javascript:|@import|url\(/)
})

test('every operation is on the page once, with its scope', async (t) => {
  const { request } = makeWorld(t)
  const { text } = await request('GET', '/docs')
  for (const { method, path, auth } of ROUTES) {
    const [article, ...more] = text
      .split('<article')
      .filter(
        (part) =>
          part.includes(`</span> <code>${path.replaceAll(/:(\w+)/g, '{$1}')}</code></h3>`) &&
          part.includes(`>${method}</span>`),
      )
    assert.deepEqual(
      [more, article?.includes(auth ? `Scope <code>${auth.scope}</code>` : 'Needs no token')],
      [[], true],
      path,
    )
  }
})

test('the table contains every error status', async (t) => {
  const { request } = makeWorld(t)
  const { text } = await request('GET', '/docs')
  const rows = [...text.matchAll(/<tr id="error-(\d+)">/g)].map(([, status]) => Number(status))
  assert.deepEqual(rows, [400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 431, 500, 503])
})

test('an unknown path links to the page, and /docs refuses all methods except GET', async (t) => {
  const { request } = makeWorld(t)
  assert.match((await request('GET', '/nowhere')).body.detail, /GET \/docs/)
  const { status, headers } = await request('POST', '/docs')
  assert.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD'])
})

test('with many URLs, the page shows the URL of the server, and an invented host costs nothing', async (t) => {
  const { app } = makeWorld(t)
  const showsItself = async (host: string) => {
    const text = await (await app.request(`http://${host}/docs`)).text()
    return text.includes(`http://${host}/api`)
  }
  const shown = await Promise.all(Array.from({ length: 17 }, (_, number) => showsItself(`a${number}`)))
  assert.deepEqual([shown[0], shown[16], await showsItself('a0')], [true, false, true])
})

test('the document is compressed, and unchanged for a client that has it', async (t) => {
  const { app } = makeWorld(t)
  const ask = (headers: Record<string, string>) => app.request('/openapi.json', { headers })
  const zipped = await ask({ 'Accept-Encoding': 'gzip' })
  assert.deepEqual([zipped.status, zipped.headers.get('content-encoding')], [200, 'gzip'])
  assert.equal((await ask({ 'If-None-Match': zipped.headers.get('etag') ?? '' })).status, 304)
})
