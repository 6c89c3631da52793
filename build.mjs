/** Builds incmon as a single executable that contains Node, the program, SQLite and the migrations. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { collectLicenses } from './licenses.mjs'

const ROOT = dirname(fileURLToPath(import.meta.url))
const NATIVE = `${process.platform}-${process.arch}`

/**
 * The targets, each with a program that can strip it on another architecture, and the package that provides this
 * program.
 */
const TARGETS = {
  'linux-x64': { strip: ['x86_64-linux-gnu-strip', 'llvm-strip'], package: 'binutils-x86-64-linux-gnu' },
  'linux-arm64': { strip: ['aarch64-linux-gnu-strip', 'llvm-strip'], package: 'binutils-aarch64-linux-gnu' },
}

/**
 * The entry points of the bundles, by output name. `main` is the program. Each worker becomes the asset
 * `workers/<name>.cjs`.
 */
const ENTRIES = {
  main: 'src/main.ts',
  'workers/checkpoint': 'src/workers/checkpoint.ts',
  'workers/read': 'src/workers/read.ts',
}

/** The files that web pages load, by the names used in `assets.ts`. */
const WEB = { style: 'src/web/style/index.css', script: 'src/client/main.ts' }

/** Marks where postject injects the program into Node. The marker is the same in every version of Node. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** An error that is printed on one line. Exit code 2 means incorrect usage, as in all incmon commands. */
class BuildError extends Error {
  constructor(message, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
try {
  await run()
} catch (error) {
  if (!(error instanceof BuildError)) throw error
  process.stderr.write(`build: ${error.message}\n`)
  process.exitCode = error.exitCode
}

async function run() {
  const options = readOptions(process.argv.slice(2))
  if (options.licenses) process.stdout.write(JSON.stringify(licensesOf(await bundle())))
  else if (options.web) process.stdout.write(JSON.stringify((await bundleWeb()).texts))
  else await make(targetOf(options))
}

async function make(target) {
  const began = performance.now()
  const out = join(ROOT, 'dist', target === NATIVE ? 'incmon' : `incmon-${target}`)
  mkdirSync(dirname(out), { recursive: true })
  const work = temporaryIn(dirname(out))
  const node = join(work, 'incmon')
  copyFileSync(nodeFor(target), node)
  chmodSync(node, 0o755)
  tell('stripping the symbols of Node')
  strip(node, target)
  tell('bundling the program')
  const licenses = licensesOf(await bundle(work))
  tell('injecting the program into Node')
  inject(node, blobOf(work, target, licenses))
  // Renaming is atomic, and a process running from the old file keeps running.
  renameSync(node, out)
  const size = Math.round(statSync(out).size / 1e6)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  tell('')
  process.stdout.write(`built ${out.slice(ROOT.length + 1)} for ${target}: ${size} MB in ${seconds} s\n`)
}

/** Creates a temporary directory that is deleted when this process exits, even after Ctrl-C. */
function temporaryIn(directory) {
  const made = mkdtempSync(join(directory, '.build-'))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  return made
}

function targetOf({ target = NATIVE }) {
  const known = Object.keys(TARGETS)
  if (known.includes(target)) return target
  throw new BuildError(`nothing can be built for ${target}: --target is one of ${known.join(', ')}`, 2)
}

function readOptions(args) {
  try {
    return parseArgs({
      args,
      options: { target: { type: 'string' }, licenses: { type: 'boolean' }, web: { type: 'boolean' } },
    }).values
  } catch (error) {
    throw new BuildError(
      `${error.message}; usage: node build.mjs [--target ${Object.keys(TARGETS).join('|')}] [--licenses|--web]`,
      2,
    )
  }
}

/**
 * Returns the path of Node for the target. It must be the same version as the builder's, because the blob format can
 * change.
 */
function nodeFor(target) {
  const name = `node-${target}`
  const locked = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages[`node_modules/${name}`]
  const ours = execFileSync(builder(), ['--version'], { encoding: 'utf8' }).trim().slice(1)
  if (locked.version !== ours) {
    throw new BuildError(
      `package-lock.json has ${name} ${locked.version}, and Node here is ${ours}: build on Linux, after npm ci`,
    )
  }
  const installed = join(ROOT, 'node_modules', name, 'bin/node')
  return existsSync(installed) ? installed : fetched(name, locked)
}

/** Returns the path of the Node version in package.json, which can differ from the one running this script. */
function builder() {
  const path = join(ROOT, 'node_modules/.bin/node')
  if (!existsSync(path)) throw new BuildError('Node is not installed here: run npm ci first')
  return path
}

function fetched(name, { version, integrity }) {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'incmon')
  const node = join(cache, `${name}-${version}`)
  if (existsSync(node)) return node
  tell(`fetching ${name} ${version}`)
  mkdirSync(cache, { recursive: true })
  const part = temporaryIn(cache)
  const archive = join(part, packed(`${name}@${version}`, part))
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (found !== integrity) throw new BuildError(`${name} ${version} does not match package-lock.json: ${found}`)
  execFileSync('tar', ['-xzf', archive, '-C', part, 'package/bin/node'])
  renameSync(join(part, 'package/bin/node'), node)
  return node
}

/** Downloads a package with `npm pack`. Returns the archive's file name in `directory`. */
function packed(what, directory) {
  const { status, stdout, stderr } = spawnSync('npm', ['pack', what, '--pack-destination', directory, '--silent'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (status === 0) return stdout.trim().split('\n').at(-1)
  const [why = 'npm is missing'] = (stderr ?? '').split('\n').filter((line) => /error/i.test(line))
  throw new BuildError(
    `${what} could not be fetched (${why.trim()}): connect to the npm registry once; later builds use the cached copy`,
  )
}

function strip(file, target) {
  const { strip: programs, package: provider } = TARGETS[target]
  for (const program of target === NATIVE ? ['strip', ...programs] : programs) {
    const { error, status, stderr } = spawnSync(program, [file], { encoding: 'utf8' })
    if (status === 0) return
    if (error?.code !== 'ENOENT') throw new BuildError(`${program} failed: ${stderr?.trim() || error?.message}`)
  }
  process.stderr.write(
    `build: the executable is not stripped and about 20 MB larger: run "apt-get install ${provider}"\n`,
  )
}

/** Bundles the program. If `work` is given, writes the bundles to that directory. Returns esbuild's metafile. */
async function bundle(work) {
  const { build } = await import('esbuild')
  const web = await bundleWeb()
  if (work) for (const [name, text] of Object.entries(web.texts)) writeFileSync(join(work, name), text)
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    outdir: work ?? ROOT,
    write: work !== undefined,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    // The server has no HTTP/2, so the adapter needs only the names.
    alias: { 'node:http2': './src/server/connection/no-http2.ts' },
    // V8 keeps the source in memory. Comments and indentation would be a third of it.
    minifyWhitespace: true,
    lineLimit: 200,
    legalComments: 'none',
    metafile: true,
    // Only assets.ts uses import.meta, and only in a checkout.
    logOverride: { 'empty-import-meta': 'silent' },
    logLevel: 'warning',
  })
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports)
  const missing = imports.filter(({ path, external }) => external && !isBuiltin(path)).map(({ path }) => path)
  if (missing.length > 0)
    throw new BuildError(`the executable would need modules that are not bundled: ${missing.join(', ')}`)
  // esbuild escapes strings, but neither regular expressions nor tagged templates.
  const main = work && readFileSync(join(work, 'main.cjs'), 'utf8')
  const [foreign] = main?.match(/[^\0-\x7f]/) ?? []
  if (foreign)
    throw new BuildError(`the bundle contains ${foreign}, so V8 would keep two bytes per character: write it as \\u{…}`)
  return { outputs: { ...metafile.outputs, ...web.metafile.outputs } }
}

