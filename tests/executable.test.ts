/** The executable on its own: its contents, its requirements, and read-only or noexec directories. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { document } from '../src/app.ts'
import { docsText } from '../src/http/api/docs.ts'
import { EXECUTABLE, ROOT, skipExecutable } from './helpers/executable.ts'
import { missingPrograms } from './helpers/programs.ts'
import { temporaryDirectory } from './helpers/store.ts'

const MOST = 120_000_000
/** Libraries that are part of gcr.io/distroless/cc-debian12 and of every Debian. */
const LIBRARIES = /^(linux-vdso|ld-linux-\w+(-\w+)?|libc|libm|libdl|libpthread|libstdc\+\+|libgcc_s)\.so/
const NOEXEC = 'mount -t tmpfs -o noexec tmpfs'
const READ_ONLY = 'mount -o remount,bind,ro /'

const canStrip = !missingPrograms().includes('strip')
const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0
const skipMounts = canMount || process.env.CI ? false : 'only root can mount'

suite('the executable', { skip: skipExecutable }, () => {
  test('it has the same version and parts as the checkout', () => {
    const options = { cwd: ROOT, encoding: 'utf8' } as const
    const args = ['--import', 'tsx', 'src/main.ts', 'version', '--json']
    const checkout = JSON.parse(spawnSync(process.execPath, args, options).stdout)
    const { commit, ...facts } = JSON.parse(run(ROOT, ['version', '--json']).out)
    assert.deepEqual({ ...facts, commit: checkout.commit }, checkout)
    assert.match(commit, /^(unknown|[0-9a-f]{12})$/)
  })

  test('it contains the documents that the checkout generates', async (t) => {
    const child = spawn(EXECUTABLE, ['serve', '--port', '0'], { cwd: temporaryDirectory(t) })
    t.after(() => child.kill('SIGKILL'))
    const [said] = await once(child.stdout, 'data')
    const [, url] = /listens on (\S+)/.exec(String(said)) ?? []
    const textOf = async (path: string) => (await fetch(`${url}${path}`)).text()
    assert.equal(await textOf('/openapi.json'), JSON.stringify(document()))
    assert.equal(
      (await textOf('/docs')).replaceAll(`${url}`, 'URL'),
      docsText(document()).replaceAll(/https:\/\/incmon\.invalid/g, 'URL'),
    )
  })

  test('it is no larger than 120 MB', { skip: !canStrip && 'strip is missing' }, () => {
    assert.ok(statSync(EXECUTABLE).size <= MOST, `${statSync(EXECUTABLE).size}`)
  })

  test('it needs only the C and C++ libraries', () => {
    for (const file of [EXECUTABLE, `${ROOT}node_modules/better-sqlite3/prebuilds/linux-${process.arch}.node`]) {
      const needed = spawnSync('ldd', [file], { encoding: 'utf8' }).stdout.trim().split('\n')
      const names = needed.map((line) => line.trim().split(' ')[0]?.split('/').at(-1) ?? '')
      assert.ok(names.length >= 5, file)
      for (const name of names) assert.match(name, LIBRARIES)
    }
  })

  test('it contains no path of the machine that built it', () => {
    const bytes = readFileSync(EXECUTABLE)
    for (const folder of ['src', 'node_modules', 'dist', 'sql']) assert.equal(bytes.indexOf(ROOT + folder), -1, folder)
  })

  test('Node options in the environment have no effect', (t) => {
    const { code, err } = run(temporaryDirectory(t), ['version'], { NODE_OPTIONS: '--import /gone.mjs --no-such-flag' })
    assert.deepEqual([code, err], [0, ''])
  })

  test('process lists show it as incmon', async (t) => {
    const child = spawn(EXECUTABLE, ['serve', '--port', '0'], { cwd: temporaryDirectory(t) })
    t.after(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    const read = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8').replace(/[\n\0]+$/, '')
    assert.deepEqual([read('comm'), read('cmdline')], ['incmon serve --', 'incmon serve --port 0'])
  })

  test('it deletes every file that it unpacks', (t) => {
    const cwd = temporaryDirectory(t)
    const { code } = run(cwd, ['migrate'], { TMPDIR: cwd })
    assert.deepEqual([code, readdirSync(cwd)], [0, ['incmon.db', 'incmon.db.lock']])
  })

  test('a file left behind by a killed start is not loaded', (t) => {
    const cwd = temporaryDirectory(t)
    const left = join(cwd, '.incmon-abcdef')
    mkdirSync(left)
    writeFileSync(join(left, 'sqlite.node'), 'damaged')
    assert.deepEqual(run(cwd, ['migrate']).code, 0)
  })

  test('many can start at once in one directory', async (t) => {
    const cwd = temporaryDirectory(t)
    const names = ['a.db', 'b.db', 'c.db', 'd.db', 'e.db', 'f.db']
    const codes = names.map((name) => once(spawn(EXECUTABLE, ['migrate', '--database', name], { cwd }), 'close'))
    assert.deepEqual(new Set((await Promise.all(codes)).map(([code]) => code)), new Set([0]))
    assert.deepEqual(
      readdirSync(cwd).sort(),
      names.flatMap((name) => [name, `${name}.lock`]),
    )
  })

  test('a limit on the size of files that leaves no room for SQLite is named', (t) => {
    const script = 'ulimit -f 1000; exec "$0" migrate'
    const { status, stderr } = spawnSync('sh', ['-c', script, EXECUTABLE], { cwd: temporaryDirectory(t) })
    assert.equal(status, 1)
    assert.match(String(stderr), /EFBIG\): raise the limit on the size of files \(ulimit -f, LimitFSIZE\)\n$/)
  })

  suite('on a hardened machine', { skip: skipMounts }, () => {
    test('it works with a noexec TMPDIR', (t) => {
      const [cwd, tmp] = [temporaryDirectory(t), temporaryDirectory(t)]
      assert.deepEqual(runMounted(`${NOEXEC} ${tmp}`, cwd, ['migrate'], { TMPDIR: tmp }).code, 0)
    })

    test("it works if the database's directory is mounted noexec", (t) => {
      const cwd = temporaryDirectory(t)
      const { code, err } = runMounted(`${NOEXEC} ${cwd}`, cwd, ['migrate'])
      assert.deepEqual([code, err], [0, ''])
    })

    test('it works if the directory has no space to unpack into', (t) => {
      const cwd = temporaryDirectory(t)
      const { code, err } = runMounted(`mount -t tmpfs -o size=1500k tmpfs ${cwd}`, cwd, ['migrate'])
      assert.deepEqual([code, err], [0, ''])
    })

    test('it works with a read-only root if the database is writable', (t) => {
      const cwd = temporaryDirectory(t)
      const { code, err } = runMounted(`mount -t tmpfs tmpfs ${cwd}; ${READ_ONLY}`, cwd, ['migrate'])
      assert.deepEqual([code, err], [0, ''])
    })

    test('if no directory allows programs, one line says what was tried and what to do', (t) => {
      const [cwd, tmp] = [temporaryDirectory(t), temporaryDirectory(t)]
      const mounts = [cwd, tmp, '/dev/shm'].map((place) => `${NOEXEC} ${place}`).join('; ')
      const { code, err } = runMounted(mounts, cwd, ['migrate'], { TMPDIR: tmp })
      const line = `${cwd} is mounted noexec, /dev/shm is mounted noexec, ${tmp} is mounted noexec`
      const remedy = 'set TMPDIR to a directory that is writable and not mounted noexec'
      assert.deepEqual([code, err], [1, `incmon: SQLite could not be unpacked (${line}): ${remedy}\n`])
    })

    test('TMPDIR can name a directory that allows programs', (t) => {
      const [cwd, tmp] = [temporaryDirectory(t), temporaryDirectory(t)]
      const mounts = [cwd, '/dev/shm'].map((place) => `${NOEXEC} ${place}`).join('; ')
      assert.equal(runMounted(mounts, cwd, ['migrate'], { TMPDIR: tmp }).code, 0)
    })

    test('a state directory that is not writable is rejected in one line', (t) => {
      const { code, err } = runMounted(READ_ONLY, temporaryDirectory(t), ['serve', '--port', '0'])
      assert.equal(code, 1)
      assert.match(
        err,
        /^incmon: incmon\.db cannot be created or opened \(EROFS\): [^\n]+ read-only file system[^\n]+\n$/,
      )
    })

    test('version and help need no writable directory', (t) => {
      const cwd = temporaryDirectory(t)
      const mounts = `mount -t tmpfs -o ro tmpfs /dev/shm; ${READ_ONLY}`
      for (const args of [['version'], ['--help'], ['serve', '--help']]) {
        const { code, err } = runMounted(mounts, cwd, args)
        assert.deepEqual([code, err], [0, ''], args.join(' '))
      }
    })
  })
})

function run(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  return outcomeOf(spawnSync(EXECUTABLE, args, { cwd, env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' }))
}

/** Runs the executable in its own mount namespace after the shell commands in `mounts`. */
function runMounted(mounts: string, cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const script = `set -e; ${mounts}; cd "$0"; exec "$@"`
  const line = ['--mount', 'sh', '-c', script, cwd, EXECUTABLE, ...args]
  return outcomeOf(spawnSync('unshare', line, { env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' }))
}

function outcomeOf({ status, stdout, stderr }: { status: number | null; stdout: string; stderr: string }) {
  return { code: status, out: stdout, err: stderr }
}
