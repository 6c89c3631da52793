/** Checks the architecture: which layer can import which, and which files use the clock, randomness and settings. */
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

type File = { readonly path: string; readonly text: string }
type Import = { readonly from: string; readonly names: readonly string[] }

/** The layers, packages and Node modules that each layer can import. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  // re2js consists of pure functions: it matches user-supplied regular expressions in linear time.
  domain: ['domain', 're2js'],
  intake: ['intake', 'domain', 'valibot', 'node:zlib'],
  store: [
    ...['store', 'engine', 'domain', 'assets', 'kysely', 'better-sqlite3'],
    ...['node:crypto', 'node:timers', 'node:fs', 'node:path', 'node:sqlite', 'node:url', 'node:zlib'],
  ],
  // The engine accesses the store only through the interface in `engine/store.ts`. The store saves and loads its state.
  engine: ['engine', 'domain', 'node:timers'],
  actions: ['actions', 'engine', 'store', 'domain', 'node:crypto', 'node:timers', 'standardwebhooks'],
  workers: ['workers', 'store', 'domain', 'assets', 'node:worker_threads'],
  server: [
    ...['server', 'engine', 'config', 'settings', 'actions', 'store', 'intake', 'domain', 'notify'],
    ...['node:', 'pino', 'prom-client'],
  ],
  // Watches clusters.
  kubernetes: ['kubernetes', 'engine', 'store', 'intake', 'config', 'domain', 'yaml', 'node:'],
  notify: ['notify', 'config', 'actions', 'store', 'domain', 'node:', 'nodemailer', 'standardwebhooks'],
  http: ['http', 'engine', 'server', 'actions', 'store', 'intake', 'domain', 'assets'].concat([
    'hono',
    'valibot',
    '@valibot',
    '@hono',
  ]),
  web: ['web', 'http', 'engine', 'server', 'actions', 'store', 'intake', 'domain', 'assets', 'hono', 'valibot'],
  // Markup renders only what it receives. If it read the store, it could show a record of another organization.
  markup: ['web', 'domain', 'hono'],
  // Runs in the browser and shares no code with the server.
  client: ['client'],
  // The program as a whole. Only `cli` and `main` import `serve` and `app`.
  app: ['http', 'web', 'server', 'actions', 'store', 'intake', 'domain', 'hono'],
  serve: [
    ...['app', 'http', 'web', 'server', 'workers', 'actions', 'engine', 'store', 'domain', 'assets', 'config', 'node:'],
    'kubernetes',
  ],
  deps: ['actions', 'store', 'domain', 'node:'],
  config: ['settings', 'domain', 'smol-toml', 'node:fs'],
  settings: ['domain', 'node:net'],
  assets: [
    ...['node:child_process', 'node:fs', 'node:os', 'node:path', 'node:sea', 'node:url', 'node:v8'],
    // Passes what the first test thread has loaded to the others.
    ...['node:worker_threads', 'node:zlib'],
  ],
}

/**
 * What http can import from the store: queries, which it passes to `store.read`, and types, except the open database.
 */
const READS = /^(find|list)[A-Z]/
/** Classifies errors without accessing the database, so http can import this file too. */
const FAULTS = '/store/sqlite/fault.ts'

const MAX_LINES = 300
/** At least 70 % of the files have at most this many lines. */
const FEW_LINES = 200
const MAX_FILES = 20

