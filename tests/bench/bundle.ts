/** Bundles the program for profiling, together with the servers that it is compared with. */
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export type Bundled = { readonly main: string; readonly limit: string; readonly bare: string }

/** Returns the paths of the bundles in `directory`. Each has a source map next to it. */
export async function bundle(directory: string): Promise<Bundled> {
  const out = join(directory, 'dist')
  mkdirSync(out, { recursive: true })
  await build({
    entryPoints: {
      main: join(ROOT, 'src/main.ts'),
      'workers/checkpoint': join(ROOT, 'src/workers/checkpoint.ts'),
      'workers/read': join(ROOT, 'src/workers/read.ts'),
      limit: join(ROOT, 'tests/bench/limit.ts'),
      bare: join(ROOT, 'tests/bench/bare.ts'),
    },
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    sourcemap: true,
    external: ['better-sqlite3'],
    // CommonJS packages load Node's modules with `require`.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  })
  copyFileSync(join(ROOT, 'package.json'), join(directory, 'package.json'))
  for (const name of ['build.mjs', 'node_modules', 'sql']) symlinkSync(join(ROOT, name), join(directory, name))
  return { main: join(out, 'main.mjs'), limit: join(out, 'limit.mjs'), bare: join(out, 'bare.mjs') }
}
