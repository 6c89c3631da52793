/** Dot segments: a path that resolves to another one is rejected, so that a proxy's path rules are reliable. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { hasDotSegment } from '../../src/http/middleware/listener.ts'
import { startServer } from '../helpers/server.ts'

const REFUSED = [
  '/docs/../api/services',
  '/docs/%2e%2e/api/services',
  '/docs/.%2E/api/services',
  '/docs/%2E./api/services',
  '/./healthz',
  '/%2e/healthz',
  '/docs/..',
  '/docs/.',
  '/..',
  '/docs/..?a=b',
  '/docs\\..\\api',
  '/docs%2f..%2fapi/services',
  '/docs/..;/api/services',
  'http://localhost/docs/../api/services',
]
const ACCEPTED = [
  '/',
  '/openapi.json',
  '/healthz?a=/../b',
  '/api/alerts?q=..',
  '/...',
  '/a..b',
  '/.well-known/x',
  '/a/.b',
]

for (const path of REFUSED) test(`${path} has a dot segment`, () => assert.equal(hasDotSegment(path), true))
for (const path of ACCEPTED) test(`${path} has none`, () => assert.equal(hasDotSegment(path), false))

test('a path with dot segments gets 400 with the reason', async (t) => {
  const { url } = await startServer(t)
  for (const path of ['/docs/../healthz', '/docs/%2e%2e/healthz']) {
    const { status, text } = await get(url, path)
    assert.equal(status, 400, path)
    assert.match(JSON.parse(text).detail, /\. or \.\. segment/)
  }
  assert.equal((await get(url, '/healthz?from=/../x')).status, 200)
})

/** fetch would resolve the dots itself. */
function get(url: string, path: string): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject).end()
  })
}
