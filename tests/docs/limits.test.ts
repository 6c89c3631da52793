/** docs/operations.md lists every limit, and the setting `limits` changes some of them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { BUDGETS, type Budget } from '../../src/domain/budgets.ts'
import { DEFAULT_LIMITS, isLimit, LIMIT_NAMES, limitsFrom } from '../../src/domain/limits.ts'

const PAGE = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')

test('the table of limits in docs/operations.md has a row for every limit, with its value', () => {
  const rows = Object.values(BUDGETS).map(
    ({ scope, what, value, unit, effect }: Budget) =>
      `| ${scope} | ${what} | ${value.toLocaleString('en')} ${unit} | ${effect} |`,
  )
  const [, section = ''] = /## Limits\n([\s\S]*?)\n## /.exec(PAGE) ?? []
  assert.deepEqual(
    section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| for ')),
    rows,
  )
})

test('docs/operations.md names the limits that the setting limits can change', () => {
  const [, text = ''] = /The\s+setting\s+`limits` can change ([\s\S]*?)\./.exec(PAGE) ?? []
  assert.deepEqual(
    [...text.matchAll(/`([\w-]+)`/g)].map(([, name]) => name),
    LIMIT_NAMES,
  )
})

test('the setting limits changes the named limits and keeps the others', () => {
  assert.deepEqual(limitsFrom(['live-alerts=7']), { ...DEFAULT_LIMITS, 'live-alerts': 7 })
  assert.deepEqual(limitsFrom([]), DEFAULT_LIMITS)
})

for (const item of [
  'live-alerts',
  'live-alerts=',
  'live-alerts=0',
  'live-alerts=-1',
  'live-alerts=1e9',
  'unsent-bytes=1',
  'x=1',
])
  test(`${item} is not a valid limit`, () => assert.equal(isLimit(item), false))
