/** Files that travel with the program: the only place that knows whether it runs from a checkout or as an executable. */
import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { getAsset, getRawAsset, isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { getEnvironmentData, isMainThread, setEnvironmentData, Worker } from 'node:worker_threads'

/** What `build.mjs` notes in the executable. */
type Build = { readonly version: string; readonly commit: string; readonly sqlite: string }

/** A part of the program that others made; `license` as SPDX calls it, `text` as its authors want it passed on. */
export type License = {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly text: string
}

/** Where threads of one process find the addon that the first of them loaded. */
const LOADED = 'incmon.addon'

/** In bytes; Node's own has 160 kB. */
const MOST_LICENSES = 16_777_216

/** Of this thread. */
let addon: object | null = null

/** The text of `sql/<name>.sql`. */
export function migrationText(name: string): string {
  return textOf(`sql/${name}.sql`)
}

/** The program's version, as package.json has it. */
export function programVersion(): string {
  return build()?.version ?? (JSON.parse(textOf('package.json')) as { version: string }).version
}

/** The commit that the program was made from, shortened; `unknown` where there is no repository to ask. */
export function programCommit(): string {
  return build()?.commit ?? commitOfCheckout()
}

/** The version of SQLite in the executable, known without unpacking it; null in a checkout, where SQLite tells. */
export function builtSqliteVersion(): string | null {
  return build()?.sqlite ?? null
}

/** The style sheet and the script of the pages; a checkout asks what would build them. */
export function webTexts(): { readonly style: string; readonly script: string } {
  if (isSea()) return { style: textOf('style.css'), script: textOf('script.js') }
  const built = JSON.parse(builtByCheckout('--web'))
  return { style: built['style.css'], script: built['script.js'] }
}

/** All that the executable contains besides ourselves, by name; a checkout asks what would build it. */
export function listLicenses(): License[] {
  return JSON.parse(isSea() ? textOf('licenses.json') : builtByCheckout('--licenses')) as License[]
}

/**
 * The addon of better-sqlite3 for its option `nativeBinding`; null in a checkout, where it finds its own.
 *
 * The system loads code from files alone, so it is unpacked for a moment: nothing stays that could be damaged, be of
 * another version or be planted by somebody else.
 * A process loads it once, in its main thread: a second copy of SQLite would lose the locks of the first.
 * @param directory where it is tried first: a program that keeps a database there may write there
 * @throws Error that names every directory that was tried; also in a thread that comes before the main one
 */
export function sqliteAddon(directory: string): object | null {
  if (isSea()) addon ??= loadedAddon() ?? unpackedAddon(directory)
  return addon
}

function textOf(path: string): string {
  if (isSea()) return getAsset(path, 'utf8')
  return readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')
}

function build(): Build | null {
  return isSea() ? (JSON.parse(textOf('build.json')) as Build) : null
}

function commitOfCheckout(): string {
  const root = fileURLToPath(new URL('../', import.meta.url))
  // A checkout inside another repository has no commit of its own.
  if (!existsSync(join(root, '.git'))) return 'unknown'
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, stdio: 'pipe' }).toString().trim()
  } catch {
    return 'unknown'
  }
}

function builtByCheckout(option: '--licenses' | '--web'): string {
  const root = fileURLToPath(new URL('../', import.meta.url))
  const options = { cwd: root, maxBuffer: MOST_LICENSES, stdio: 'pipe' } as const
  return execFileSync(process.execPath, ['build.mjs', option], options).toString()
}

/** The system knows by its path what it has loaded, and gives no second copy. */
function loadedAddon(): object | null {
  const path = getEnvironmentData(LOADED)
  return typeof path === 'string' ? load(path) : null
}

function unpackedAddon(directory: string): object {
  if (!isMainThread) throw new Error('a thread asked for SQLite before the main thread had opened a database')
  const faults: string[] = []
  for (const place of new Set([directory, '/dev/shm', tmpdir()])) {
    try {
      return loadThrough(place)
    } catch (error) {
      faults.push(`${place} ${reasonOf(error)}`)
    }
  }
  throw new Error(
    `SQLite could not be unpacked (${faults.join(', ')}): name a directory that can be written and run from in TMPDIR`,
  )
}

function loadThrough(place: string): object {
  const directory = mkdtempSync(join(place, '.incmon-'))
  try {
    const file = join(directory, 'sqlite.node')
    const handle = openSync(file, 'wx', 0o600)
    try {
      writeFileSync(handle, new Uint8Array(getRawAsset('sqlite.node')))
      // By its handle, so that whoever owns the place cannot put another file there meanwhile.
      const own = `/proc/self/fd/${handle}`
      const path = existsSync(own) ? own : file
      const loaded = load(path)
      setEnvironmentData(LOADED, path)
      return loaded
    } finally {
      closeSync(handle)
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function load(path: string): object {
  const module = { exports: {} }
  process.dlopen(module, path)
  return module.exports
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (message.includes('failed to map segment')) return 'is mounted noexec'
  return code === 'ERR_DLOPEN_FAILED' ? message : `cannot be written: ${code}`
}

/** Starts `src/workers/<name>` in a thread of its own, which gets a copy of the data. */
export function startWorker(name: string, data: unknown): Worker {
  const options = { workerData: data, execArgv: [] }
  if (isSea()) return new Worker(textOf(`workers/${name}.cjs`), { ...options, eval: true })
  // Node reads our TypeScript by itself; a bundle has its own ending.
  const file = new URL(`./workers/${name}${extname(import.meta.url)}`, import.meta.url)
  return new Worker(file, options)
}
