/** Trusted networks in the notation that administrators use. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trusting } from '../../src/server/connection/addresses.ts'
import { isCidr } from '../../src/settings.ts'

for (const network of ['10.0.0.0/8', '192.0.2.1', '192.0.2.1/32', 'fd00::/8', '::1', '0.0.0.0/0']) {
  test(`${network} is a network`, () => assert.equal(isCidr(network), true))
}

for (const word of ['', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0/8', '10.0.0.0/8/8', '10.0.0.0/-1', 'localhost']) {
  test(`${JSON.stringify(word)} is not a network`, () => assert.equal(isCidr(word), false))
}

test('only addresses within the networks are trusted', () => {
  const isTrusted = trusting(['10.0.0.0/8', '192.0.2.1', 'fd00::/8'])
  const asked = ['10.255.0.1', '192.0.2.1', 'fd12::1', '11.0.0.1', '192.0.2.2', 'fe80::1', '', 'unknown']
  assert.deepEqual(asked.map(isTrusted), [true, true, true, false, false, false, false, false])
})

test('without networks no proxy is trusted', () => {
  assert.equal(trusting([])('127.0.0.1'), false)
})
