/** Recent intakes: equal bodies of one sender are read once, unless their meaning hangs on the time of receipt. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { READERS } from '../../src/intake/index.ts'
import { createRecent } from '../../src/intake/recent.ts'

const NOW = Date.parse('2026-03-14T02:11:09Z')
const ALERT = { status: 'firing', labels: { alertname: 'CartDown' }, startsAt: '2026-03-14T02:00:00Z' }
const read = (alert: object) => READERS.metrics({ alerts: [alert] }, NOW)

test('a text that is known is found as it was read', () => {
  const recent = createRecent()
  const intake = read(ALERT)
  recent.keep('acme', 'text', intake, NOW)
  assert.equal(recent.find('acme', 'text'), intake)
})

test("a text is its sender's alone", () => {
  const recent = createRecent()
  recent.keep('acme', 'text', read(ALERT), NOW)
  assert.deepEqual([recent.find('charlie', 'text'), recent.find('acme', 'other')], [null, null])
})

for (const [what, alert] of [
  ['without a start', { ...ALERT, startsAt: undefined }],
  ['that starts in the future', { ...ALERT, startsAt: '2026-03-14T03:00:00Z' }],
  ['that ended without saying when', { ...ALERT, status: 'resolved' }],
] as const) {
  test(`an alert ${what} means something else at every receipt, and is not kept`, () => {
    const recent = createRecent()
    recent.keep('acme', 'text', read(alert), NOW)
    assert.equal(recent.find('acme', 'text'), null)
  })
}

test('an intake with a rejected item is not kept: each rejection is kept for people', () => {
  const recent = createRecent()
  recent.keep('acme', 'text', READERS.metrics({ alerts: [ALERT, 7] }, NOW), NOW)
  assert.equal(recent.find('acme', 'text'), null)
})

test('texts beyond what may be kept push the older ones out', () => {
  const recent = createRecent()
  const long = (letter: string) => letter.repeat(100_000)
  for (let i = 0; i < 30; i++) recent.keep('acme', long(String.fromCharCode(97 + i)), read(ALERT), NOW)
  assert.equal(recent.find('acme', long('a')), null)
  assert.notEqual(recent.find('acme', long(String.fromCharCode(97 + 29))), null)
})

test('a text that is very long is read anew', () => {
  const recent = createRecent()
  recent.keep('acme', 'x'.repeat(150_000), read(ALERT), NOW)
  assert.equal(recent.find('acme', 'x'.repeat(150_000)), null)
})
