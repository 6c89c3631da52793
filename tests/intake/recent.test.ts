/**
 * The cache of parsed requests: identical bodies from one sender are parsed once, unless the result depends on the time
 * of receipt.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { READERS } from '../../src/intake/index.ts'
import { createRecent } from '../../src/intake/recent.ts'

const NOW = Date.parse('2026-03-14T02:11:09Z')
const ALERT = { status: 'firing', labels: { alertname: 'CartDown' }, startsAt: '2026-03-14T02:00:00Z' }
const bytes = (text: string) => new TextEncoder().encode(text)
const read = (alert: object) => READERS.metrics({ alerts: [alert] }, NOW)

test('a repeated body returns the cached result', () => {
  const recent = createRecent()
  const intake = read(ALERT)
  recent.keep('acme', bytes('text'), intake, NOW)
  assert.equal(recent.find('acme', bytes('text'), NOW), intake)
})

test('a cached body is used only for its own sender', () => {
  const recent = createRecent()
  recent.keep('acme', bytes('text'), read(ALERT), NOW)
  assert.deepEqual([recent.find('charlie', bytes('text'), NOW), recent.find('acme', bytes('other'), NOW)], [null, null])
})

test('an alert of Prometheus is cached without an end, and with an end until then', () => {
  const found = (endsAt: string | undefined, now: number) => {
    const recent = createRecent()
    recent.keep('acme', bytes('text'), READERS.prometheus([{ ...ALERT, endsAt }], NOW), NOW)
    return recent.find('acme', bytes('text'), now) !== null
  }
  assert.deepEqual([found(undefined, NOW + 1), found(undefined, NOW + 3_600_000)], [true, true])
  const end = NOW + 60_000
  assert.deepEqual(
    [end - 1, end].map((now) => found(new Date(end).toISOString(), now)),
    [true, false],
  )
})

for (const [what, alert] of [
  ['without a start', { ...ALERT, startsAt: undefined }],
  ['that starts in the future', { ...ALERT, startsAt: '2026-03-14T03:00:00Z' }],
  ['that ended without saying when', { ...ALERT, status: 'resolved' }],
] as const) {
  test(`an alert ${what} has a meaning that depends on the time of receipt and is not cached`, () => {
    const recent = createRecent()
    recent.keep('acme', bytes('text'), read(alert), NOW)
    assert.equal(recent.find('acme', bytes('text'), NOW), null)
  })
}

test('a result with a rejected item is not cached, so every rejection is stored', () => {
  const recent = createRecent()
  recent.keep('acme', bytes('text'), READERS.metrics({ alerts: [ALERT, 7] }, NOW), NOW)
  assert.equal(recent.find('acme', bytes('text'), NOW), null)
})

test('the oldest bodies are evicted when the cache is full', () => {
  const recent = createRecent()
  const long = (letter: string) => bytes(letter.repeat(100_000))
  for (let i = 0; i < 30; i++) recent.keep('acme', long(String.fromCharCode(97 + i)), read(ALERT), NOW)
  assert.equal(recent.find('acme', long('a'), NOW), null)
  assert.notEqual(recent.find('acme', long(String.fromCharCode(97 + 29)), NOW), null)
})

test('a very long body is not cached', () => {
  const recent = createRecent()
  recent.keep('acme', bytes('x'.repeat(150_000)), read(ALERT), NOW)
  assert.equal(recent.find('acme', bytes('x'.repeat(150_000)), NOW), null)
})

test('bodies with equal checksums are distinguished, and the later one is cached', () => {
  const recent = createRecent()
  const [earlier, later] = [bytes('plumless'), bytes('buckeroo')]
  assert.equal(crc32(earlier), crc32(later))
  recent.keep('acme', earlier, read(ALERT), NOW)
  assert.equal(recent.find('acme', later, NOW), null)
  recent.keep('acme', later, read(ALERT), NOW)
  assert.deepEqual([recent.find('acme', earlier, NOW), recent.find('acme', later, NOW)], [null, read(ALERT)])
})

test('a cached result does not change if the buffer is reused', () => {
  const recent = createRecent()
  const received = bytes('body')
  recent.keep('acme', received, read(ALERT), NOW)
  received.fill(0)
  assert.notEqual(recent.find('acme', bytes('body'), NOW), null)
})
