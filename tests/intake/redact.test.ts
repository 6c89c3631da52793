/** Redaction: what is treated as a secret, and what only looks like one. */

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { isSecretKey, REDACTED, redact, redactAndCut, redactRaw, redactText } from '../../src/intake/redact.ts'
import { assertQuick } from '../helpers/processor.ts'

// Assembled here so that secret scanners do not report the tests.
const OURS = `incmon_${'aB3x'.repeat(8)}`
const GITLAB = `gl${'pat'}-${'x1Y2'.repeat(5)}`
const AWS = `AK${'IA'}${'Q7'.repeat(8)}`
const JWT = `ey${'JhbGciOi'}.ey${'JzdWIiOi'}.sig-nature`
const PEM = `-----BEGIN RSA ${'PRIVATE'} KEY-----\nMIIE\n-----END RSA ${'PRIVATE'} KEY-----`

const TEXTS: [string, string][] = [
  [`token ${OURS}.`, `token ${REDACTED}.`],
  [`clone with ${GITLAB} now`, `clone with ${REDACTED} now`],
  [`id ${AWS},`, `id ${REDACTED},`],
  [`jwt=${JWT} end`, `jwt=${REDACTED} end`],
  [`key:\n${PEM}\nend`, `key:\n${REDACTED}\nend`],
  [PEM.slice(0, 40), REDACTED],
  ['Authorization: Bearer abc.def-123', `Authorization: Bearer ${REDACTED}`],
  ['authorization: Basic dXNlcjpwYXNz', `authorization: Basic ${REDACTED}`],
  ['redis://:hunter2@cache:6379/0', `redis://${REDACTED}@cache:6379/0`],
  ['https://bot:p@ss@git.example.org/x', `https://${REDACTED}@git.example.org/x`],
  ['https://t0ken@git.example.org/x', `https://${REDACTED}@git.example.org/x`],
  ['https://h/hook?token=abc&x=1', `https://h/hook?token=${REDACTED}&x=1`],
  ['DB_PASSWORD=hunter2 psql', `DB_PASSWORD=${REDACTED} psql`],
  ['{"apiKey":"k-1","a":1}', `{"apiKey":"${REDACTED}","a":1}`],
  ['{\\"client_secret\\": \\"k-1\\"}', `{\\"client_secret\\": \\"${REDACTED}\\"}`],
  ['passphrase: hunter2', `passphrase: ${REDACTED}`],
  ['PASSWD=hunter2', `PASSWD=${REDACTED}`],
  ['pwd : hunter2', `pwd : ${REDACTED}`],
  ['access-key=k-1', `access-key=${REDACTED}`],
  ['private_key=k-1', `private_key=${REDACTED}`],
  ['run --api-key k-1', `run --api-key ${REDACTED}`],
  ['run -secret k-1', `run -secret ${REDACTED}`],
  ['PGPASSWORD=hunter2 psql', `PGPASSWORD=${REDACTED} psql`],
  ['MYSQLPWD=hunter2', `MYSQLPWD=${REDACTED}`],
  ['CLIENTSECRET=hunter2', `CLIENTSECRET=${REDACTED}`],
  ['secret=hunter2&a=1', `secret=${REDACTED}&a=1`],
  ['Cookie: a=1; session=x', `Cookie: ${REDACTED}`],
  ['Set-Cookie: a=1; Path=/\nnext', `Set-Cookie: ${REDACTED}\nnext`],
  ['https://x.blob.example/c?sv=1&sig=aB%2Bc1234', `https://x.blob.example/c?sv=1&sig=${REDACTED}`],
  ['https://hooks.slack.com/services/T00/B00/abc', `https://hooks.slack.com/services/${REDACTED}`],
  [
    `https://api.telegram.org/bot123456789:${'AAx1'.repeat(9)}/sendMessage`,
    `https://api.telegram.org/${REDACTED}/sendMessage`,
  ],
  [`${'sk'}-ant-${'x1Y2'.repeat(5)}`, REDACTED],
  [`h${'vs.'}${'x1Y2'.repeat(5)}`, REDACTED],
  [`pulling failed, token ${GITLAB.slice(0, 14)}…`, `pulling failed, token ${REDACTED}…`],
  [`token n${'pm_'}x1Y2x1Y2`, `token ${REDACTED}`],
  [`AS${'IA'}${'Q7'.repeat(8)}`, REDACTED],
  [`gh${'o_'}${'x1Y2'.repeat(5)}`, REDACTED],
  [`github_${'pat_'}${'x1Y2'.repeat(5)}`, REDACTED],
  [`xox${'b-'}${'x1Y2'.repeat(5)}`, REDACTED],
  [`GR13${'48941'}${'x1Y2'.repeat(5)}`, REDACTED],
]

