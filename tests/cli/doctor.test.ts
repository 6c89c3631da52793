/** incmon doctor as a program: it never changes anything. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import SQLite from 'better-sqlite3'
import { makeWorld } from '../helpers/app.ts'
import { makeCertificate } from '../helpers/certificates.ts'
import { asking, call, incmon, incmonServe } from '../helpers/cli.ts'
import { DAY, makeOrganization, makeToken } from '../helpers/factory.ts'
import { newStore, pruneOnce, temporaryDirectory } from '../helpers/store.ts'

const NOBODY = 65_534
/** A reserved port that nothing listens on. */
const NOBODYS = '9'

type Finding = { readonly check: string; readonly state: string; readonly text: string }

/** Creates a directory with Acme's database, closed. A server would not change any byte of it on its own. */
function acme(t: TestContext): { cwd: string; file: string } {
  const cwd = temporaryDirectory(t)
  const db = newStore(join(cwd, 'incmon.db'))
  makeToken(db, makeOrganization(db, 'Acme', 'Team'), ['read'])
  pruneOnce(db)
  db.close()
  return { cwd, file: db.file }
}

/** Returns doctor's finding for each check, after verifying that no byte has changed. The WAL index is exempt. */
async function examine(cwd: string, env: Record<string, string> = {}, uid: number | null = null, ...args: string[]) {
  const before = bytesIn(cwd)
  const asked = ['doctor', '--json', ...args]
  const { code, out, err } = await (uid === null ? asking(cwd, asked, { env }) : incmon(cwd, asked, { env, uid }))
  assert.deepEqual([bytesIn(cwd), err], [before, ''])
  const { findings, ok } = JSON.parse(out) as { findings: Finding[]; ok: boolean }
  assert.equal(code, ok ? 0 : 1)
  const of = (check: string) =>
    findings.filter((one) => one.check === check).map(({ state, text }) => `${state} ${text}`)
  return { of, ok }
}

function bytesIn(directory: string): string[] {
  const files = readdirSync(directory).filter((name) => !/-shm$|\.sock$/.test(name))
  return files.sort().map((name) => {
    const bytes = readFileSync(join(directory, name))
    return `${name} ${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`
  })
}

