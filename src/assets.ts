/** The program's own files. Only this module knows whether the program runs from a checkout or as an executable. */
import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { getAsset, getRawAsset, isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { getEnvironmentData, isMainThread, setEnvironmentData, Worker } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'

/** The data that `build.mjs` stores in the executable. */
type Build = { readonly version: string; readonly commit: string; readonly sqlite: string }

/** A third-party component. `license` is an SPDX identifier. `text` is the authors' license text. */
export type License = {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly text: string
}

/** The name under which other threads find the loaded addon. */
const LOADED = 'incmon.addon'

/** The maximum output of `build.mjs` in bytes. Node's license text alone is 160 kB. */
const MAX_LICENSES = 16_777_216

/** Half of the space for new objects of a worker thread, in MiB. The main thread has more, because it is never idle. */
const WORKER_SEMI_SPACE = 2

const TOO_LARGE = 'raise the limit on the size of files (ulimit -f, LimitFSIZE)'
const UNUSABLE = 'set TMPDIR to a directory that is writable and not mounted noexec'

/** The style sheet and the script of the web pages. */
type WebTexts = { readonly style: string; readonly script: string }

let addon: object | null = null
let web: WebTexts | null = null

/** Returns the text of `sql/<name>.sql`. */
export function migrationText(name: string): string {
  return textOf(`sql/${name}.sql`)
}

/** Returns the text of `recordings/<name>.jsonl.gz`, which `tests/recordings/record.ts` writes. */
export function recordedText(name: 'demo' | 'example'): string {
  return gunzipSync(bytesOf(`recordings/${name}.jsonl.gz`)).toString()
}

/** Returns the icon on a phone's home screen as a PNG with `size` × `size` pixels. `APP_ICON_SIZES` lists the sizes. */
export function appIcon(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytesOf(`icons/app-${size}.png`))
}
export function programVersion(): string {
  return build()?.version ?? (JSON.parse(textOf('package.json')) as { version: string }).version
}

/** Returns the abbreviated commit of this build, or `unknown` if there is no Git repository. */
export function programCommit(): string {
  return build()?.commit ?? commitOfCheckout()
}

/** Returns the SQLite version in the executable without unpacking SQLite, or null in a checkout. */
export function builtSqliteVersion(): string | null {
  return build()?.sqlite ?? null
}

/** Returns the style sheet and the script of the web pages. A checkout builds both files on demand, once per process. */
export function webTexts(): WebTexts {
  if (isSea()) return { style: textOf('style.css'), script: textOf('script.js') }
  web ??= builtWeb()
  return web
}

function builtWeb(): WebTexts {
  const built = JSON.parse(builtByCheckout('--web'))
  return { style: built['style.css'], script: built['script.js'] }
}

/** Returns a document of the API that `build.mjs` has generated, or null in a checkout. */
export function builtDocument(name: 'openapi.json' | 'docs.html'): string | null {
  return isSea() ? textOf(name) : null
}

/** Returns the licenses of all third-party components, sorted by name. A checkout collects the licenses on demand. */
export function listLicenses(): License[] {
  return JSON.parse(isSea() ? textOf('licenses.json') : builtByCheckout('--licenses')) as License[]
}

/**
 * Returns better-sqlite3's addon for its `nativeBinding` option, or null in a checkout. The operating system can load
 * code only from files, so the addon is unpacked into a temporary file, which is deleted after loading. The addon is
 * loaded once per process, in its main thread: a second copy of SQLite would lose the locks of the first copy.
 * @param directory the first directory to try; it contains the database, so it is probably writable
 * @throws Error that lists the directories if none of them can be used; also if another thread calls this function
 * before the main thread
 */
export function sqliteAddon(directory: string): object | null {
  if (isSea()) addon ??= loadedAddon() ?? unpackedAddon(directory)
  return addon
}

function textOf(path: string): string {
  return isSea() ? getAsset(path, 'utf8') : bytesOf(path).toString()
}

function bytesOf(path: string): Buffer {
  if (isSea()) return Buffer.from(getAsset(path))
  return readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)))
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
  const options = { cwd: root, maxBuffer: MAX_LICENSES, stdio: 'pipe' } as const
  return execFileSync(process.execPath, ['build.mjs', option], options).toString()
}

/** Returns the loaded addon. The operating system recognizes the addon's path and does not load a second copy. */
function loadedAddon(): object | null {
  const path = getEnvironmentData(LOADED)
  return typeof path === 'string' ? load(path) : null
}

function unpackedAddon(directory: string): object {
  if (!isMainThread) throw new Error('a thread asked for SQLite before the main thread had opened a database')
  const faults: string[] = []
  let remedy = TOO_LARGE
  for (const parent of new Set([directory, '/dev/shm', tmpdir()])) {
    try {
      return loadThrough(parent)
    } catch (error) {
      faults.push(`${parent} ${reasonOf(error)}`)
      if ((error as NodeJS.ErrnoException).code !== 'EFBIG') remedy = UNUSABLE
    }
  }
  throw new Error(`SQLite could not be unpacked (${faults.join(', ')}): ${remedy}`)
}

function loadThrough(parent: string): object {
  const directory = mkdtempSync(join(parent, '.incmon-'))
  try {
    const file = join(directory, 'sqlite.node')
    const handle = openSync(file, 'wx', 0o600)
    try {
      writeFileSync(handle, new Uint8Array(getRawAsset('sqlite.node')))
      // Loads the addon through its file descriptor, so that nobody can replace the file before it is loaded.
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

/** Starts `src/workers/<name>` in a worker thread with a copy of the data. */
export function startWorker(name: string, data: unknown): Worker {
  // The option of `npm start` overrides the worker's own `resourceLimits`. The main thread keeps its space.
  setFlagsFromString(`--max-semi-space-size=${WORKER_SEMI_SPACE}`)
  const options = { workerData: data, execArgv: [] }
  if (isSea()) return new Worker(textOf(`workers/${name}.cjs`), { ...options, eval: true })
  // Node runs TypeScript directly. In a bundle, the file extension differs.
  const file = new URL(`./workers/${name}${extname(import.meta.url)}`, import.meta.url)
  return new Worker(file, options)
}