for (const [text, expected] of TEXTS) {
  test(`${JSON.stringify(text.slice(0, 24))}… loses its secret`, () => {
    assert.equal(redactText(text), expected)
  })
}

const HARMLESS = [
  'secret "checkout-db" not found',
  'rate(incmon_http_request_duration_seconds_bucket[5m]) > 1',
  'http://prom:9090/graph?g0.expr=up&g0.tab=1',
  'Bearer token missing',
  'mail to ops@example.org at 10:30',
  'https://chat.example.org/@ann and https://h/?q=ann@example.org',
  "couldn't find key tls.crt in Secret orders/web-tls",
  'asiapacificsoutheast1 is slow',
  'checkout-7c9f6d5b8-x2kqp on ip-10-0-12-123.eu-central-1.compute.internal',
  'npm_config_cache is not set',
  'sha256:9b1c3d5e7f90123456789abcdef01234567890abcdef9b1c3d5e7f901234567',
  'at 2026-11-22T10:11:12.123Z on 10.0.0.1:8080',
  'designated=true',
]

for (const text of HARMLESS) test(`${JSON.stringify(text)} is kept`, () => assert.equal(redactText(text), text))

test('Redacting twice changes nothing more', () => {
  for (const [, expected] of TEXTS) assert.equal(redactText(expected), expected)
})

test('The values of pipeline variables are replaced, their keys are kept', () => {
  const hook = { object_attributes: { variables: [{ key: 'A', value: 'x' }, { key: 'B', value: { c: 1 } }, 'C=x'] } }
  assert.deepEqual(redact(hook), {
    object_attributes: { variables: [{ key: 'A', value: REDACTED }, { key: 'B', value: REDACTED }, REDACTED] },
  })
})

test('Values under secret names are replaced at any depth', () => {
  const names = [
    'password',
    'dbPasswd',
    'PWD',
    'X-Gitlab-Token',
    'authorization',
    'api_key',
    'accessKey',
    'private-key',
  ]
  for (const name of names) assert.deepEqual(redact({ a: [{ [name]: 'x' }] }), { a: [{ [name]: REDACTED }] }, name)
})

test('The names of Kubernetes Secrets are kept', () => {
  const labels = { secret: 'web-tls', secretName: 'web-tls', token: { name: 'x' }, password: '' }
  assert.deepEqual(redact(labels), labels)
})

test('The original is not modified', () => {
  const original = { password: 'x', deep: ['Bearer abcdefgh'] }
  redact(original)
  assert.deepEqual(original, { password: 'x', deep: ['Bearer abcdefgh'] })
})

test('A key named __proto__ remains a key', () => {
  const copy = redact(JSON.parse('{"__proto__":{"token":"x"},"constructor":"c"}'))
  assert.equal(JSON.stringify(copy), `{"__proto__":{"token":"${REDACTED}"},"constructor":"c"}`)
})

test('Values that JSON cannot represent become null', () => {
  assert.deepEqual(redact([Number.POSITIVE_INFINITY, 1.5, true, null]), [null, 1.5, true, null])
})

