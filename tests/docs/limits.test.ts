/** docs/operations.md lists every limit. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { BUDGETS, type Budget } from '../../src/domain/budgets.ts'

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