/** Bundles the style sheet and the script of the web pages. Returns `texts` by file name, and esbuild's metafile. */
async function bundleWeb() {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: WEB,
    outdir: join(ROOT, 'web'),
    write: false,
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  })
  const texts = Object.fromEntries(outputFiles.map(({ path, text }) => [path.slice(ROOT.length + 5), text]))
  return { texts, metafile }
}

/** Returns the licenses of all components of the executable. Throws if a license text is missing. */
function licensesOf(metafile) {
  const licenses = collectLicenses({ root: ROOT, metafile, node: builder(), sqlite: sqliteVersion() })
  const bare = licenses.filter(({ text, license }) => text === '' || !license).map(({ name }) => name)
  if (bare.length > 0) throw new BuildError(`${bare.join(', ')}: no licence text was found`)
  return licenses
}

/** Creates the blob that is injected into Node, which contains the program and its assets. Returns its path. */
function blobOf(work, target, licenses) {
  const noted = (name, facts) => {
    writeFileSync(join(work, name), JSON.stringify(facts))
    return join(work, name)
  }
  const assets = {
    'build.json': noted('build.json', { version: packageJson().version, commit: commit(), sqlite: sqliteVersion() }),
    'licenses.json': noted('licenses.json', licenses),
    ...documents(work),
    'sqlite.node': join(ROOT, 'node_modules/better-sqlite3/prebuilds', `${target}.node`),
  }
  for (const folder of ['sql', 'recordings', 'icons'])
    for (const file of readdirSync(join(ROOT, folder))) assets[`${folder}/${file}`] = join(ROOT, folder, file)
  for (const name of ['style.css', 'script.js']) assets[name] = join(work, name)
  for (const name of Object.keys(ENTRIES).filter((one) => one !== 'main'))
    assets[`${name}.cjs`] = join(work, `${name}.cjs`)
  // The options of `npm start`. With its default settings, V8 retains another 100 MB after a storm without being
  // faster, and its four threads compete with each other and with the requests on two cores.
  // Node's HTTP client is WebAssembly. After 1,000 calls V8 would replace its wrappers, and rarely aborts the process
  // then (nodejs/node#64500).
  const execArgv = packageJson().scripts.start.match(/--[\w-]+=\d+/g)
  const options = { disableExperimentalSEAWarning: true, execArgvExtension: 'none', execArgv }
  // Compiled code fits only the processor and the options that it was made with.
  const useCodeCache = target === NATIVE
  const config = { main: 'main.cjs', output: 'blob', ...options, useCodeCache, assets }
  writeFileSync(join(work, 'sea.json'), JSON.stringify(config))
  // Runs in `work` so that the blob contains the path `main.cjs` instead of a path on this machine.
  execFileSync(builder(), [...execArgv, '--experimental-sea-config', 'sea.json'], { cwd: work, stdio: 'pipe' })
  return join(work, 'blob')
}

