/** The licences of all that the executable contains: each part has a text that must go with it. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Up to and with the name of the innermost package that a file belongs to. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/
/** Compiled into the addon of SQLite, besides SQLite itself. */
const COMPILED = ['node_modules/node-addon-api']
/** What SQLite has in the place of a licence, at the head of each file. */
const BLESSING = /^\*\* (The author disclaims copyright[\s\S]*?)\n\*{9}/m

/**
 * `{ name, version, license, text }` of each part, by name; `license` as SPDX calls it, `text` '' where a part has none.
 * @param parts.root the checkout
 * @param parts.metafile what esbuild says of the bundle
 * @param parts.node the path of Node
 * @param parts.sqlite the version of SQLite
 */
export function collectLicenses({ root, metafile, node, sqlite }) {
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs))
  const bundled = new Set(files.flatMap((file) => PACKAGE.exec(file)?.[0] ?? []))
  const packages = [...bundled, ...COMPILED].map((path) => partIn(join(root, path)))
  const ofNode = { ...partIn(dirname(dirname(realpathSync(node)))), name: 'Node.js' }
  const ofSqlite = { name: 'SQLite', version: sqlite, license: 'blessing', text: blessingIn(root) }
  return [...packages, ofNode, ofSqlite, gitleaksIn(root)].sort((a, b) =>
    a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1,
  )
}

function partIn(directory) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const texts = readdirSync(directory).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
  const text = texts.map((file) => readFileSync(join(directory, file), 'utf8').trim()).join('\n\n')
  return { name, version, license, text: text === '' ? textOfRepository(name) : text }
}

/** Some packages leave their licence in their repository. A copy of its text is in `licenses/`. */
function textOfRepository(name) {
  const file = new URL(`licenses/${name}.txt`, import.meta.url)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
}

/** The rules from which src/intake/gitleaks/rules.ts is made. */
function gitleaksIn(root) {
  const directory = join(root, 'src/intake/gitleaks')
  const [, version] = /GITLEAKS_VERSION = '([^']+)'/.exec(readFileSync(join(directory, 'rules.ts'), 'utf8')) ?? []
  return {
    name: 'gitleaks rules',
    version,
    license: 'MIT',
    text: readFileSync(join(directory, 'LICENSE'), 'utf8').trim(),
  }
}

function blessingIn(root) {
  const header = readFileSync(join(root, 'node_modules/better-sqlite3/deps/sqlite3/sqlite3.h'), 'utf8')
  return (BLESSING.exec(header)?.[1] ?? '').replace(/^\*\* ?/gm, '').trim()
}
