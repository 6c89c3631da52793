/**
 * Collects the licenses of everything in the executable. Each component has a text that must be distributed with it.
 */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Matches a path up to and including the innermost package name. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/
/** Packages compiled into the SQLite addon, in addition to SQLite itself. */
const COMPILED = ['node_modules/node-addon-api']
/** The text that SQLite has in place of a license, at the top of each file. */
const BLESSING = /^\*\* (The author disclaims copyright[\s\S]*?)\n\*{9}/m

/**
 * Returns `{ name, version, license, text }` for each component, sorted by name. `license` is the SPDX identifier;
 * `text` is '' if there is none.
 * @param parts.root the checkout
 * @param parts.metafile esbuild's metafile of the bundle
 * @param parts.node the path of Node
 * @param parts.sqlite the SQLite version
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

/** Some packages include the license only in their repository. `licenses/` contains copies of these texts. */
function textOfRepository(name) {
  const file = new URL(`licenses/${name}.txt`, import.meta.url)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
}

/** The rules from which src/intake/gitleaks/rules.ts is generated. */
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