/** Generates the documents of the API, which would take the first client of each start 0.3 s. Returns their paths. */
function documents(work) {
  const program = `
    import { document } from './src/app.ts'
    import { docsText } from './src/http/api/docs.ts'
    const texts = { 'openapi.json': JSON.stringify(document()), 'docs.html': docsText(document()) }
    process.stdout.write(JSON.stringify(texts))`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program]
  const texts = JSON.parse(execFileSync(builder(), args, { cwd: ROOT, maxBuffer: 64 * 1_048_576 }))
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(work, name), text)
  return Object.fromEntries(Object.keys(texts).map((name) => [name, join(work, name)]))
}

function packageJson() {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
}

function commit() {
  if (!existsSync(join(ROOT, '.git'))) return 'unknown'
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: ROOT, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : 'unknown'
}

/** Returns the SQLite version, so that the executable can print it without unpacking SQLite. */
function sqliteVersion() {
  const ask = "new (require('better-sqlite3'))(':memory:').prepare('SELECT sqlite_version()').pluck().get()"
  return execFileSync(builder(), ['--print', ask], { cwd: ROOT, encoding: 'utf8' }).trim()
}

function inject(file, blob) {
  const postject = join(ROOT, 'node_modules/postject/dist/cli.js')
  const args = [postject, file, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE]
  // postject warns about symbols removed by stripping, so its output is shown only if it fails.
  const { status, stdout, stderr } = spawnSync(builder(), args, { encoding: 'utf8' })
  if (status !== 0) throw new BuildError(`postject failed: ${`${stdout}${stderr}`.trim()}`)
}

/** Shows the current step on a terminal, replacing the previous one. */
function tell(line) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`)
}
