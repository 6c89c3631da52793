/** Fingerprints: the same hash as in Prometheus, compared with its definition. */

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { digest, labelFingerprint } from '../../src/domain/event/fingerprint.ts'

test('The fingerprint of no labels is the offset basis', () => {
  assert.equal(labelFingerprint({}), 'cbf29ce484222325')
})

test('A fingerprint equals what Alertmanager sends for the same labels', () => {
  assert.equal(labelFingerprint({ job: 'noalertname', severity: 'info' }), '8b1d776f194081f9')
})

test('The order of the labels does not matter', () => {
  assert.equal(labelFingerprint({ a: '1', b: '2' }), labelFingerprint({ b: '2', a: '1' }))
})

test('A name and its value are separated', () => {
  assert.notEqual(labelFingerprint({ ab: 'c' }), labelFingerprint({ a: 'bc' }))
})

test('Names are sorted by bytes as in Go, not by UTF-16 units', () => {
  const labels = { '\u{1f600}': 'x', '\uff5e': 'y' }
  assert.equal(labelFingerprint(labels), reference(['\uff5e', 'y', '\u{1f600}', 'x']))
})

test('A label named __proto__ is included', () => {
  assert.notEqual(labelFingerprint(JSON.parse('{"__proto__":"x"}')), labelFingerprint({}))
})

test('A fingerprint equals the reference for any labels', () => {
  const labels = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(labels, (any) => {
      const names = Object.keys(any).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      assert.equal(labelFingerprint(any), reference(names.flatMap((name) => [name, any[name] ?? ''])))
    }),
  )
})

test('A digest equals the reference for any parts', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (parts) => {
      assert.equal(digest(...parts), reference(parts))
    }),
  )
})

test('A digest depends on the order and boundaries of its parts', () => {
  assert.equal(new Set([digest('a', 'b'), digest('b', 'a'), digest('ab'), digest('ab', ''), digest()]).size, 5)
})

/** FNV-1a 64 as defined, using BigInt. */
function reference(parts: readonly string[]): string {
  let hash = 0xcbf29ce484222325n
  for (const part of parts) {
    for (const byte of [...Buffer.from(part), 0xff]) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  }
  return hash.toString(16).padStart(16, '0')
}
