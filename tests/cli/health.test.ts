/** incmon health with a server that is not ready, a server that becomes ready, and a different program. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite, type TestContext, test } from 'node:test'
import { asking, incmon, incmonServe } from '../helpers/cli.ts'
import { temporaryDirectory } from '../helpers/store.ts'

const UNREADY = '{"title":"Service Unavailable","status":503,"detail":"the database is not writable (SQLITE_FULL)"}'

/** Starts a server that is not ready for the given number of requests, and counts them. */
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
  test('--wait checks repeatedly until the server is ready', async (t) => {
    const { url, asked } = await unreadyFor(t, 2)
    const { code, out } = await incmon('/', ['health', '--url', url, '--wait', '60'])
    assert.deepEqual([code, out, asked.times], [0, `${url} is ready\n`, 3])
  })

  test("without --wait it checks once and prints the server's reason", async (t) => {
    const { url, asked } = await unreadyFor(t, 9)
    const { code, out, err } = await incmon('/', ['health', '--url', url])
    assert.deepEqual([code, out, asked.times], [1, '', 1])
    const why = 'it responded with 503, the database is not writable (SQLITE_FULL)'
    assert.equal(err, `incmon: ${url} is not ready: ${why}: run "incmon doctor" to find the cause\n`)
  })

  test('HTTPS to a plain HTTP server suggests the http URL', async (t) => {
    const { url } = await unreadyFor(t, 0)
    const secure = url.replace('http:', 'https:')
    const { err, code } = await incmon('/', ['health', '--url', secure])
    assert.match(err, /: no response \(the TLS handshake failed, (ERR_SSL_\w+|EPROTO)\): try http:\S+ with --url\n$/)
    assert.ok(err.includes(`${secure} is not ready`) && err.includes(`try ${url} with`))
    assert.equal(code, 1)
  })

  test('without --url it finds the server for the database, never a program on the configured port', async (t) => {
    const cwd = temporaryDirectory(t)
    const { url } = await unreadyFor(t, 0)
    const env = { INCMON_PORT: new URL(url).port }
    const before = await incmon(cwd, ['health'], { env })
    const server = await incmonServe(t, cwd)
    const after = await asking(cwd, ['health'], { env })
    assert.match(
      before.err,
      /^incmon: no server is using \S+incmon\.db: start "incmon serve", or specify the server with --url/,
    )
    assert.deepEqual([before.code, after.out], [1, `${server.url} is ready\n`])
  })

  test('--wait waits for a server that is starting', async (t) => {
    const cwd = temporaryDirectory(t)
    const waiting = incmon(cwd, ['health', '--wait', '60'])
    const { url } = await incmonServe(t, cwd)
    assert.deepEqual(await waiting, { code: 0, out: `${url} is ready\n`, err: '' })
  })

  test('with --json a negative answer is on stdout, and the exit code is 1', async (t) => {
    const { url } = await unreadyFor(t, 9, '<html>Bad gateway</html>')
    const { code, out, err } = await incmon('/', ['health', '--url', url, '--json'])
    assert.deepEqual([code, err], [1, ''])
    assert.deepEqual(JSON.parse(out), { url, ready: false, why: 'it responded with 503, Bad gateway', warning: null })
  })
})
