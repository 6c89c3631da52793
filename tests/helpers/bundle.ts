/** The program as one file, so that started programs and threads do not compile it again. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { buildSync } from 'esbuild'
import type { startWorker } from '../../src/assets.ts'

/**
 * The program, bundled once per run, because otherwise every command would compile it again. It finds its files as in a
 * checkout.
 */
const BUNDLE = fileURLToPath(new URL(`../../dist-${process.pid}/`, import.meta.url))
export const MAIN = join(BUNDLE, 'main.mjs')
/** Lets the started programs share their compiled code. */
export const CACHED = { NODE_COMPILE_CACHE: join(BUNDLE, 'cache') }
buildSync({
  entryPoints: ['main', 'workers/checkpoint', 'workers/read'].map((name) => ({
    in: fileURLToPath(new URL(`../../src/${name}.ts`, import.meta.url)),
    out: name,
  })),
  ...({ bundle: true, platform: 'node', format: 'esm', external: ['better-sqlite3'], outdir: BUNDLE } as const),
  minifyWhitespace: true,
  outExtension: { '.js': '.mjs' },
  // CommonJS packages load Node's modules with `require`.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
})
process.once('exit', () => rmSync(BUNDLE, { recursive: true, force: true }))

/** Starts a thread of the bundle, which takes a tenth of the time of compiling its files again. */
export const startBundled: typeof startWorker = (name, data) =>
  new Worker(join(BUNDLE, `workers/${name}.mjs`), { workerData: data, execArgv: [] })
