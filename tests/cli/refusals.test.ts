/** Command line errors: one line that says what to do, an exit code, and no changes. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import SQLite from 'better-sqlite3'
import { bringUpToDate } from '../../src/cli/commands/migrate.ts'
import { holdLock } from '../../src/store/sqlite/lock.ts'
import { MIGRATIONS, type Migrations } from '../../src/store/sqlite/schema/migrate.ts'
import { incmon, refusal } from '../helpers/cli.ts'
import { makeOrganization } from '../helpers/factory.ts'
import { newStore, temporaryDirectory, temporaryStore } from '../helpers/store.ts'

function acme(t: TestContext): string {
  const cwd = temporaryDirectory(t)
  const db = newStore(join(cwd, 'incmon.db'))
  makeOrganization(db, 'Acme', 'Team')
  db.close()
  return cwd
}

const HOOK = 'https://hooks.slack.com/services/T000/B000/XXXX'
const SLACK = ['channel', 'add', 'a', '--kind', 'slack']

const USAGE: readonly [args: string, line: RegExp][] = [
  ['serv', /^unknown command serv: did you mean serve\?$/],
  ['frobnicate', /^unknown command frobnicate: "incmon --help --database \S+" shows the commands$/],
  ['incident lst', /^unknown command lst: did you mean list\?$/],
  ['serve --prot 80', /^unknown option --prot: did you mean --port\?$/],
  ['org list --frobnicate', /^unknown option --frobnicate: "incmon org list --help --database \S+" shows the options$/],
  ['serve --port 99999', /^--port: "99999" is not a whole number from 0 to 65535$/],
  ['serve --port', /^--port requires a value: --port <port>$/],
  ['serve now', /^unexpected argument now: run "incmon serve --database \S+"; put quotes around/],
  ['explain metrics a.json', /^unexpected argument metrics: use --source metrics; run "incmon explain /],
  ['explain a.json b.json', /^unexpected argument b\.json: run "incmon explain .+ put quotes around/],
  ['incident ack 1 2', /^unexpected argument 2: run "incmon incident ack <id> --database \S+"; put quotes around/],
  ['org create Basil --plan Gold', /^--plan: "Gold" is not valid; .*choose one of Free, Team, Pro$/],
  ['incident list --status Open', /^--status: "Open" is not valid; did you mean open\? choose one of open, /],
  ['org set-plan Acme gold', /^<plan>: "gold" is not valid; .*choose one of Free, Team, Pro$/],
  [
    'org create',
    /^<name> is missing: run "incmon org create <name> --database \S+"; <name> is the name of the organization$/,
  ],
  [
    'completion',
    /^<shell> is missing: run "incmon completion <shell> --database \S+"; <shell> is one of bash, zsh, fish$/,
  ],
  ['backup', /^<file> is missing: .*<file> is the file to write, or - for standard output$/],
  ['channel add a', /^--kind is missing: add --kind <kind>, one of slack, discord, /],
  ['silence add a=b --for 1h', /^--comment is missing: add --comment <text>, why the alerts are silenced$/],
  ['silence add a=b --comment x --for 1h --start soon', /^--start: soon is not a time: use a time such as/],
  ['channel set a --remind-after soon', /^--remind-after: "soon" is not a duration; use minutes \(10\)/],
  ['token create --scopes ingest,root', /^--scopes: root is not a scope: choose from ingest, read, write, admin$/],
  ['token create --scopes ,', /^--scopes is empty: choose from ingest, read, write, admin$/],
  ['token create --expires 90', /^--expires: 90 is not a duration from 1m to 100y: use a duration such as 30m/],
  ['token create --expires 0d', /^--expires: 0d is not a duration from 1m to 100y/],
  [
    'silence add a=~b( --comment x --for 1h',
    /^matcher: .+ regular expression: missing closing \): `b\(`; correct it, or compare with = or !=$/,
  ],
  [
    'send-test pager --token x',
    /^unknown sender pager: choose one of kubernetes, alertmanager, .+ metrics, dashboard, ci$/,
  ],
  ['send-test metrics', /^a token is required: set --token or INCMON_TOKEN/],
  ['send-test metrics --token x --url ftp://a', /^--url: ftp:\/\/a is not a URL/],
  ['explain x.json --source alertmanger', /^unknown sender alertmanger: did you mean alertmanager\?/],
  ['explain x.json --source constructor', /^unknown sender constructor: /],
]

const FAILURES: readonly [args: string, line: RegExp][] = [
  ['org create Acme --plan Pro', /^an organization named Acme already exists: choose another name$/],
  [
    'org set-plan Basil Pro',
    /^there is no organization named Basil: choose one of Acme, or create it with "incmon org create NAME --database \S+"$/,
  ],
  ['token list --org Basil', /^there is no organization named Basil: choose one of Acme/],
  ['token create --org Basil', /^there is no organization named Basil: choose one of Acme/],
  [
    'token revoke 01900000-0000-7000-8000-000000000000',
    /^there is no token with the id 0190.+: "incmon token list --database \S+" shows all ids/,
  ],
  [
    'service merge shop/a shop/b --yes',
    /^there is no service shop\/a: use an id or namespace\/name, as shown by "incmon service list --archived --database \S+"/,
  ],
  [
    'explain gone.json --source ci',
    /^gone\.json does not exist: choose a file with the payload, or - for standard input$/,
  ],
  ['send-test ci --token x --url http://127.0.0.1:9', /^no response from http:\/\/127\.0\.0\.1:9 \(.+\): start/],
]

for (const [args, line] of USAGE) {
  test(`wrong usage, exit code 2: incmon ${args}`, async (t) => {
    const { text, code } = await refusal([...args.split(' '), '--database', join(temporaryDirectory(t), 'incmon.db')])
    assert.match(text, line)
    assert.equal(code, 2)
  })
}

for (const [args, line] of FAILURES) {
  test(`one line, exit code 1: incmon ${args}`, async (t) => {
    const { text, code } = await refusal([...args.split(' '), '--database', join(acme(t), 'incmon.db')])
    assert.match(text, line)
    assert.deepEqual([code, text.split('\n').length], [1, 1])
  })
}

/** Incorrect usage that only the API can detect. */
const BY_OPTION: readonly [args: readonly string[], line: RegExp][] = [
  [[...SLACK, '--url', 'ftp://x'], /^--url: the URL must begin with https/],
  [[...SLACK, '--url', 'nowhere'], /^--url: not a URL; use a URL such as https/],
  [[...SLACK, '--url', HOOK, '--time-zone', 'Mars'], /^--time-zone: expected a time zone such as Europe/],
  [[...SLACK, '--url', HOOK, '--remind-every', '99999'], /^--remind-every: expected a whole number of minutes/],
  [[...SLACK, '--url', HOOK, '--to', 'a@b.example'], /^--to: a slack channel has no email addresses; use --url$/],
  [['silence', 'add', 'a="b"', '--for', '1h', '--comment', ' '], /^--comment: empty; write at least one character$/],
  [['silence', 'add', 'a="b"', '--for', '1h', '--comment', 'x', '--start', '2020-01-01'], /^--for: is in the past/],
  [['token', 'list', '--org', ''], /^--org is empty: choose one of Acme$/],
  [['setup-link', '--org', ' '], /^--org is empty: choose one of Acme$/],
  [['incident', 'show', '1', '--org', ''], /^--org is empty: choose one of Acme$/],
  [['incident', 'show', ''], /^<id> is missing: run "incmon incident show <id>/],
  [['token', 'revoke', ' '], /^<id> is missing: run "incmon token revoke <id>/],
  [['org', 'create', ''], /^<name> is missing: run "incmon org create <name>/],
]

for (const [args, line] of BY_OPTION) {
  test(`the error names the option: incmon ${args.join(' ')}`, async (t) => {
    const { text, code } = await refusal([...args, '--database', join(acme(t), 'incmon.db')])
    assert.match(text, line)
    assert.deepEqual([code, text.split('\n').length], [2, 1])
  })
}

test('a directory that cannot be created is reported, also in /proc', async (t) => {
  const args = ['incident', 'export', '/proc/postmortems', '--database', join(acme(t), 'incmon.db')]
  const { text, code } = await refusal(args)
  assert.match(text, /^\/proc\/postmortems cannot be created \(ENOENT\): choose another directory$/)
  assert.equal(code, 1)
})

test('an address of another machine is rejected with a remedy', async (t) => {
  const file = join(temporaryDirectory(t), 'incmon.db')
  const { text, code } = await refusal(['serve', '--port', '0', '--host', '192.0.2.1', '--database', file])
  assert.match(text, /^this machine has no address 192\.0\.2\.1 \(EADDRNOTAVAIL\): [^\n]+--host[^\n]+$/)
  assert.equal(code, 1)
})

for (const args of [
  'token create',
  'org list',
  'org set-plan Acme Pro',
  'token list',
  'service list',
  'token revoke x',
]) {
  test(`incmon ${args} creates no database`, async (t) => {
    const cwd = temporaryDirectory(t)
    const { text, code } = await refusal([...args.split(' '), '--database', join(cwd, 'a.db')])
    assert.match(
      text,
      /^there is no database at \S+a\.db: choose the server's with --database, or create one with "incmon org create NAME --database \S+a\.db" or "incmon serve /,
    )
    assert.deepEqual([code, readdirSync(cwd)], [1, []])
  })
}

for (const args of ['org list', 'doctor']) {
  test(`incmon ${args} names the copy that a server saved, and suggests no new database`, async (t) => {
    const cwd = temporaryDirectory(t)
    const file = join(cwd, 'a.db')
    const copy = `${file}.rescued-20261128T120000Z`
    writeFileSync(copy, 'saved')
    const { code, out, err } = await incmon(cwd, [...args.split(' '), '--database', file])
    const text = out + err
    assert.ok(text.includes(`${copy} contains its data`) && text.includes(`mv ${copy} ${file}`), text)
    assert.doesNotMatch(text, /create one with/)
    assert.equal(code, 1)
  })
}

for (const args of ['org list', 'org create Acme', 'backup copy.db']) {
  test(`incmon ${args} does not suggest a new database if the log of the old one is there`, async (t) => {
    const cwd = temporaryDirectory(t)
    const file = join(cwd, 'a.db')
    writeFileSync(`${file}-wal`, 'data')
    const { text, code } = await refusal([...args.split(' '), '--database', file])
    assert.match(
      text,
      /a\.db is missing or empty, and \S+a\.db-wal contains its data: put the database file back next to/,
    )
    assert.deepEqual([code, readdirSync(cwd)], [1, ['a.db-wal']])
  })
}

suite('the program itself', { concurrency: 4 }, () => {
  for (const [args, code, line] of [
    ['', 2, /^Usage: incmon/],
    ['serve --prot 80', 2, /^incmon: unknown option --prot: did you mean --port\?\n$/],
    ['org list', 1, /^incmon: there is no database at \S+incmon\.db: [^\n]+\n$/],
    [
      'serve --database /proc/incmon.db',
      1,
      /^incmon: \/proc\/incmon\.db cannot be created[^\n]+that \/proc exists[^\n]+\n$/,
    ],
  ] as const) {
    test(`incmon ${args} ends with ${code} and says why only on stderr`, async (t) => {
      const outcome = await incmon(temporaryDirectory(t), args.split(' ').filter(Boolean))
      assert.match(outcome.err, line)
      assert.deepEqual([outcome.code, outcome.out], [code, ''])
    })
  }

  test('all configuration errors are reported at once', async (t) => {
    const cwd = temporaryDirectory(t)
    writeFileSync(join(cwd, 'incmon.toml'), 'hots = "a"')
    const { code, err } = await incmon(cwd, ['serve'], { env: { INCMON_PORT: 'x' } })
    assert.equal(code, 2)
    assert.match(err, /^incmon: incmon\.toml: hots: .+did you mean host\?.+\nincmon: INCMON_PORT: "x" is not.+\n$/)
  })
})

const FILES: readonly [what: string, make: (file: string) => void, line: RegExp][] = [
  ['a text', (file) => writeFileSync(file, 'dear diary'), /is not a database, or is damaged/],
  ['of another program', otherProgram, /belongs to another program/],
  [
    'of a newer incmon',
    newer,
    new RegExp(`has schema version 99, but this version of incmon supports at most ${MIGRATIONS.length}: use a newer`),
  ],
  ['damaged', damaged, /damaged.*restore a backup/],
]

for (const [what, make, line] of FILES) {
  for (const args of ['serve --port 0', 'org list', 'token create', 'migrate']) {
    test(`incmon ${args} does not change a byte of a file that is ${what}`, async (t) => {
      const file = join(temporaryDirectory(t), 'incmon.db')
      make(file)
      const before = readFileSync(file)
      const { text, code } = await refusal([...args.split(' '), '--database', file])
      assert.match(text, line)
      assert.deepEqual([code, text.split('\n').length], [1, 1])
      assert.ok(readFileSync(file).equals(before))
      assert.ok(!existsSync(`${file}.lock`), 'no lock beside a file that is not ours')
    })
  }
}

test('an older file is not upgraded while a server is running', (t) => {
  const db = temporaryStore(t)
  const next: Migrations = {
    names: [...MIGRATIONS, '9999_next'],
    textOf: () => 'CREATE TABLE next (id INTEGER) STRICT',
  }
  const stopServer = holdLock(db.file)
  assert.throws(() => bringUpToDate(db, 1, next), /is in use by an incmon server: stop that server first/)
  stopServer()
  assert.deepEqual(bringUpToDate(db, 1, next).applied, ['9999_next'])
})

function otherProgram(file: string): void {
  const other = new SQLite(file)
  other.exec('CREATE TABLE notes (text TEXT)')
  other.close()
}

function newer(file: string): void {
  const db = newStore(file)
  db.pragma('user_version = 99')
  db.close()
}

/** A file with a valid header whose tables are random bytes. */
function damaged(file: string): void {
  const db = newStore(file)
  db.close()
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0x5a, 100))
}

test('a directory is not a database', async () => {
  const { text, code } = await refusal(['org', 'list', '--database', '/etc'])
  assert.deepEqual([text.trim(), code], ['/etc is a directory: choose a file with --database', 1])
})
