/** Connection errors: each error code has its own remedy. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { createServer, type Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ask, explainNoAnswer } from '../../src/cli/ask.ts'

const failed = (code: string) => new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) })
const START = /^start "incmon serve", or specify the server with --url$/

for (const [code, url, why, remedy] of [
  ['ECONNREFUSED', 'http://a:1', /^ECONNREFUSED$/, START],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'https://a:1',
    /^its certificate is not trusted by this machine/,
    /NODE_EXTRA_CA_CERTS/,
  ],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'https://a:1',
    /was issued for a different host name/,
    /^use a host name from the certificate/,
  ],
  ['CERT_HAS_EXPIRED', 'https://a:1', /^its certificate has expired/, /^renew it, then send SIGHUP to the server$/],
  ['CERT_NOT_YET_VALID', 'https://a:1', /^its certificate is not valid yet/, /^check the clocks/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'https://a:1/x', /^the TLS handshake failed/, /^try http:\/\/a:1\/x with --url$/],
  ['UND_ERR_SOCKET', 'http://a:1/x', /^it closed the connection/, /^try https:\/\/a:1\/x with --url, or check/],
  ['UND_ERR_SOCKET', 'https://a:1', /^UND_ERR_SOCKET$/, START],
] as const) {
  test(`${code} of ${url} has its remedy`, () => {
    const explained = explainNoAnswer(failed(code), url)
    assert.match(explained.why, why)
    assert.match(explained.remedy, remedy)
  })
}

test('for an untrusted certificate of its own server, the remedy is incmon doctor', () => {
  const { remedy } = explainNoAnswer(failed('DEPTH_ZERO_SELF_SIGNED_CERT'), 'https://a:1', true)
  assert.equal(remedy, 'run "incmon doctor" to find the cause')
})

async function listening(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' && address?.port}`
}

test('a timeout is explained, over HTTP and over TLS', async (t) => {
  const silent = await listening(t, createServer())
  for (const url of [`http://${silent}`, `https://${silent}`]) {
    const failed = await ask(url, { timeoutMs: 100, trust: 'anyone' }).catch((error) => error)
    assert.equal(explainNoAnswer(failed, url).why, 'ETIMEDOUT')
  }
})

test('a server is not blamed for a time in which this process stood still', async (t) => {
  const server = await listening(
    t,
    createHttp((_, response) => void response.end('ok')),
  )
  const asked = ask(`http://${server}`, { timeoutMs: 500, trust: 'system' })
  const until = performance.now() + 1_000
  while (performance.now() < until);
  assert.equal((await asked).text, 'ok')
})
