/** Errors of build.mjs. executable.test.ts and smoke.test.ts cover successful builds. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from './helpers/executable.ts'
import { temporaryDirectory } from './helpers/store.ts'

const FOREIGN = process.arch === 'arm64' ? 'linux-x64' : 'linux-arm64'

for (const [args, line] of [
  ['--target linux-mips', /^build: nothing can be built for linux-mips: --target is one of linux-x64, linux-arm64\n$/],
  ['--tagret linux-x64', /^build: Unknown option '--tagret'[^\n]*; usage: node build\.mjs \[--target [^\n]+\]\n$/],
  ['--target', /^build: Option '--target <value>' argument missing; usage: [^\n]+\n$/],
  ['now', /^build: Unexpected argument 'now'[^\n]*; usage: [^\n]+\n$/],
] as const) {
  test(`build.mjs ${args} is rejected with one line`, () => {
    const { status, stderr } = build(args.split(' '))
    assert.equal(status, 2)
    assert.match(stderr, line)
  })
}

test('without the registry, a build for another platform fails and leaves no partial file', (t) => {
  const cache = temporaryDirectory(t)
  const env = { XDG_CACHE_HOME: cache, npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' }
  const { status, stderr } = build(['--target', FOREIGN], env)
  const pattern = `^build: node-${FOREIGN}@24\\S+ could not be fetched \\(.+\\): connect to the npm registry once; [^\\n]+\\n$`
  assert.equal(status, 1)
  assert.match(stderr, new RegExp(pattern))
  assert.deepEqual(readdirSync(join(cache, 'incmon')), [])
})

function build(args: readonly string[], env: Record<string, string> = {}) {
  const options = { cwd: ROOT, encoding: 'utf8', env: { ...process.env, ...env } } as const
  return spawnSync(process.execPath, ['build.mjs', ...args], options)
}
