/** Every link in the documentation works, and every page can be reached from the README. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { PAGES, type Page, pageAt, ROOT, withoutBlocks } from './pages.ts'

type Link = { readonly path: string; readonly anchor: string }

test('no link is dead', () => {
  const dead = PAGES.flatMap((page) => linksOf(page).flatMap((link) => faultOf(page, link)))
  assert.deepEqual(dead, [])
})

test('a dead link is found', () => {
  const page = { path: 'docs/x.md', text: '# X\n\n[a](missing.md), [b](#nowhere), [c](api.md#lists), [d](#x)' }
  const dead = linksOf(page).flatMap((link) => faultOf(page, link))
  assert.deepEqual(dead, ['docs/x.md: missing.md', 'docs/x.md: #nowhere'])
})

test('every row of a table has as many cells as the row before', () => {
  assert.deepEqual(PAGES.flatMap(brokenRows), [])
})

test('a row that lost its line break is found', () => {
  const text = '# X\n\n| a | b |\n|---|---|\n| `x` | 1 | | `y` | 2 |\n'
  assert.deepEqual(brokenRows({ path: 'docs/x.md', text }), ['docs/x.md: | `x` | 1 | | `y` | 2 |'])
})

test('every page can be reached from the README', () => {
  const reached = new Set(['README.md'])
  for (const path of reached) {
    if (path.endsWith('.md')) for (const link of linksOf(pageAt(path))) reached.add(link.path)
  }
  assert.deepEqual(
    PAGES.map(({ path }) => path).filter((path) => !reached.has(path)),
    [],
  )
})

test('the documentation mentions every example', () => {
  const all = PAGES.map(({ text }) => text).join('\n')
  const missing = globSync('*', { cwd: `${ROOT}examples` }).filter((name) => !all.includes(`examples/${name}`))
  assert.deepEqual(missing, ['gitlab-pipeline.json', 'grafana-notification.json'])
})

test('the folder list of the architecture page names only files and folders that exist', () => {
  const { text } = pageAt('docs/architecture.md')
  const map = /## Folders[\s\S]*?```text\n([\s\S]*?)```/.exec(text)?.[1] ?? assert.fail('there is no map')
  const paths = [...map.matchAll(/^(\S+)/gm)].map(([, path = '']) => path)
  assert.deepEqual(
    paths.filter((path) => !existsSync(ROOT + path)),
    [],
  )
  const folders = globSync('src/*/', { cwd: ROOT }).map((folder) => `${folder.replace(/\/$/, '')}/`)
  assert.deepEqual(
    folders.filter((folder) => !paths.includes(folder)),
    [],
  )
})

test('the architecture page names only source files that exist', () => {
  const { text } = pageAt('docs/architecture.md')
  const names = [...text.matchAll(/`(?:\w+\/)*([a-z-]+\.tsx?)`/g)].map(([, name = '']) => name)
  assert.deepEqual(
    names.filter((name) => globSync(`src/**/${name}`, { cwd: ROOT }).length === 0),
    [],
  )
})

test('the index of the rules names every concept, and where to start', () => {
  const index = readFileSync(`${ROOT}src/domain/README.md`, 'utf8')
  const rows = [...index.matchAll(/^\| `(\w+)\/` \| `([\w-]+\.ts)` \|/gm)].map(
    ([, folder, file]) => `${folder}/${file}`,
  )
  assert.deepEqual(
    rows.filter((path) => !existsSync(`${ROOT}src/domain/${path}`)),
    [],
  )
  const folders = globSync('*/', { cwd: `${ROOT}src/domain` }).map((folder) => folder.replace(/\/$/, ''))
  assert.deepEqual(rows.map((path) => path.split('/')[0]).sort(), folders.sort())
})

/** Returns the links to files in the project. `path` is relative to the root. */
function linksOf(page: Page): Link[] {
  return [...withoutBlocks(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].map(
    ([, target = '', anchor = '']) => ({
      path: target === '' ? page.path : normalize(join(dirname(page.path), target)),
      anchor,
    }),
  )
}

function faultOf(from: Page, { path, anchor }: Link): string[] {
  const target = path === from.path ? from : PAGES.find((one) => one.path === path)
  const isThere = target !== undefined || existsSync(ROOT + path)
  if (isThere && (anchor === '' || (target && anchorsOf(target).includes(anchor)))) return []
  const shown = path === from.path ? '' : path.replace('docs/', '')
  return [`${from.path}: ${shown}${anchor && `#${anchor}`}`]
}

/** Returns the anchors that GitHub generates for headings. */
function anchorsOf(page: Page): string[] {
  return [...withoutBlocks(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Returns the rows of tables with another number of cells than the line before, and rows without an end. */
function brokenRows(page: Page): string[] {
  const cells = (line: string) => (/^\s*\|.*\|\s*$/.test(line) ? line.split(/(?<!\\)\|/).length : 0)
  const lines = withoutBlocks(page).split('\n')
  const isBroken = (line: string, index: number) => {
    const before = cells(lines[index - 1] ?? '')
    return /^\s*\|/.test(line)
      ? cells(line) === 0 || (before > 0 && cells(line) !== before)
      : before > 0 && line.trim() !== ''
  }
  return lines.filter(isBroken).map((line) => `${page.path}: ${line.trim()}`)
}