suite('doctor', { concurrency: 4 }, () => {
  test('a running server with this file is ready', async (t) => {
    const { cwd } = acme(t)
    const { url } = await incmonServe(t, cwd)
    const { of, ok } = await examine(cwd, { INCMON_PORT: new URL(url).port })
    assert.deepEqual(of('port'), [`ok incmon is listening on ${url} and is ready`])
    assert.deepEqual([of('integrity'), ok], [['ok the file is intact (quick_check)'], true])
  })

  test("it accepts the server's options", async (t) => {
    const { cwd } = acme(t)
    const { url } = await incmonServe(t, cwd)
    const { hostname, port } = new URL(url)
    const flags = ['--host', hostname, '--port', port, '--min-free-disk', '1000000000']
    const { of } = await examine(cwd, { INCMON_PORT: '0' }, null, ...flags)
    assert.deepEqual(of('port'), [`ok incmon is listening on ${url} and is ready`])
    assert.match(of('disk')[0] ?? '', /^fail .+ free, less than min-free-disk = 1000000000 MiB/)
  })

  test('a server with another file causes a warning, and the server with this file is found on any port', async (t) => {
    const [served, other] = [acme(t), acme(t)]
    const { url } = await incmonServe(t, served.cwd)
    const [elsewhere, onAnother] = await Promise.all([
      examine(other.cwd, { INCMON_PORT: new URL(url).port }),
      examine(served.cwd, { INCMON_PORT: NOBODYS }),
    ])
    assert.deepEqual(elsewhere.of('port'), [`warn incmon is listening on ${url}, but it uses another database`])
    assert.deepEqual(onAnother.of('port'), [`ok incmon is listening on ${url} and is ready`])
  })

  test('after a kill, the write-ahead log is complete and is kept for the next server', async (t) => {
    const { cwd } = acme(t)
    const { stop } = await incmonServe(t, cwd)
    await call(cwd, ['org', 'create', 'Basil'])
    await stop('SIGKILL')
    const { of, ok } = await examine(cwd, { INCMON_PORT: '0' })
    assert.match(of('log')[0] ?? '', /^ok the write-ahead log contains .+ left by a process that was killed/)
    assert.deepEqual([of('integrity'), ok], [['ok the file is intact (quick_check)'], true])
  })

  test('a restored database needs nothing, and the next server sets its journal mode', async (t) => {
    const { cwd } = acme(t)
    await call(cwd, ['backup', 'copy'])
    await incmon(cwd, ['restore', 'copy', '--force'])
    const restored = await examine(cwd, { INCMON_PORT: '0' })
    await incmonServe(t, cwd)
    const served = await examine(cwd, { INCMON_PORT: '0' })
    const says = [...restored.of('settings'), ...served.of('settings')]
    assert.match(says[0] ?? '', /^ok journal_mode delete, .+; the next "incmon serve" sets journal_mode to wal$/)
    assert.match(says[1] ?? '', /^ok journal_mode wal, every commit is synced to disk, foreign_keys 1$/)
  })

  test('in a read-only directory it checks everything and reports that nothing can be written', async (t) => {
    const { cwd, file } = acme(t)
    const uid = process.getuid?.() === 0 ? NOBODY : null
    if (uid !== null) for (const path of [cwd, file]) chownSync(path, uid, uid)
    chmodSync(cwd, 0o555)
    const { of, ok } = await examine(cwd, { INCMON_PORT: '0' }, uid)
    chmodSync(cwd, 0o755)
    assert.match(
      of('permissions')[0] ?? '',
      /^fail .+ cannot be written by uid \d+: SQLite creates the write-ahead log in this directory/,
    )
    assert.deepEqual([of('integrity'), ok], [['ok the file is intact (quick_check)'], false])
  })

  test('each sender has a finding, and a clock behind the newest event fails', async (t) => {
    const { acme, charlie, clock, db, request } = makeWorld(t)
    const watchdog = readFileSync(new URL('../fixtures/payloads/metrics-watchdog.json', import.meta.url))
    await request('POST', '/api/webhooks/metrics', { token: acme.token, body: watchdog })
    clock.now = Date.UTC(2222, 0, 1)
    await request('POST', '/api/webhooks/metrics', { token: charlie.token, body: watchdog })
    const { of, ok } = await examine(dirname(db.file), { INCMON_PORT: '0' })
    assert.match(
      of('source')[0] ?? '',
      /^warn Acme\/metrics\/incmon: the last heartbeat arrived \d+ d .+ ago; alerts from this sender may/,
    )
    assert.match(of('source')[1] ?? '', /^ok Charlie\/metrics\/incmon: last event less than a minute ago$/)
    assert.match(of('clock')[0] ?? '', /^fail \d+ d .+ behind the newest event: the clock was set back/)
    assert.equal(ok, false)
  })

  test('a rejected item causes a warning for a day', async (t) => {
    const { acme, clock, db, request } = makeWorld(t)
    clock.now = Date.now()
    await request('POST', '/api/webhooks/metrics', { token: acme.token, body: 'rubbish' })
    const watchdog = readFileSync(new URL('../fixtures/payloads/metrics-watchdog.json', import.meta.url))
    await request('POST', '/api/webhooks/metrics', { token: acme.token, body: watchdog })
    const { of } = await examine(dirname(db.file), { INCMON_PORT: '0' })
    const [nameless, heard] = of('source')
    assert.match(
      nameless ?? '',
      /^warn Acme\/metrics: no usable item yet; the last rejected item arrived less than a minute ago$/,
    )
    assert.match(heard ?? '', /^ok Acme\/metrics\/incmon: last event less than a minute ago$/)
  })

  test('a used token that has expired or expires soon is reported; an unused token is not', async (t) => {
    const { acme, charlie, clock, db, request } = makeWorld(t)
    const today = Date.now()
    clock.now = today - 2 * DAY
    const make = (of: typeof acme, name: string, expires_at: number) =>
      makeToken(db, of, ['read'], { name, expires_at })
    const used = [make(acme, 'grafana', today - DAY), make(charlie, 'prometheus', today + DAY)]
    make(acme, 'unused', today - DAY)
    for (const token of used) assert.equal((await request('GET', '/api/services', { token })).status, 200)
    const { of, ok } = await examine(dirname(db.file), { INCMON_PORT: '0' })
    const [ended, ending, ...more] = of('token')
    assert.deepEqual([more, ok], [[], true])
    assert.match(
      ended ?? '',
      /^warn Acme\/grafana: expired on \S+Z, last used 2 d ago: requests with this token are rejected$/,
    )
    assert.match(ending ?? '', /^warn Charlie\/prometheus: expires on \S+Z, last used 2 d ago$/)
  })

  test('a port used by another program fails, whatever that program responds', async (t) => {
    const server = createServer((_, response) => response.end('{"status":"ok"}'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { of, ok } = await examine(acme(t).cwd, { INCMON_PORT: String(port) })
    assert.deepEqual([of('port'), ok], [[`fail another program is listening on http://127.0.0.1:${port}`], false])
  })

  test('the certificate is also checked without a server', async (t) => {
    const { cwd } = acme(t)
    const made = [-1, 13, 30].map((days) => makeCertificate(t, 'incmon', days))
    const says = await Promise.all(
      made.map(({ cert, key }) => examine(cwd, { INCMON_PORT: '0', INCMON_TLS_CERT: cert, INCMON_TLS_KEY: key })),
    )
    const [expired, soon, good] = says.map(({ of }) => of('certificate').join())
    assert.match(expired ?? '', /^fail \S+cert\.pem expired on \S+Z: clients reject it$/)
    assert.match(soon ?? '', /^warn \S+cert\.pem expires on \S+Z, within 14 days$/)
    assert.match(good ?? '', /^ok \S+cert\.pem is valid until \S+Z$/)
    assert.deepEqual(
      says.map(({ ok }) => ok),
      [false, true, true],
    )
  })

  test('a missing certificate fails, and so does one with another key', async (t) => {
    const { cwd } = acme(t)
    const { cert, key } = makeCertificate(t)
    const flags = (...[one, other]: [string, string]) => ['--tls-cert', one, '--tls-key', other]
    const [missing, foreign] = await Promise.all([
      examine(cwd, { INCMON_PORT: '0' }, null, ...flags('/nowhere.pem', key)),
      examine(cwd, { INCMON_PORT: '0' }, null, ...flags(cert, makeCertificate(t).key)),
    ])
    assert.match(missing.of('certificate').join(), /^fail \/nowhere\.pem cannot be read \(ENOENT\)/)
    assert.match(foreign.of('certificate').join(), /^fail \S+key\.pem does not match the certificate \S+cert\.pem/)
    assert.deepEqual([missing.ok, foreign.ok], [false, false])
  })

  test('only --full finds an index with missing rows', async (t) => {
    const { cwd, file } = acme(t)
    const sqlite = new SQLite(file).unsafeMode(true)
    sqlite.exec(`PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql =
      'CREATE INDEX tokens_by_organization ON tokens (organization_id, created_at)' WHERE name = 'tokens_by_organization'`)
    sqlite.close()
    const [quick, full] = await Promise.all([
      examine(cwd, { INCMON_PORT: '0' }),
      examine(cwd, { INCMON_PORT: '0' }, null, '--full'),
    ])
    assert.deepEqual(quick.of('integrity'), ['ok the file is intact (quick_check)'])
    assert.match(
      quick.of('schema').join(),
      /^fail 1 difference from schema version \d+: index tokens_by_organization differs/,
    )
    assert.match(
      full.of('integrity')[0] ?? '',
      /^fail integrity_check found \d+ faults?; the first: row 1 missing from index/,
    )
  })

  test('a damaged page is reported with its table', async (t) => {
    const { cwd, file } = acme(t)
    const sqlite = new SQLite(file)
    const root = Number(sqlite.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'organizations'").pluck().get())
    const size = Number(sqlite.pragma('page_size', { simple: true }))
    sqlite.close()
    writeFileSync(file, readFileSync(file).fill(0x5a, (root - 1) * size, root * size))
    const { of, ok } = await examine(cwd, { INCMON_PORT: '0' }, null, '--full')
    assert.match(of('integrity').join(), /^fail integrity_check found \d+ faults?; the first: table organizations\b/)
    assert.equal(ok, false)
  })

  test('several missing rows are several faults, and only the first is shown', async (t) => {
    const { cwd, file } = acme(t)
    const sqlite = new SQLite(file).unsafeMode(true)
    sqlite.exec(`CREATE TABLE padding (text TEXT) STRICT; CREATE INDEX padding_by_text ON padding (text);
      INSERT INTO padding VALUES ('a'), ('b'), ('c'); PRAGMA writable_schema = ON; UPDATE sqlite_schema
      SET sql = 'CREATE INDEX padding_by_text ON padding (upper(text))' WHERE name = 'padding_by_text'`)
    sqlite.close()
    const { of } = await examine(cwd, { INCMON_PORT: '0' }, null, '--full')
    assert.match(of('integrity').join(), /^fail integrity_check found 3 faults; the first: row 1 missing [^\n]{1,120}$/)
  })

  test('--full finds a broken reference', async (t) => {
    const { cwd, file } = acme(t)
    const sqlite = new SQLite(file)
    sqlite.exec('PRAGMA foreign_keys = OFF; UPDATE tokens SET organization_id = 999')
    sqlite.close()
    const { of } = await examine(cwd, { INCMON_PORT: '0' }, null, '--full')
    assert.match(of('integrity').join(), /^fail 1 broken reference: row 1 of tokens refers to a row of organizations/)
  })
})
