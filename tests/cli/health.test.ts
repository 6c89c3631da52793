/** incmon health: what it makes of a server that is not ready, not yet, or no server of ours. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite, type TestContext, test } from 'node:test'
import { incmon } from '../helpers/cli.ts'

const UNREADY = '{"title":"Service Unavailable","status":503,"detail":"the store takes no writes (SQLITE_FULL)"}'

/** A server that is not ready for so many requests, then is; counts them. */
async function unreadyFor(t: TestContext, times: number, body = UNREADY) {
  const asked = { times: 0 }
  const server = createServer((_, response) => {
    asked.times += 1
    response.writeHead(asked.times > times ? 200 : 503).end(asked.times > times ? '{"status":"ok"}' : body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

suite('health', { concurrency: 4 }, () => {
  test('--wait asks again until the server is ready', async (t) => {
    const { url, asked } = await unreadyFor(t, 2)
    const { code, out } = await incmon('/', ['health', '--url', url, '--wait', '60'])
    assert.deepEqual([code, out, asked.times], [0, `${url} is ready\n`, 3])
  })

  test('without --wait one answer counts, and the line repeats what the server says of itself', async (t) => {
    const { url, asked } = await unreadyFor(t, 9)
    const { code, out, err } = await incmon('/', ['health', '--url', url])
    assert.deepEqual([code, out, asked.times], [1, '', 1])
    const why = 'it answered 503, the store takes no writes (SQLITE_FULL)'
    assert.equal(err, `incmon: ${url} is not ready: ${why}: "incmon doctor" looks for the cause\n`)
  })

  test('TLS asked of plain HTTP names the address with http, also where the configuration says TLS', async (t) => {
    const { url } = await unreadyFor(t, 0)
    const secure = url.replace('http:', 'https:')
    const named = await incmon('/', ['health', '--url', secure])
    const env = { INCMON_TLS_CERT: 'cert.pem', INCMON_PORT: new URL(url).port }
    const own = await incmon('/', ['health'], { env })
    for (const { err, code } of [named, own]) {
      assert.match(err, /: no answer \(no TLS could be agreed on, (ERR_SSL_\w+|EPROTO)\): try http:\S+ with --url\n$/)
      assert.ok(err.includes(`${secure} is not ready`) && err.includes(`try ${url} with`))
      assert.equal(code, 1)
    }
  })

  test('with --json what is not ready is an answer on stdout, and the exit code is 1', async (t) => {
    const { url } = await unreadyFor(t, 9, '<html>Bad gateway</html>')
    const { code, out, err } = await incmon('/', ['health', '--url', url, '--json'])
    assert.deepEqual([code, err], [1, ''])
    assert.deepEqual(JSON.parse(out), { url, ready: false, why: 'it answered 503, Bad gateway', warning: null })
  })
})
