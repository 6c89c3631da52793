/** incmon serve, from its first output to its shutdown, and commands alongside it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import SQLite from 'better-sqlite3'
import { openStore } from '../../src/store/sqlite/open.ts'
import { makeCertificate } from '../helpers/certificates.ts'
import { call, incmon, incmonServe, refusal } from '../helpers/cli.ts'
import { readiness } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'

async function tokenOf(cwd: string, ...args: string[]): Promise<{ token: string; id: string }> {
  return JSON.parse((await call(cwd, ['token', 'create', '--json', ...args])).out)
}

function list(url: string, token: string): Promise<Response> {
  return fetch(`${url}/api/services`, { headers: { Authorization: `Bearer ${token}` } })
}

/** Only root can run a program as another user. */
const ROOT = { skip: process.getuid?.() === 0 ? false : 'only root may give files away' }
const OTHER = 65_534

suite('serve', { concurrency: 4 }, () => {
  test('a read-only database is rejected', ROOT, async (t) => {
    const cwd = temporaryDirectory(t)
    chownSync(cwd, OTHER, OTHER)
    const as = { uid: OTHER, env: { INCMON_PORT: '0' } }
    await incmon(cwd, ['org', 'create', 'Acme'], as)
    chmodSync(join(cwd, 'incmon.db'), 0o400)
    const { code, err } = await incmon(cwd, ['serve'], { ...as, until: 'incmon listens on' })
    assert.match(err, /^incmon: incmon\.db\S* .*(owner|READONLY)/m)
    assert.equal(code, 1)
  })

  test('files that root creates belong to the owner of the directory', ROOT, async (t) => {
    const cwd = temporaryDirectory(t)
    chownSync(cwd, OTHER, OTHER)
    await call(cwd, ['org', 'create', 'Acme'])
    assert.equal(statSync(join(cwd, 'incmon.db')).uid, OTHER)
    const as = { uid: OTHER, env: { INCMON_PORT: '0' } }
    assert.equal((await incmon(cwd, ['serve'], { ...as, until: 'incmon listens on' })).code, 0)
  })

  test('in an empty directory it creates everything and prints its URL and how to create a token', async (t) => {
    const cwd = temporaryDirectory(t)
    const { url, said, stop } = await incmonServe(t, cwd)
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
    assert.equal(await stop(), 0)
    assert.match(
      said.out,
      /^incmon listens on \S+\nno token exists yet: create one with incmon token create --org default --scopes ingest,read,write,admin\n$/,
    )
    assert.ok(!said.out.includes('incmon_'), 'a journal gets no token')
    for (const file of ['incmon.db', 'incmon.db.lock']) assert.equal(statSync(join(cwd, file)).mode & 0o777, 0o600)
    assert.ok(!existsSync(join(cwd, 'incmon.db-wal')), 'closed in order')
  })

  test('a token is valid immediately while a server is running, and invalid once it is revoked', async (t) => {
    const cwd = temporaryDirectory(t)
    const { url } = await incmonServe(t, cwd)
    const { token, id } = await tokenOf(cwd, '--scopes', 'read')
    assert.equal((await list(url, token)).status, 200)
    const revoked = await call(cwd, ['token', 'revoke', id])
    assert.match(revoked.out, /^revoked API token [\d-]+ of default;/)
    assert.equal((await list(url, token)).status, 401)
    const again = await call(cwd, ['token', 'revoke', id])
    assert.match(again.out, /^API token [\d-]+ of default was already revoked at \d{4}-\S+Z$/m)
  })

  test('send-test creates a service that the list shows', async (t) => {
    const cwd = temporaryDirectory(t)
    await incmonServe(t, cwd)
    const { token } = await tokenOf(cwd, '--scopes', 'ingest,read')
    const env = { INCMON_TOKEN: token }
    for (const source of ['alertmanager', 'ci']) {
      const { out, code, err } = await call(cwd, ['send-test', source, '--json'], { env })
      assert.deepEqual([code, err], [0, ''])
      assert.equal(JSON.parse(out).received, true)
    }
    const listed = await call(cwd, ['service', 'list', '--json'])
    assert.deepEqual(
      JSON.parse(listed.out).map((one: { namespace: string; name: string }) => `${one.namespace}/${one.name}`),
      ['incmon-test/send-test'],
    )
    const [{ id }] = JSON.parse(listed.out)
    for (const word of [id, id.slice(-8), id.slice(0, 12), 'incmon-test/send-test'])
      assert.equal((await call(cwd, ['service', 'show', word, '--json'])).out.includes(id), true, word)
    const opened = await call(cwd, ['incident', 'open', id.slice(-8), 'It', 'hangs', '--json'])
    assert.equal(JSON.parse(opened.out).serviceId, id)
    assert.match((await call(cwd, ['service', 'show', id.slice(-7)])).err, /there is no service/)
  })

  test('the list explains why a service is unhealthy, even after its alert has ended', async (t) => {
    const cwd = temporaryDirectory(t)
    await incmonServe(t, cwd)
    const { token } = await tokenOf(cwd, '--scopes', 'ingest')
    await call(cwd, ['send-test', 'alertmanager'], { env: { INCMON_TOKEN: token } })
    const firing = await call(cwd, ['service', 'list'])
    const [{ id }] = JSON.parse((await call(cwd, ['alert', 'list', '--json'])).out)
    await call(cwd, ['alert', 'resolve', id.slice(-8)])
    const ended = await call(cwd, ['service', 'list'])
    assert.match(firing.out, /degraded +88 +IncmonSendTest: warning +/)
    assert.match(ended.out, /IncmonSendTest: warning, ended in the last 30 min/)
  })

  test('a rejected test event prints one line with the reason, exit code 1', async (t) => {
    const cwd = temporaryDirectory(t)
    const { url } = await incmonServe(t, cwd)
    const { code, text } = await refusal(['send-test', 'ci', '--url', `${url}/`, '--token', 'wrong'])
    assert.equal(code, 1)
    assert.match(text, /^http\S+\/api\/webhooks\/ci responded with 401: unknown token; [^\n]+$/)
  })

  test('a second server on the same file is rejected on any port, and the first keeps running', async (t) => {
    const cwd = temporaryDirectory(t)
    const { url } = await incmonServe(t, cwd)
    for (const port of ['0', new URL(url).port]) {
      const { code, err } = await incmon(cwd, ['serve', '--port', port])
      assert.equal(code, 1)
      assert.match(err, /^incmon: incmon\.db is in use by an incmon server: stop that server first[^\n]+\n$/)
    }
    assert.equal(await readiness(url), 200)
  })

  test('a killed server leaves no lock behind', async (t) => {
    const cwd = temporaryDirectory(t)
    const first = await incmonServe(t, cwd)
    await first.stop('SIGKILL')
    const { url } = await incmonServe(t, cwd)
    assert.equal(await readiness(url), 200)
  })

  test('a port in use is reported with a remedy before anything is created', async (t) => {
    const { url } = await incmonServe(t, temporaryDirectory(t))
    const { port } = new URL(url)
    const { cert, key } = makeCertificate(t)
    for (const tls of [[], ['--tls-cert', cert, '--tls-key', key]]) {
      const cwd = temporaryDirectory(t)
      const { code, out, err } = await incmon(cwd, ['serve', '--port', port, ...tls])
      assert.deepEqual([code, out, readdirSync(cwd)], [1, '', []])
      assert.match(err, new RegExp(`^incmon: port ${port} on 127\\.0\\.0\\.1 is in use: [^\\n]+--port[^\\n]+\\n$`))
    }
  })

  test('if the port is in use, an older file stays unchanged', async (t) => {
    const { url } = await incmonServe(t, temporaryDirectory(t))
    const cwd = temporaryDirectory(t)
    openStore(join(cwd, 'incmon.db')).close()
    const before = readFileSync(join(cwd, 'incmon.db'))
    const { code } = await incmon(cwd, ['serve', '--port', new URL(url).port])
    assert.deepEqual([code, readdirSync(cwd), readFileSync(join(cwd, 'incmon.db'))], [1, ['incmon.db'], before])
  })

  test('two simultaneous signals are treated as one, and the server stops gracefully', async (t) => {
    const { child, stop } = await incmonServe(t, temporaryDirectory(t))
    child.kill('SIGINT')
    assert.equal(await stop('SIGINT'), 0)
  })

  test('a second signal does not wait for requests', async (t) => {
    const { url, child } = await incmonServe(t, temporaryDirectory(t))
    const hanging = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
    hanging.write('POST /api/webhooks/metrics HTTP/1.1\r\nHost:')
    await once(hanging, 'connect')
    await fetch(`${url}/healthz`)
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    const again = setInterval(() => child.kill('SIGTERM'), 600)
    const [code] = await closed
    clearInterval(again)
    assert.equal(code, 1)
  })

  test('an uncaught error is one line of JSON with its cause, and exit code 1', async (t) => {
    const fault = encodeURIComponent("process.on('SIGUSR2', () => { throw new Error('planted') })")
    const env = { NODE_OPTIONS: `--import data:text/javascript,${fault}` }
    const { said, stop } = await incmonServe(t, temporaryDirectory(t), env)
    assert.equal(await stop('SIGUSR2'), 1)
    const { level, message, cause } = JSON.parse(said.err.trim().split('\n').at(-1) ?? '')
    assert.deepEqual([level, message], ['fatal', 'uncaught exception'])
    assert.match(cause, /^Error: planted/)
  })

  test('with a damaged page it stops at the first write and suggests a remedy', async (t) => {
    const cwd = temporaryDirectory(t)
    await call(cwd, ['org', 'create', 'Acme'])
    const { token } = await tokenOf(cwd, '--scopes', 'ingest')
    damagePageOf(join(cwd, 'incmon.db'), 'events')
    const { url, said, child } = await incmonServe(t, cwd)
    const closed = once(child, 'close')
    const sent = await call(cwd, ['send-test', 'metrics', '--url', url, '--token', token])
    assert.match(sent.err, /responded with 503: the disk failed/)
    assert.deepEqual((await closed)[0], 1)
    const { level, message } = JSON.parse(said.err.trim().split('\n').at(-1) ?? '')
    assert.equal(level, 'fatal')
    assert.match(
      message,
      /^the database is damaged: stop the server, keep this file, and restore a backup; "incmon doctor"/,
    )
  })
})

/** Overwrites a table's first page with random bytes. */
function damagePageOf(file: string, table: string): void {
  const sqlite = new SQLite(file, { readonly: true })
  const page = sqlite.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(table)
  const size = Number(sqlite.pragma('page_size', { simple: true }))
  sqlite.close()
  const end = (page ?? 0) * size
  writeFileSync(file, readFileSync(file).fill(0x5a, end - size, end))
}
