/** The fingerprints of most live alerts are derived from the alert, so that they take no memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fingerprint, fingerprintsOf, withoutDerived } from '../../src/domain/alert/fingerprints.ts'

const alert = { fingerprint: 'f1', startsAt: 5 }
const first: Fingerprint = { fingerprint: 'f1', startedAt: 5, ended: false }

test('an alert with only its first fingerprint needs no list', () => {
  assert.equal(withoutDerived(alert, [first]), null)
  assert.deepEqual(fingerprintsOf(alert, null), [first])
})

const listed: readonly (readonly [why: string, fingerprints: readonly Fingerprint[]])[] = [
  ['that has ended', [{ ...first, ended: true }]],
  ['that started at another time than the alert', [{ ...first, startedAt: 7 }]],
  ['of a restarted exporter', [{ ...first, fingerprint: 'f2' }]],
  ['that is followed by another one', [first, { ...first, fingerprint: 'f2' }]],
]
for (const [why, fingerprints] of listed) {
  test(`a fingerprint ${why} is kept in a list`, () => {
    assert.equal(withoutDerived(alert, fingerprints), fingerprints)
    assert.equal(fingerprintsOf(alert, fingerprints), fingerprints)
  })
}
