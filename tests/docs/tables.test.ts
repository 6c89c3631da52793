/**
 * The tables of the documentation that are made from tables of the code. INCMON_UPDATE_GOLDENS=1 writes them anew.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { ROOT } from './pages.ts'
import { TABLES } from './tables.ts'

const UPDATE = process.env.INCMON_UPDATE_GOLDENS === '1'

for (const { page, head, rows } of TABLES)
  test(`${page} has the table of the code: ${head.trim()}`, () => {
    const lines = readFileSync(ROOT + page, 'utf8').split('\n')
    const start = lines.indexOf(head) + 2
    assert.ok(start > 1, 'the page has no such table')
    const length = lines.slice(start).findIndex((line) => !line.trimStart().startsWith('|'))
    const indent = head.slice(0, head.indexOf('|'))
    const wanted = rows.map((cells) => `${indent}| ${cells.map((cell) => cell && `${cell} `).join('| ')}|`)
    if (UPDATE) writeFileSync(ROOT + page, lines.toSpliced(start, length, ...wanted).join('\n'))
    else assert.deepEqual(lines.slice(start, start + length), wanted, 'INCMON_UPDATE_GOLDENS=1 writes the table anew')
  })
