/** The program in one file, as an executable holds it: without the loader and the marks that a checkout runs with. */
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export type Bundled = { readonly program: string; readonly limit: string; readonly bare: string }

/** The paths of the bundled program and of what it is compared with, in `directory`; source maps stand beside them. */
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
    // What is CommonJS among the packages asks for Node's modules by `require`.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  })
  copyFileSync(join(ROOT, 'package.json'), join(directory, 'package.json'))
  symlinkSync(join(ROOT, 'sql'), join(directory, 'sql'))
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  return { program: join(out, 'main.mjs'), limit: join(out, 'limit.mjs'), bare: join(out, 'bare.mjs') }
}
