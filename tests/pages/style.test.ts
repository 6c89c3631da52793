/** The style sheet and the layout: contrast of all colors, size, and how the layout wraps a page. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { webTexts } from '../../src/assets.ts'
import { withPrefix } from '../../src/web/kit/layout.tsx'
import { symbolsFor } from '../../src/web/kit/symbols.ts'

const TOKENS = readFileSync(new URL('../../src/web/style/tokens.css', import.meta.url), 'utf8')
const THEMES = ['light', 'dark'] as const
const PAGE = ['bg', 'surface', 'sunken']
const TEXTS = ['ink', 'ink-2', 'ink-3', 'accent', 'change', 'crit-ink', 'err-ink', 'warn-ink', 'ok-ink', 'info-ink']
const MARKS = ['crit', 'err', 'warn', 'ok', 'info', 'none', 'control', 'change-line', 'focus']

for (const [index, theme] of THEMES.entries()) {
  test(`every text color has a contrast of at least 4.5 in the ${theme} theme`, () => {
    const pairs = TEXTS.flatMap((text) => PAGE.map((page) => [text, page] as const))
    assert.deepEqual(tooFaint(pairs, index, 4.5), [])
  })

  test(`every mark and field border has a contrast of at least 3 in the ${theme} theme`, () => {
    const pairs = MARKS.flatMap((mark) => ['bg', 'surface'].map((page) => [mark, page] as const))
    assert.deepEqual(tooFaint(pairs, index, 3), [])
  })

  test(`every level is readable on its own tint in the ${theme} theme`, () => {
    const levels = ['crit', 'err', 'warn', 'ok', 'info'].map((level) => [`${level}-ink`, `${level}-tint`] as const)
    assert.deepEqual(tooFaint([...levels, ['accent', 'accent-tint']], index, 4.5), [])
  })
}

test('the style sheet is at most 45 kB, and 11 kB compressed', () => {
  const { style } = webTexts()
  assert.ok(Buffer.byteLength(style) <= 45_000, `${Buffer.byteLength(style)} bytes`)
  assert.ok(gzipSync(style).length <= 11_000)
})

test('the script is at most 12 kB, and 6 kB compressed', () => {
  const { script } = webTexts()
  assert.ok(Buffer.byteLength(script) <= 12_000, `${Buffer.byteLength(script)} bytes`)
  assert.ok(gzipSync(script).length <= 6_000)
})

test('the themes differ only in colors, so that the layout is the same in both', () => {
  const { style } = webTexts()
  assert.doesNotMatch(style, /prefers-color-scheme/)
  const themed = [...style.matchAll(/[^{}]*data-theme[^{}]*\{([^{}]*)\}/g)].map(([, rules = '']) => rules)
  assert.deepEqual(themed.length, 2)
  for (const rules of themed) assert.match(rules, /^\s*color-scheme:\s*(light|dark);?\s*$/)
  for (const [, value = ''] of style.matchAll(/light-dark\(([^()]*)\)/g)) {
    assert.match(value, /^\s*(#[\da-f]{3,8}|\w+)\s*,\s*(#[\da-f]{3,8}|\w+)\s*$/i)
  }
})

test('every color is a custom property of the themes', () => {
  const files = ['base', 'layout', 'forms', 'tables'].map((name) => `../../src/web/style/${name}.css`)
  for (const file of files) {
    const text = readFileSync(new URL(file, import.meta.url), 'utf8').replace(/@media print[\s\S]*/, '')
    assert.equal(/#[\da-f]{3,8}\b|rgba?\(/i.exec(text)?.[0], undefined, file)
  }
})

test('a page contains only the symbols that it uses', () => {
  const drawn = symbolsFor('<use href="#i-branch"/><use href="#m-critical"/><use href="#i-nothing"/>')
  const ids = [...drawn.matchAll(/<symbol id="([^"]+)"/g)].map(([, id]) => id)
  assert.deepEqual([ids, symbolsFor('<p>none</p>')], [['i-branch', 'm-critical'], ''])
})

test('a path prefix is added only to URLs on this server', () => {
  const page = '<a href="/alerts"></a><a href="//x.org"></a><a href="#main"></a><a href="https://x.org/"></a>'
  const moved = '<a href="/mon/alerts"></a><a href="//x.org"></a><a href="#main"></a><a href="https://x.org/"></a>'
  assert.deepEqual([withPrefix(page, '/mon'), withPrefix(page, '')], [moved, page])
})

/** Returns the pairs whose contrast (WCAG 2) is below `least`. `index` 0 is the light theme. */
function tooFaint(pairs: readonly (readonly [string, string])[], index: number, least: number): string[] {
  return pairs.flatMap(([over, under]) => {
    const [a = 0, b = 0] = [luminance(colour(over, index)), luminance(colour(under, index))].sort((x, y) => y - x)
    const ratio = (a + 0.05) / (b + 0.05)
    return ratio < least ? [`${over} on ${under}: ${ratio.toFixed(2)}`] : []
  })
}

function colour(name: string, index: number): string {
  const [, light = '', dark = ''] =
    new RegExp(`--${name}: light-dark\\((#[\\da-f]{6}), (#[\\da-f]{6})\\)`).exec(TOKENS) ?? []
  assert.ok(light, `no colour --${name}`)
  return index === 0 ? light : dark
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