/** The files that use randomness, the clock and settings. All others receive them as arguments. */
const WORLD: readonly { readonly what: RegExp; readonly only: RegExp }[] = [
  {
    what: /\bDate\.now\b|\bnew Date\(\s*\)|\brandomUUID|\bMath\.random\b/,
    only: /^(deps|serve)\.ts$|^cli\/|^client\/|^server\/(signals|welcome|connection\/port)\.ts$/,
  },
  { what: /\bprocess\.env\b/, only: /^config\.ts$/ },
  // Untrusted text reaches the terminal only through one function. Completion scripts and backups are not untrusted.
  {
    what: /process\.std(?:out|err)\.write\(/,
    only: /^cli\/(output|completion|commands\/serve)\.ts$|^server\/(log|signals)\.ts$/,
  },
  { what: /\bimport\.meta\b|\bisSea\b/, only: /^assets\.ts$/ },
  { what: /\bnew SQLite\b/, only: /^store\/sqlite\/driver\.ts$/ },
]

/**
 * SQL that only SQLite supports or that it interprets in its own way. docs/architecture.md lists the files that contain
 * it.
 */
const ONLY_SQLITE = new RegExp(
  [
    ...['better-sqlite3', '\\bSqlite[A-Z]', '\\bpragma\\b', '\\bVACUUM\\b', '\\bBEGIN IMMEDIATE\\b', '\\bsqlite_\\w+'],
    ...['\\bjson_\\w+\\(', '\\bSTRICT\\b', '\\browid\\b', '\\bINSERT OR\\b', '\\bINDEXED BY\\b', '\\bMATCH\\b'],
    ...['\\b(?:strftime|julianday|unixepoch|instr|iif|printf)\\(', '\\b(?:GLOB|LIKE)\\b', "'(?:i?like|glob)'"],
    // The two-argument `max`, which other databases call `greatest`, and a `+` before a column, a hint for SQLite's
    // planner.
    ...["\\bfn(?:<[^>]*>)?\\(\\s*'(?:max|min)'", '`\\+\\w'],
  ].join('|'),
)

const IMPORT =
  /\b(?:import|export)\s+(type\s+)?([^'"`;()]*?)\s*from\s*['"]([^'"]+)['"]|\bimport\s*\(?\s*['"]([^'"]+)['"]/g

test('src/ follows the rules', () => {
  assert.deepEqual(violations(sources()), [])
})

test('Folders import each other in one direction', () => {
  assert.deepEqual(
    circles([
      { path: 'a/x.ts', text: "import '../b/x.ts'" },
      { path: 'b/x.ts', text: "import type { A } from '../a/x.ts'" },
    ]),
    [['a', 'b']],
  )
  assert.deepEqual(circles(sources()), [])
})

test('No file has more than 300 lines, and no folder more than 20 files', () => {
  const root = new URL('../src/', import.meta.url)
  const paths = globSync('**/*.{ts,tsx,css}', { cwd: root })
  const lines = (path: string) => readFileSync(new URL(path, root), 'utf8').split('\n').length - 1
  const full = [...Map.groupBy(paths, dirname)].filter(([, files]) => files.length > MAX_FILES)
  assert.deepEqual([paths.filter((path) => lines(path) > MAX_LINES), full.map(([folder]) => folder)], [[], []])
  const short = paths.filter((path) => lines(path) <= FEW_LINES)
  assert.ok(short.length >= 0.7 * paths.length, `only ${short.length} of ${paths.length} files are short`)
})

test('Every file that contains tests is named *.test.ts', () => {
  const root = new URL('../', import.meta.url)
  const called = globSync('{src,tests,examples}/**/*.{ts,tsx,mts,js,mjs}', { cwd: root }).filter((path) => {
    const isCalledLikeOne = /[._](?:tests?|spec)\.\w+$/.test(path)
    return isCalledLikeOne || /^(?:test|suite|describe|it)\(/m.test(readFileSync(new URL(path, root), 'utf8'))
  })
  assert.ok(called.length > 100)
  assert.deepEqual(
    called.filter((path) => !/^tests\/.+\.test\.ts$/.test(path)),
    [],
  )
})

test('SQL that only SQLite understands occurs only in the files listed in docs/architecture.md', () => {
  const page = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8')
  const [, section = ''] = /## SQL that only SQLite understands\n([\s\S]*?)(?:\n## |$)/.exec(page) ?? []
  const named = [...section.matchAll(/`src\/([\w/]+)\/\{?([\w,-]+)\}?\.ts`/g)].flatMap(([, folder = '', names = '']) =>
    names.split(',').map((name) => `${folder}/${name}.ts`),
  )
  assert.deepEqual(onlySqlite(sources()), named.sort())
})

for (const text of [
  'db.pragma("user_version")',
  'sql`(SELECT value FROM json_each(:names))`',
  'const text = "INSERT OR IGNORE INTO events VALUES (1)"',
  "eb.fn('max', [a, b])",
  'query.where(sql`+organization_id`, "=", 1)',
  "query.where('name', 'like', 'a%')",
  'sql`CREATE TABLE t (a INTEGER) STRICT`',
]) {
  test(`${text} is recognized as specific to SQLite`, () => assert.deepEqual(onlySqlite([{ path: 'x', text }]), ['x']))
}

test('Portable SQL and text in comments are not', () => {
  const text = "// a pragma\nquery.where('name', '=', name).onConflict((one) => one.doNothing()).returning('id')"
  assert.deepEqual(onlySqlite([{ path: 'x', text }]), [])
})

for (const [path, text, violation] of [
  ['domain/alert.ts', "import { hash } from 'node:crypto'", 'domain/alert.ts imports node:crypto'],
  ['domain/alert.ts', "import * as v from 'valibot'", 'domain/alert.ts imports valibot'],
  ['domain/alert.ts', "import type { Db } from '../store/open.ts'", 'domain/alert.ts imports store'],
  ['intake/ci.ts', "import { open } from '../store/open.ts'", 'intake/ci.ts imports store'],
  ['store/alerts.ts', "import { serve } from '../serve.ts'", 'store/alerts.ts imports serve'],
  ['server/port.ts', "import type { CommandError } from '../cli/failure.ts'", 'server/port.ts imports cli'],
  ['settings.ts', "import { isCidr } from './server/addresses.ts'", 'settings.ts imports server'],
  ['serve.ts', "import { runDemo } from './cli/demo/demo.ts'", 'serve.ts imports cli'],
  ['http/alerts.ts', "import { page } from '../web/routes.ts'", 'http/alerts.ts imports web'],
  ['store/alerts.ts', "import '../actions/alerts.ts'", 'store/alerts.ts imports actions'],
  ['actions/alerts.ts', "import { Hono } from 'hono'", 'actions/alerts.ts imports hono'],
  ['actions/alerts.ts', "const x = await import('../http/route.ts')", 'actions/alerts.ts imports http'],
  [
    'http/alerts.ts',
    "import { insertAlert } from '../store/alerts.ts'",
    'http/alerts.ts uses insertAlert of the store',
  ],
  ['http/alerts.ts', "import * as store from '../store/alerts.ts'", 'http/alerts.ts uses * as store of the store'],
  ['http/alerts.ts', "import type { Db } from '../store/sqlite/open.ts'", 'http/alerts.ts imports store/sqlite'],
  ['engine/engine.ts', "import type { Db } from '../store/sqlite/open.ts'", 'engine/engine.ts imports store'],
  ['http/alerts.ts', "import { READS } from '../workers/reads.ts'", 'http/alerts.ts imports workers'],
  ['http/alerts.ts', "import { readFileSync } from 'node:fs'", 'http/alerts.ts imports node:fs'],
  ['web/a/page.tsx', "import { findAlert } from '../../store/alerts.ts'", 'web/a/page.tsx imports store'],
  ['web/a/page.tsx', "import { ROUTES } from '../../http/route.ts'", 'web/a/page.tsx imports http'],
  ['odd/x.ts', "import { x } from './y.ts'", 'odd/x.ts is in no layer'],
  ['domain/clock/clock.ts', 'const now = Date.now()', 'domain/clock/clock.ts: Date.now'],
  ['http/app.ts', 'const now = new Date( )', 'http/app.ts: new Date( )'],
  ['actions/x.ts', 'const id = crypto.randomUUIDv7()', 'actions/x.ts: randomUUID'],
  ['store/x.ts', 'if (Math.random() < 0.5) retry()', 'store/x.ts: Math.random'],
  ['cli/cli.ts', 'const home = process.env.HOME', 'cli/cli.ts: process.env'],
  ['cli/cli.ts', "readFileSync(new URL('../x', import.meta.url))", 'cli/cli.ts: import.meta'],
  ['store/backup.ts', 'const copy = new SQLite(file)', 'store/backup.ts: new SQLite'],
] as const) {
  test(`${violation} is found`, () => assert.deepEqual(violations([{ path, text }]), [violation]))
}

for (const [path, text] of [
  ['domain/alert.ts', "import { worst } from './severity.ts'"],
  ['domain/alert.ts', 'const day = new Date(ms) // not Date.now()'],
  ['http/alerts.ts', "import { type AlertRecord, findAlert } from '../store/alerts.ts'"],
  ['http/alerts.ts', "import type { AlertRecord } from '../store/alerts.ts'"],
  ['store/open.ts', "import { Migrator } from 'kysely/migration'"],
  ['serve.ts', "import { createApp } from './app.ts'\nconst now = Date.now"],
  ['cli/commands/serve.ts', 'const id = randomUUIDv7()'],
  ['config.ts', 'const { INCMON_PORT } = process.env'],
] as const) {
  test(`${path} may say ${JSON.stringify(text)}`, () => assert.deepEqual(violations([{ path, text }]), []))
}

/**
 * Returns the folders that import each other in a circle, types included: one list per circle. A folder may import files
 * directly in the folder around it.
 */
function circles(files: readonly File[]): string[][] {
  const targets = new Map<string, Set<string>>()
  for (const { path, text } of files) {
    const found = importsOf(withoutComments(text)).filter(({ from }) => from.startsWith('.'))
    const folders = found
      .map(({ from }) => folderOf(join(path, '..', from)))
      .filter((one) => !path.startsWith(`${one}/`))
    targets.set(folderOf(path), new Set([...(targets.get(folderOf(path)) ?? []), ...folders]))
  }
  const reached = new Map([...targets.keys()].map((folder) => [folder, reachableFrom(folder, targets)]))
  const circular = [...targets.keys()].filter((folder) => reached.get(folder)?.has(folder)).sort()
  const circleOf = (one: string) => circular.filter((two) => reached.get(one)?.has(two) && reached.get(two)?.has(one))
  return [...new Map(circular.map((one) => [circleOf(one).join(), circleOf(one)])).values()]
}

function reachableFrom(folder: string, targets: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set(targets.get(folder))
  for (const one of reached) for (const next of targets.get(one) ?? []) reached.add(next)
  return reached
}

/** Returns the folder of a file, or the file itself if it is directly in src/. */
function folderOf(path: string): string {
  return path.includes('/') ? dirname(path) : path
}

/** Returns the files that contain SQL specific to SQLite. */
function onlySqlite(files: readonly File[]): string[] {
  return files
    .filter(({ text }) => ONLY_SQLITE.test(withoutComments(text)))
    .map(({ path }) => path)
    .sort()
}

/** Returns one line per violation. Paths are relative to src/. */
function violations(files: readonly File[]): string[] {
  return files.flatMap(({ path, text }) => {
    const code = withoutComments(text)
    return [...importFaults(path, importsOf(code)), ...worldFaults(path, code)]
  })
}

function importFaults(path: string, imports: readonly Import[]): string[] {
  const layer = isMarkup(path) ? 'markup' : layerOf(path)
  if (['main', 'cli'].includes(layer)) return []
  const allowed = MAY_IMPORT[layer]
  if (!allowed) return [`${path} is in no layer`]
  return imports.flatMap(({ from, names }) => {
    const target = from.startsWith('.') ? layerOf(join(path, '..', from)) : from
    if (!allowed.some((one) => target === one || target.startsWith(one.endsWith(':') ? one : `${one}/`)))
      return [`${path} imports ${target}`]
    if (target !== 'store' || !['http', 'web'].includes(layer) || from.endsWith(FAULTS)) return []
    if (from.includes('/store/sqlite/')) return [`${path} imports store/sqlite`]
    return names.filter((name) => !READS.test(name)).map((name) => `${path} uses ${name} of the store`)
  })
}

function worldFaults(path: string, code: string): string[] {
  return WORLD.flatMap(({ what, only }) => {
    const found = only.test(path) ? null : what.exec(code)
    return found ? [`${path}: ${found[0]}`] : []
  })
}

/** Only imported values count. Types have no effect at run time. */
function importsOf(code: string): Import[] {
  return [...code.matchAll(IMPORT)].map(([, type, clause = '', from, bare]) => ({
    from: from ?? bare ?? '',
    names: type ? [] : namesIn(clause),
  }))
}

function namesIn(clause: string): string[] {
  const names = clause.replace(/[{}]/g, ',').split(',')
  return names.map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith('type '))
}

/** In src/web, the routes read the store. Every other file with JSX is markup. */
function isMarkup(path: string): boolean {
  return /^web\/(?!.*routes\.tsx$|visit\/).*\.tsx$/.test(path)
}

function layerOf(path: string): string {
  const [layer = ''] = path.replace(/\.tsx?$/, '').split('/')
  return layer
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
}

function sources(): File[] {
  const root = new URL('../src/', import.meta.url).pathname
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
  assert.ok(names.length > 20, 'src/ holds hardly any file: are the tests run from a whole checkout?')
  return names.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** The files that read sentences of other programs: of Kubernetes and senders, SQLite, Linux and libraries. */
const READS_SENTENCES = [
  ...['domain/event/', 'domain/suspect/', 'domain/postmortem/actions.ts', 'domain/postmortem/ends.ts', 'intake/'],
  ...['store/sqlite/inspect.ts', 'server/connection/connections.ts', 'domain/silence/matcher.ts', 'assets.ts'],
  ...['domain/placeholder.ts', 'domain/service/service.ts', 'web/incident/data.ts', 'cli/plain-command.ts'],
  // These replace the times, or the commands, of any sentence.
  ...['domain/shown-time.ts', 'web/incident/timeline.tsx', 'cli/output.ts'],
]

test('Only the files that read the texts of other programs search for words in a text', () => {
  const root = new URL('../src/', import.meta.url)
  const found = globSync('**/*.{ts,tsx}', { cwd: root.pathname }).filter((path) =>
    readsSentence(readFileSync(new URL(path, root), 'utf8')),
  )
  const others = found.filter((path) => !READS_SENTENCES.some((start) => path.startsWith(start)))
  assert.deepEqual(others, [])
})

for (const [code, isRead] of [
  ["text.startsWith('while ') && text.endsWith(' was firing')", true],
  ['if (/; it (?:succeeded|failed) before$/.test(text)) return', true],
  ['const AGE = / for \\d+ min ago/', true],
  ["ref.startsWith('alert/')", false],
  ["names.join(' and ')", false],
  ['// text.endsWith(" no longer applies")', false],
  ['text.split(/\\s+/)', false],
] as const)
  test(`${code} ${isRead ? 'searches' : 'does not search'} for words`, () => assert.equal(readsSentence(code), isRead))

/** Returns whether code searches for two words, or for a word and a space. */
function readsSentence(code: string): boolean {
  const plain = code.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
  const calls =
    /\.(?:startsWith|endsWith|includes|replace|replaceAll|split|indexOf)\(\s*['"`](?:[^'"`]*[a-z] [a-z]|[a-z]+ ['"`]| [a-z]+['"`])/
  return (
    calls.test(plain) ||
    /(?:[=(,:[?]|^|return)\s*\/(?![/*])[^/\n]*[a-z)] [a-z(][^/\n]*\/[a-z]*(?:[.,;)\]\s]|$)/m.test(plain)
  )
}
