/** The output of commands as text and JSON. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createProgram } from '../../src/cli/cli.ts'
import { MIGRATIONS } from '../../src/store/sqlite/schema/migrate.ts'
import { call, refusal } from '../helpers/cli.ts'
import { makeOrganization, makeService, makeToken } from '../helpers/factory.ts'
import { newStore, temporaryDirectory } from '../helpers/store.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const BACKOFF = {
  namespace: 'shop',
  podName: 'cart-6c9d7f5b84-zq4wn',
  reason: 'BackOff',
  message: 'Back-off',
  count: 3,
}

/** Creates a directory with a database that contains Acme and, optionally, Basil. */
function acme(t: TestContext, more: { basil?: boolean } = {}) {
  const cwd = temporaryDirectory(t)
  const db = newStore(join(cwd, 'incmon.db'))
  const organization = makeOrganization(db, 'Acme', 'Team')
  if (more.basil) makeOrganization(db, 'Basil', 'Free')
  t.after(() => db.close())
  return { cwd, db, organization }
}

suite('commands', { concurrency: 1 }, () => {
  test('version prints one line or JSON, and creates no database', async (t) => {
    const cwd = temporaryDirectory(t)
    const facts = JSON.parse((await call(cwd, ['version', '--json'])).out)
    const { version, commit, node, sqlite, dataModel } = facts
    assert.deepEqual([node, dataModel], [process.versions.node, MIGRATIONS.length])
    assert.match(commit, /^(unknown|[0-9a-f]{12})$/)
    for (const one of [version, sqlite]) assert.match(one, /^\d+\.\d+\.\d+$/)
    const line = `incmon ${version}, commit ${commit}, Node ${node}, SQLite ${sqlite}, schema version ${dataModel}\n`
    assert.equal((await call(cwd, ['version'])).out, line)
    assert.deepEqual(readdirSync(cwd), [])
  })

  test('a checkout without a repository has no commit', async (t) => {
    const root = temporaryDirectory(t)
    for (const name of ['src', 'sql', 'node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(root, name))
    const flags = ['--preserve-symlinks', '--preserve-symlinks-main', '--import', import.meta.resolve('tsx')]
    const { stdout } = spawnSync(process.execPath, [...flags, join(root, 'src/main.ts'), 'version', '--json'])
    assert.equal(JSON.parse(String(stdout)).commit, 'unknown')
  })

  test('a typed command is the only one that is loaded, after options too', async () => {
    const names = (await createProgram(Date.now)).commands.map((one) => one.name())
    for (const name of names.filter((one) => one !== 'completion')) {
      const typed = ['--json', '--database', 'token', name, 'token']
      const { commands } = await createProgram(Date.now, typed)
      assert.ok(commands.length < 3 && commands.some((one) => one.name() === name), name)
    }
  })

  test('an unknown command is compared with all commands', async () => {
    assert.match((await refusal(['tokn'])).text, /did you mean token/)
    assert.equal((await createProgram(Date.now, ['constructor'])).commands.length > 20, true)
  })

  test('help lists every command', async () => {
    const help = (await createProgram(Date.now)).helpInformation()
    for (const command of [
      'serve',
      'migrate',
      'backup',
      'restore',
      'org',
      'token',
      'service',
      'send-test',
      'explain',
      'incident',
      'replay',
      'prune',
    ]) {
      assert.match(help, new RegExp(`^  ${command}\\b`, 'm'))
    }
  })

  test('token create in an empty directory creates no database', async (t) => {
    const cwd = temporaryDirectory(t)
    const { code, err } = await call(cwd, ['token', 'create'])
    assert.equal(code, 1)
    assert.match(
      err,
      /^incmon: there is no database at \S+incmon\.db: choose the server's with --database, or create one with "incmon org create NAME" or /,
    )
    assert.deepEqual(readdirSync(cwd), [])
  })

  test('org create creates a private database and says where; token create then prints a token', async (t) => {
    const cwd = temporaryDirectory(t)
    const created = await call(cwd, ['org', 'create', 'Acme'])
    assert.equal(created.err, `created a new database at ${join(cwd, 'incmon.db')}\n`)
    assert.equal(statSync(join(cwd, 'incmon.db')).mode & 0o777, 0o600)
    const { out } = await call(cwd, ['token', 'create', '--scopes', 'read,ingest', '--json'])
    const { token, id, organization, scopes } = JSON.parse(out)
    assert.match(token, /^incmon_[\w-]{43}$/)
    assert.match(id, UUID)
    assert.deepEqual([organization, scopes], ['Acme', ['ingest', 'read']])
  })

  test('stdout contains only the token, and stderr describes it', async (t) => {
    const { cwd } = acme(t)
    const { out, err } = await call(cwd, ['token', 'create', '--cluster', 'staging', '--expires', '90d'])
    assert.match(out, /^incmon_[\w-]{43}\n$/)
    assert.match(
      err,
      /^created a token for Acme with the scope ingest, valid until \d{4}-.+Z; save it now, because it is shown only once\n$/,
    )
  })

  test('org create, set-plan and list use the same file, with common options before or after', async (t) => {
    const file = join(temporaryDirectory(t), 'elsewhere.db')
    await call('/', ['org', 'create', 'Acme', '--plan', 'Team', '--database', file])
    const changed = await call('/', ['org', '--database', file, 'set-plan', 'Acme', 'Pro'])
    const listed = await call('/', ['--json', '--database', file, 'org', 'list'])
    const [{ name, plan, id }] = JSON.parse(listed.out)
    assert.equal(changed.out, 'Acme is now on the Pro plan\n')
    assert.deepEqual([name, plan], ['Acme', 'Pro'])
    assert.match(id, UUID)
  })

  test('token list shows the state of each token, as a table and as JSON, and never the secret', async (t) => {
    const { cwd, db, organization } = acme(t)
    const secret = makeToken(db, organization, ['read'], { name: 'usual' })
    makeToken(db, organization, ['read'], { name: 'over', expires_at: 1 })
    makeToken(db, organization, ['read'], { name: 'ended', revoked_at: 1 })
    const [table, json] = await Promise.all([call(cwd, ['token', 'list']), call(cwd, ['token', 'list', '--json'])])
    assert.match(table.out, /^NAME +SCOPES +CLUSTER +STATE/)
    const states = JSON.parse(json.out).map((token: { name: string; state: string }) => [token.name, token.state])
    assert.deepEqual(Object.fromEntries(states), { usual: 'usable', over: 'expired', ended: 'revoked' })
    assert.ok(!`${table.out}${json.out}`.includes(secret))
  })

  test('service list replaces control characters in names', async (t) => {
    const { cwd, db, organization } = acme(t)
    makeService(db, organization, 'cart\u001b[2J', { status: 'degraded', score: 60 })
    const { out } = await call(cwd, ['service', 'list', '--org', 'Acme'])
    assert.match(out, /^shop +cart�\[2J +- +degraded +60 +-/m)
    assert.ok(!out.includes('\u001b'))
  })

  test('service merge without a terminal requires --yes and then moves the history', async (t) => {
    const { cwd, db, organization } = acme(t)
    makeService(db, organization, 'cart-v1')
    const into = makeService(db, organization, 'cart')
    const asked = await call(cwd, ['service', 'merge', 'shop/cart-v1', into.id])
    assert.deepEqual([asked.code, asked.out], [2, ''])
    assert.match(asked.err, /^incmon: a merge cannot be undone.+add --yes\n$/)
    const merged = await call(cwd, ['service', 'merge', 'shop/cart-v1', into.id, '--yes'])
    assert.match(merged.out, /^merged shop\/cart-v1 into shop\/cart;/)
    assert.equal(db.all(db.sql.selectFrom('services').select('id')).length, 1)
  })

  test('explain shows each decision with its rule, and stores nothing', async (t) => {
    const { cwd, db } = acme(t)
    writeFileSync(join(cwd, 'event.json'), JSON.stringify(BACKOFF))
    const table = await call(cwd, ['explain', 'event.json', '--source', 'cluster'])
    const json = await call(cwd, ['explain', '-', '--source', 'cluster', '--json'], {
      input: JSON.stringify(BACKOFF),
    })
    assert.match(table.out, /^service +shop\/cart \(new\) +\S/m)
    for (const what of ['identity', 'severity', 'health']) assert.match(table.out, new RegExp(`^${what} +\\S`, 'm'))
    assert.equal(JSON.parse(json.out).decisions[0].service.name, 'cart')
    assert.equal(db.all(db.sql.selectFrom('events').select('id')).length, 0)
  })

  test('explain shows the errors of a payload that would be rejected', async (t) => {
    const { cwd, db } = acme(t)
    const file = join(cwd, 'broken.json')
    writeFileSync(file, '{"alerts": [{}, ')
    const broken = await refusal(['explain', file, '--source', 'metrics', '--database', db.file])
    const mixed = await call(cwd, ['explain', '-', '--source', 'metrics'], { input: '{"alerts": [{}]}' })
    assert.deepEqual([broken.code, broken.text.split('\n').length], [1, 1])
    assert.match(mixed.out, /^item 0: rejected: labels: /)
  })

  test('explain names a misspelled field of an accepted alert once, and keeps the other warnings', async (t) => {
    const { cwd } = acme(t)
    const input =
      '{"alerts": [{"labels": {"alertname": "Slow", "severity": "odd"}, "startAt": "2026-03-14T12:00:00Z"}]}'
    const { err } = await call(cwd, ['explain', '-', '--source', 'metrics'], { input })
    assert.equal(err.split('startAt').length, 2, err)
    assert.match(err, /^item 0: labels\.severity: "odd" is not a known severity/m)
  })

  test('migrate prints what it did; --status and --dry-run change nothing', async (t) => {
    const cwd = temporaryDirectory(t)
    const dry = await call(cwd, ['migrate', '--dry-run'])
    assert.match(dry.out, /0001_create_tables +not yet/)
    assert.ok(!existsSync(join(cwd, 'incmon.db')))
    const done = await call(cwd, ['migrate'])
    const status = await call(cwd, ['migrate', '--status', '--json'])
    assert.match(
      done.out,
      /^created a new database at \S+\napplied 0001_create_tables(?:, [\w ]+)*,? .* to incmon\.db\n$/s,
    )
    assert.match(JSON.parse(status.out)[0].appliedAt, /^\d{4}-.+Z$/)
  })

  test('a scheduled silence says whether it is active now or when it will be', async (t) => {
    const { cwd } = acme(t)
    const add = async (...args: string[]) =>
      (await call(cwd, ['silence', 'add', 'team="a"', '--for', '7d', '--comment', 'x', ...args])).out
    const days = 'monday,tuesday,wednesday,thursday,friday,saturday,sunday'
    assert.match(await add('--weekly', days), /, now to \d{4}-\S+Z, until /)
    assert.match(await add('--weekly', days, '--start', '2099-01-01'), /, next from 2099-01-01T\S+ to 2099-\S+, until /)
  })

  test('a silence ends once', async (t) => {
    const { cwd } = acme(t)
    const added = await call(cwd, ['silence', 'add', 'team="a"', '--for', '7d', '--comment', 'x', '--json'])
    const { id } = JSON.parse(added.out)
    const expire = async () => (await call(cwd, ['silence', 'expire', id])).out
    assert.deepEqual([await expire(), await expire()], [`ended silence ${id}\n`, `silence ${id} had already ended\n`])
  })

  test('with several organizations, one must be named', async (t) => {
    const { db } = acme(t, { basil: true })
    const { code, text } = await refusal(['token', 'create', '--database', db.file])
    assert.deepEqual(
      [code, text],
      [2, 'there are several organizations: choose one of Acme, Basil with --org or INCMON_ORG'],
    )
  })
})
