/** Misspelled field and parameter names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { misspelled } from '../../src/domain/suggestion.ts'

const KNOWN = ['page', 'limit', 'from', 'to', 'q', 'status', 'severity', 'serviceId', 'startedAt', 'name']

const MISSPELLED: readonly (readonly [string, string])[] = [
  ['statsu', 'status'],
  ['Status', 'status'],
  ['service_id', 'serviceId'],
  ['serviceID', 'serviceId'],
  ['service', 'serviceId'],
  ['form', 'from'],
  ['limits', 'limit'],
  ['severty', 'severity'],
  ['pgae', 'page'],
]

for (const [name, known] of MISSPELLED) {
  test(`${name} is a misspelling of ${known}`, () => assert.equal(misspelled(name, KNOWN), known))
}

const OTHERS = [
  'status',
  'state',
  'sort',
  'createdAt',
  'p',
  'x',
  'id',
  'namespace',
  'offset',
  'utm_source',
  '',
  '__proto__',
]

for (const name of OTHERS) {
  test(`${JSON.stringify(name)} is not a misspelling`, () => assert.equal(misspelled(name, KNOWN), null))
}

test('a long name is not compared', () => {
  assert.equal(misspelled('status'.repeat(100_000), KNOWN), null)
})
