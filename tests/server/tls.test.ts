/** The certificate and its key: what is accepted, and what is rejected with a one-line error and a remedy. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readTls } from '../../src/server/connection/tls.ts'
import { makeCertificate } from '../helpers/certificates.ts'

type Files = ReturnType<typeof makeCertificate>
const DAY = 24 * 3_600_000
const now = () => Date.now()

test('a valid certificate is accepted without a warning', (t) => {
  const read = readTls(makeCertificate(t), now())
  assert.ok('tls' in read && read.tls?.cert.startsWith('-----BEGIN CERTIFICATE-----') && read.warning === null)
})

test('plain HTTP is accepted without a warning', () => {
  assert.deepEqual(readTls({ cert: '', key: '' }, 0), { tls: null, certificate: null, warning: null })
})

for (const [what, days, warning] of [
  ['has expired', 31, /cert\.pem expired on \S+Z: clients reject it: renew the certificate .+ SIGHUP to the server$/],
  ['is not valid yet', -1, /cert\.pem is not valid before \S+Z: clients reject it until then: check the clock/],
  ['expires soon', 16.5, /cert\.pem expires on \S+Z, within 14 days: renew the certificate .+ SIGHUP to the server$/],
] as const) {
  test(`a certificate that ${what} is accepted with a warning`, (t) => {
    const read = readTls(makeCertificate(t), now() + days * DAY)
    assert.ok('tls' in read && read.tls)
    assert.match(read.warning ?? '', warning)
  })
}

function locked({ key, directory }: Files): string {
  const file = join(directory, 'locked.pem')
  execFileSync('openssl', ['pkcs8', '-topk8', '-in', key, '-out', file, '-passout', 'pass:secret'])
  return file
}

function written({ directory }: Files, text: string): string {
  const file = join(directory, 'other.pem')
  writeFileSync(file, text)
  return file
}

const FAULTS: readonly [what: string, files: (made: Files, other: Files) => Partial<Files>, fault: RegExp][] = [
  ['a certificate without a key', () => ({ key: '' }), /^tls-cert is set but tls-key is not: set both/],
  ['a key without a certificate', () => ({ cert: '' }), /^tls-key is set but tls-cert is not: set both/],
  [
    'a missing certificate',
    () => ({ cert: '/nowhere.pem' }),
    /^\/nowhere\.pem cannot be read \(ENOENT\): set tls-cert to a readable PEM file$/,
  ],
  [
    'a missing key',
    () => ({ key: '/nowhere.pem' }),
    /^\/nowhere\.pem cannot be read \(ENOENT\): set tls-key to a readable PEM file$/,
  ],
  ['a directory', ({ directory }) => ({ cert: directory }), /cannot be read \(EISDIR\)/],
  ['a broken certificate', (made) => ({ cert: written(made, 'x') }), /other\.pem contains no certificate/],
  [
    'a certificate cut short',
    (made) => ({ cert: written(made, made.pem.slice(0, 200)) }),
    /other\.pem is damaged or truncated: replace it with/,
  ],
  [
    'a broken chain',
    (made) => ({ cert: written(made, `${made.pem}-----BEGIN CERTIFICATE-----\nx`) }),
    /cannot be used/,
  ],
  ['a broken key', (made) => ({ key: written(made, 'x') }), /other\.pem contains no private key/],
  ['the certificate as key', ({ cert }) => ({ key: cert }), /cert\.pem contains no private key/],
  ['a key with a passphrase', (made) => ({ key: locked(made) }), /locked\.pem is protected by a passphrase/],
  [
    'a key of another certificate',
    (_, other) => ({ key: other.key }),
    /key\.pem does not match the certificate .+cert\.pem/,
  ],
]

for (const [what, filesOf, fault] of FAULTS) {
  test(`${what} is refused in one line`, (t) => {
    const made = makeCertificate(t)
    const read = readTls({ ...made, ...filesOf(made, makeCertificate(t)) }, now())
    assert.ok('fault' in read, 'it was taken')
    assert.match(read.fault, fault)
    assert.ok(!read.fault.includes('\n'))
  })
}
