/**
 * What must work wherever incmon runs: in the checkout, in the executable, and in the command in `INCMON`, such as
 * `INCMON='chroot /srv/minimal /incmon'`. The command runs in its own working directory and keeps `incmon.db` there.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { suite, type TestContext, test } from 'node:test'
import { EXECUTABLE, ROOT, skipExecutable } from './helpers/executable.ts'
import { readiness } from './helpers/server.ts'
import { temporaryDirectory } from './helpers/store.ts'

/**
 * Set explicitly because the command runs in other directories, where the loader would not find the settings for JSX.
 */
const LOADER = [
  'env',
  `TSX_TSCONFIG_PATH=${ROOT}tsconfig.json`,
  process.execPath,
  '--import',
  import.meta.resolve('tsx'),
]
const CHECKOUT = [...LOADER, `${ROOT}src/main.ts`]
const NAMED = process.env.INCMON?.split(' ')
/** Nothing else from the environment is passed on, because paths in it might not exist where the command runs. */
const ENVIRONMENT = { PATH: process.env.PATH ?? '' }
const ALERT = { labels: { alertname: 'HighLatency', namespace: 'shop', service: 'cart', severity: 'critical' } }
/** The maximum time to end or to listen, in milliseconds. */
const LONGEST = 180_000

if (NAMED) suite(NAMED.join(' '), () => smoke(NAMED))
else {
  suite('the checkout', () => smoke(CHECKOUT))
  suite('the executable', { skip: skipExecutable }, () => smoke([EXECUTABLE]))
}

function smoke(command: readonly string[]): void {
  test('version prints incmon, Node, SQLite, the commit and the schema version', (t) => {
    const { code, out } = run(command, temporaryDirectory(t), ['version', '--json'])
    const { version, commit, node, sqlite, dataModel } = JSON.parse(out)
    assert.equal(code, 0)
    for (const one of [version, node, sqlite]) assert.match(one, /^\d+\.\d+\.\d+$/)
    assert.ok(commit.length > 6 && dataModel >= 1)
  })

  test('help lists serve', (t) => {
    const { code, out } = run(command, temporaryDirectory(t), ['--help'])
    assert.deepEqual([code, /^ {2}serve\b/m.test(out)], [0, true])
  })

  test('an unknown command exits with 2 and one line', (t) => {
    const { code, out, err } = run(command, temporaryDirectory(t), ['serv'])
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, /^incmon: unknown command serv: did you mean serve\?\n$/)
  })

  test('a new file is migrated, served, and consistent after a shutdown', async (t) => {
    const cwd = temporaryDirectory(t)
    assert.match(run(command, cwd, ['migrate']).out, /^applied 0001_create_tables\b/m)
    const { url, stop } = await serve(t, command, cwd)
    assert.equal(await readiness(url), 200)
    for (const path of ['/healthz', '/openapi.json', '/docs']) {
      assert.equal((await fetch(url + path)).status, 200, path)
    }
    assert.equal(await stop(), 0)
    assert.equal(run(command, cwd, ['migrate']).out, 'incmon.db is up to date\n')
  })

  test('a webhook is accepted, and its results survive a restart', async (t) => {
    const cwd = temporaryDirectory(t)
    const token = makeToken(command, cwd)
    const first = await serve(t, command, cwd)
    const { status, body } = await ask(first.url, '/api/webhooks/metrics', token, { alerts: [ALERT] })
    assert.deepEqual([status, body.received, body.eventIds.length], [200, true, 1])
    await first.stop()
    const again = await serve(t, command, cwd)
    const services = (await ask(again.url, '/api/services', token)).body
    assert.ok(services.some((one: { name: string; status: string }) => `${one.name} ${one.status}` === 'cart critical'))
  })

  test('worker threads for reads and backups work', async (t) => {
    const cwd = temporaryDirectory(t)
    const token = makeToken(command, cwd)
    const { url, stop } = await serve(t, command, cwd)
    await ask(url, '/api/webhooks/metrics', token, { alerts: [ALERT] })
    for (const path of ['/api/alerts?q=latency', '/api/events?source=metrics', '/api/incidents']) {
      const { status, body } = await ask(url, path, token)
      assert.deepEqual([status, body.pagination.total > 0], [200, true], path)
    }
    assert.equal(await stop(), 0)
  })

  test('a wrong token and a wrong body are refused', async (t) => {
    const cwd = temporaryDirectory(t)
    const token = makeToken(command, cwd)
    const { url } = await serve(t, command, cwd)
    assert.equal((await ask(url, '/api/webhooks/metrics', 'wrong', { alerts: [ALERT] })).status, 401)
    assert.equal((await ask(url, '/api/webhooks/metrics', token, { alerts: 'none' })).status, 400)
  })
}

function makeToken(command: readonly string[], cwd: string): string {
  run(command, cwd, ['org', 'create', 'Acme'])
  return JSON.parse(run(command, cwd, ['token', 'create', '--org', 'Acme', '--scopes', 'ingest,read', '--json']).out)
    .token
}

function run([program = '', ...first]: readonly string[], cwd: string, args: readonly string[]) {
  const options = { cwd, env: ENVIRONMENT, encoding: 'utf8', timeout: LONGEST } as const
  const { status, stdout, stderr, error } = spawnSync(program, [...first, ...args], options)
  return { code: status, out: stdout, err: error ? `${stderr}${error.message}` : stderr }
}

async function serve(t: TestContext, [program = '', ...first]: readonly string[], cwd: string) {
  const child = spawn(program, [...first, 'serve', '--port', '0'], {
    cwd,
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const closed = once(child, 'close')
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`it does not listen: ${said}`)), LONGEST)
    const hear = (chunk: Buffer) => {
      said += chunk
      const [, found] = /^incmon listens on (\S+)\n/m.exec(said) ?? []
      if (!found) return
      clearTimeout(timer)
      resolve(found)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    closed.then(() => reject(new Error(`it ended: ${said}`)))
  })
  const stop = async () => {
    child.kill('SIGTERM')
    return (await closed)[0] as number | null
  }
  return { url, stop }
}

async function ask(url: string, path: string, token: string, body?: object) {
  const headers = { Authorization: `Bearer ${token}` }
  const sent = body ? { method: 'POST', body: JSON.stringify(body) } : {}
  const response = await fetch(url + path, { headers, ...sent })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what they were answered
  return { status: response.status, body: (await response.json()) as any }
}
