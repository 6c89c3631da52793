/** The README is short, and its diagram is up to date and readable. */
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
// @ts-expect-error a script without types
import { drawOverview, THEMES } from '../../docs/overview.mjs'
import { pageAt, ROOT } from './pages.ts'

const lines = pageAt('README.md').text.trimEnd().split('\n')

test('the README has at most 120 lines', () => {
  assert.ok(lines.length <= 120, `${lines.length} lines`)
})

test('the README has no long line and no long table', () => {
  assert.deepEqual(
    lines.filter((line) => line.length > 120),
    [],
  )
  const tables = lines.join('\n').match(/(^\|.*\n)+/gm) ?? []
  for (const table of tables) assert.ok(table.trim().split('\n').length <= 12, table)
})

test('each picture of the README exists and is at most 200 kB', () => {
  const paths = [...lines.join('\n').matchAll(/(?:src|srcset)="([^"]+)"/g)].map(([, path = '']) => path)
  assert.equal(paths.length, 2)
  for (const path of paths) assert.ok(statSync(ROOT + path).size <= 200_000, path)
})

test('the diagram is what its script draws', () => {
  assert.equal(readFileSync(`${ROOT}docs/overview.svg`, 'utf8'), drawOverview(), 'run: node docs/overview.mjs')
})

for (const [theme, colours] of Object.entries<Record<string, string>>(THEMES)) {
  for (const [text, background] of [
    ['title', 'box'],
    ['text', 'box'],
    ['accent', 'box'],
  ] as const) {
    test(`the ${text} of the ${theme} diagram has enough contrast`, () => {
      assert.ok(contrast(String(colours[text]), String(colours[background])) >= 4.5)
    })
  }
}

/** Returns the contrast ratio as defined by WCAG 2. */
function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((start) => {
    const value = Number.parseInt(colour.slice(start, start + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