test('a secret in a name is replaced, and no value is lost', () => {
  const object = { [`a ${OURS}`]: 1, [`a ${GITLAB}`]: 2, b: 3 }
  assert.deepEqual(redact(object), { [`a ${REDACTED}`]: 1, [`a ${REDACTED} 1`]: 2, b: 3 })
})

test('truncation never leaves the first part of a secret', () => {
  const text = `password=${'x'.repeat(50)} ${GITLAB} ${'word '.repeat(2_000)}`
  for (let length = 1; length < 120; length += 1) {
    assert.doesNotMatch(redactAndCut(text, length), /xx|glpat-x/, String(length))
    assert.ok(redactAndCut(text, length).length <= length)
  }
})

test('a secret at the end of the searched part of a long text is removed', () => {
  const text = `${`token=${'y'.repeat(3_000)} `.repeat(10)}${`${OURS} `.repeat(200)}`
  for (const length of [100, 1_000, 29_000, 31_000]) assert.doesNotMatch(redactAndCut(text, length), /yy|aB3x/)
})

test('A value without a secret is not copied', () => {
  const harmless = { labels: { secret: 'web-tls', token: '' }, values: [1, null, true], variables: [] }
  assert.equal(redact(harmless), harmless)
})

test('All other values stay unchanged and in order', () => {
  const rest = { a: [{ b: 'c' }], d: 1 }
  const clean = redact({ first: 1, password: 'x', rest }) as { rest: unknown }
  assert.equal(JSON.stringify(clean), JSON.stringify({ first: 1, password: REDACTED, rest }))
  assert.equal(clean.rest, rest)
})

test('The result for a value does not depend on earlier values under the same name', () => {
  const anyValue = fc.constantFrom(...TEXTS.flat(), ...HARMLESS, '')
  const isUnaffected = (values: string[]) => {
    for (const value of values) {
      const expected = { note: redactText(value), token: value === '' ? '' : REDACTED }
      assert.deepEqual(redact({ note: value, token: value }), expected)
    }
  }
  fc.assert(fc.property(fc.array(anyValue), isUnaffected))
})

test('A secret name is recognized by its suffix', () => {
  for (let time = 0; time < 2; time += 1) {
    const secret = ['api_key', 'token', 'secret', 'pod', `${'x'.repeat(100)}_password`].map(isSecretKey)
    assert.deepEqual(secret, [true, true, false, false, true])
  }
})

test('Every text is searched in linear time', () => {
  const units = [
    '-----BEGIN PRIVATE KEY-----',
    '://a:',
    'eyJaaaaa.',
    '-eyJ',
    'incmon_a-',
    'Bearer ',
    'token=',
    '"token" : ',
    'cookie:',
    '1234567:',
    'sig=',
    'hooks.slack.com/services/',
    'ABSK/',
    'sk-ant-',
    'npm_1',
    'https://a.webhook.office.com/',
  ]
  for (const unit of units) {
    const text = unit.repeat(1_000_000 / unit.length)
    assertQuick(500, () => redactText(text))
  }
})

test('passwords are found after spaces, after colons and in arguments', () => {
  for (const text of [
    'password: hunter22',
    'PASSWORD = hunter22',
    'run --password hunter22',
    '"password":\t"hunter22"',
  ]) {
    assert.doesNotMatch(redactText(text), /hunter22/, text)
  }
})

test('the variables of a truncated GitLab hook are replaced', () => {
  const cut = '{"object_attributes":{"variables":[{"key":"K","value":"a b\\"hunter22"},{"key":"L","value" : "hunter2'
  assert.doesNotMatch(redactRaw(cut), /hunter2/)
})

test('a text longer than one mebibyte is truncated and marked before it is searched', () => {
  const clean = redactText(`${'glpat-'}${'a'.repeat(8_000_000)}`)
  assert.ok(clean.length < 1_100_000)
  assert.match(clean, /\[cut at 1 MiB\]$/)
})
