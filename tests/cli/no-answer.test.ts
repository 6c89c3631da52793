/** Why no answer came: each word of the system has the remedy that fits it, and none brings Node's own advice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainNoAnswer } from '../../src/cli/no-answer.ts'

const failed = (code: string) => new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) })
const START = /^start "incmon serve", or name it with --url$/

for (const [code, url, why, remedy] of [
  ['ECONNREFUSED', 'http://a:1', /^ECONNREFUSED$/, START],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'https://a:1',
    /^its certificate is not trusted here/,
    /NODE_EXTRA_CA_CERTS=FILE$/,
  ],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'https://a:1', /was made for another name/, /^name the server as its certificate/],
  ['CERT_HAS_EXPIRED', 'https://a:1', /^its certificate has expired/, /^renew it, and send the server SIGHUP$/],
  ['CERT_NOT_YET_VALID', 'https://a:1', /^its certificate is not valid yet/, /^look at the clock/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'https://a:1/x', /^no TLS could be agreed on/, /^try http:\/\/a:1\/x with --url$/],
  ['UND_ERR_SOCKET', 'http://a:1/x', /^it closed the connection/, /^try https:\/\/a:1\/x with --url, or look/],
  ['UND_ERR_SOCKET', 'https://a:1', /^UND_ERR_SOCKET$/, START],
] as const) {
  test(`${code} of ${url} is told with its remedy`, () => {
    const told = explainNoAnswer(failed(code), url)
    assert.match(told.why, why)
    assert.match(told.remedy, remedy)
  })
}

test('the certificate of the configuration is a matter for doctor, not for another trust', () => {
  const { remedy } = explainNoAnswer(failed('DEPTH_ZERO_SELF_SIGNED_CERT'), 'https://a:1', true)
  assert.equal(remedy, '"incmon doctor" says what is wrong with it')
})

test('a time that ran out is told in words, over HTTP and over TLS', () => {
  const timeout = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  const aborted = Object.assign(new Error('The operation was aborted', { cause: timeout }), { code: 'ABORT_ERR' })
  const whys = [timeout, aborted].map((error) => explainNoAnswer(error, 'https://a:1').why)
  assert.deepEqual(whys, [timeout.message, timeout.message])
})
