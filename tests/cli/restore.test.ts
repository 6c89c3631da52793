/** incmon restore: a backup in the place of the database, the old one kept, and everything that it refuses. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import SQLite from 'better-sqlite3'
import { MIGRATIONS, migrate } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import { listOrganizations } from '../../src/store/organizations.ts'
import { incmon, incmonServe, refusal, shell, start } from '../helpers/cli.ts'
import { makeEvent, makeOrganization } from '../helpers/factory.ts'
import { eventually } from '../helpers/server.ts'
import { smallDisk, temporaryDirectory } from '../helpers/store.ts'

const SCHEMAS = fileURLToPath(new URL('../store/schemas', import.meta.url))

/** A database of these organizations, of about 5 MB, closed. */
function make(file: string, ...organizations: readonly string[]): void {
  const db = openStore(file)
  migrate(db, 0)
  for (const name of organizations) makeEvent(db, makeOrganization(db, name, 'Team'), {}, 'x'.repeat(2_000_000))
  db.close()
}

/** A directory with a database of Acme now, and a backup of when it was Basil's. */
function world(t: TestContext): string {
  const cwd = temporaryDirectory(t)
  make(join(cwd, 'incmon.db'), 'Acme')
  make(join(cwd, 'backup.db'), 'Basil')
  return cwd
}

function namesIn(file: string): string[] {
  const db = openStore(file)
  try {
    return listOrganizations(db).map(({ name }) => name)
  } finally {
    db.close()
  }
}

function left(cwd: string): string[] {
  return readdirSync(cwd).filter((name) => !/^(incmon|backup)\.db(\.lock)?$/.test(name))
}

suite('restore', { concurrency: 4 }, () => {
  test('into an empty directory it makes the database, private, and a server starts on it', async (t) => {
    const [cwd, empty] = [world(t), temporaryDirectory(t)]
    const { code, out, err } = await incmon(empty, ['restore', join(cwd, 'backup.db')])
    assert.match(out, /^restored incmon\.db from \S+backup\.db; "incmon serve" starts on it\n$/)
    assert.deepEqual([code, err, left(empty)], [0, '', []])
    assert.equal(statSync(join(empty, 'incmon.db')).mode & 0o777, 0o600)
    const { url } = await incmonServe(t, empty)
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
  })

  test('with --force it replaces the database and keeps the old one, log included', async (t) => {
    const cwd = world(t)
    await leaveALog(t, cwd)
    const { out } = await incmon(cwd, ['restore', 'backup.db', '--force'])
    assert.match(out, /^kept what was there as \S+\/incmon\.db\.before-restore\nrestored incmon\.db from backup\.db;/)
    assert.deepEqual(left(cwd), ['incmon.db.before-restore'])
    assert.deepEqual(namesIn(join(cwd, 'incmon.db')), ['Basil'])
    assert.deepEqual(namesIn(join(cwd, 'incmon.db.before-restore')), ['Acme', 'default'])
  })

  test('an older one that was kept stays, the next gets a number', async (t) => {
    const cwd = world(t)
    const kept: string[] = []
    for (let time = 0; time < 3; time += 1) {
      const { out } = await incmon(cwd, ['restore', 'backup.db', '--force', '--json'])
      kept.push(JSON.parse(out).kept.slice(cwd.length))
    }
    assert.deepEqual(
      kept,
      ['', '-2', '-3'].map((end) => `/incmon.db.before-restore${end}`),
    )
    assert.deepEqual(namesIn(join(cwd, 'incmon.db.before-restore')), ['Acme'])
  })

  test('what was kept can be restored like any backup', async (t) => {
    const cwd = world(t)
    await incmon(cwd, ['restore', 'backup.db', '--force'])
    await incmon(cwd, ['restore', 'incmon.db.before-restore', '--force'])
    assert.deepEqual(namesIn(join(cwd, 'incmon.db')), ['Acme'])
  })

  test('a backup may come through a pipe', async (t) => {
    const cwd = world(t)
    const { code, out } = await shell(cwd, 'incmon backup - | incmon restore - --database other.db')
    assert.deepEqual([code, out], [0, 'restored other.db from stdin; "incmon serve" starts on it\n'])
    assert.deepEqual(namesIn(join(cwd, 'other.db')), ['Acme'])
  })

  test('a damaged database is replaced too, and kept as it is, with its log', async (t) => {
    const cwd = world(t)
    const noise = readFileSync(join(cwd, 'incmon.db')).fill(0x5a, 100)
    writeFileSync(join(cwd, 'incmon.db'), noise)
    writeFileSync(join(cwd, 'incmon.db-wal'), 'its log')
    const { code } = await incmon(cwd, ['restore', 'backup.db', '--force'])
    assert.deepEqual([code, namesIn(join(cwd, 'incmon.db'))], [0, ['Basil']])
    assert.ok(readFileSync(join(cwd, 'incmon.db.before-restore')).equals(noise))
    assert.equal(readFileSync(join(cwd, 'incmon.db.before-restore-wal'), 'utf8'), 'its log')
  })

  test('the log of a database that was deleted is not played into the new one', async (t) => {
    const cwd = temporaryDirectory(t)
    make(join(cwd, 'backup.db'), 'Basil')
    writeFileSync(join(cwd, 'incmon.db-wal'), 'of another')
    await incmon(cwd, ['restore', 'backup.db'])
    assert.deepEqual(namesIn(join(cwd, 'incmon.db')), ['Basil'])
    assert.equal(readFileSync(join(cwd, 'incmon.db.before-restore-wal'), 'utf8'), 'of another')
  })

  test('onto a running server it is refused, and the server goes on', async (t) => {
    const cwd = world(t)
    const { url } = await incmonServe(t, cwd)
    const { code, err } = await incmon(cwd, ['restore', 'backup.db', '--force'])
    assert.match(err, /^incmon: \S+incmon\.db is served by another incmon: stop that one first[^\n]+\n$/)
    assert.equal(code, 1)
    assert.equal((await fetch(`${url}/readyz`)).status, 200)
    assert.ok(!existsSync(join(cwd, 'incmon.db.before-restore')))
  })

  test('while a stream is awaited no server starts, and a signal leaves nothing behind', async (t) => {
    const cwd = world(t)
    const { child, said } = start(cwd, ['restore', '-', '--force'])
    t.after(() => child.kill('SIGKILL'))
    await eventually(async () => existsSync(join(cwd, 'incmon.db.part')), Boolean)
    const server = await incmon(cwd, ['serve', '--port', '0'])
    assert.match(server.err, /is served by another incmon/)
    child.kill('SIGTERM')
    const [code] = await once(child, 'close')
    assert.deepEqual([code, said.err], [1, 'incmon: stopped: nothing was changed\n'])
    assert.deepEqual([left(cwd), namesIn(join(cwd, 'incmon.db'))], [[], ['Acme']])
  })

  test('a disk without room is named, and what was there stays', async (t) => {
    const [cwd, disk] = [world(t), smallDisk(t)]
    if (disk === null) return t.skip('only root may mount a disk')
    const small = join(disk, 'incmon.db')
    make(small)
    const before = readFileSync(small)
    truncateSync(join(cwd, 'backup.db'), 4_000_000)
    const { code, err } = await incmon(cwd, ['restore', 'backup.db', '--force', '--database', small])
    assert.match(err, /^incmon: \S+incmon\.db cannot be written \(ENOSPC\): its disk is full: make room there[^\n]+\n$/)
    assert.deepEqual([code, readdirSync(disk)], [1, ['incmon.db', 'incmon.db.lock']])
    assert.ok(readFileSync(small).equals(before))
  })
})

for (const name of readdirSync(SCHEMAS).filter((file) => file.endsWith('.db'))) {
  test(`the backup ${name} of an older incmon is restored as it is, and migrate brings it up to date`, async (t) => {
    const cwd = temporaryDirectory(t)
    await incmon(cwd, ['restore', join(SCHEMAS, name)])
    assert.equal(modelOf(join(cwd, 'incmon.db')), Number.parseInt(name, 10))
    assert.equal((await incmon(cwd, ['migrate'])).code, 0)
    assert.equal(modelOf(join(cwd, 'incmon.db')), MIGRATIONS.length)
  })
}

/** The server makes an organization and is killed: what it wrote stands in the log alone. */
async function leaveALog(t: TestContext, cwd: string): Promise<void> {
  const { stop } = await incmonServe(t, cwd)
  await incmon(cwd, ['org', 'create', 'default'])
  await stop('SIGKILL')
  assert.ok(statSync(join(cwd, 'incmon.db-wal')).size > 0)
}

const BACKUPS: readonly [what: string, make: (file: string) => void, line: RegExp][] = [
  ['a text', (file) => writeFileSync(file, 'dear diary'), /is not a database: name what "incmon backup" wrote$/],
  ['empty', (file) => writeFileSync(file, ''), /is empty: name another backup$/],
  ['cut off', (file) => truncateSync(file, 100_000), /is damaged or cut off \(.+\): name another backup$/],
  ['damaged', damage, /is damaged or cut off/],
  ['of another program', otherProgram, /is a database of another program: name what "incmon backup" wrote$/],
  [
    'of a newer incmon',
    (file) => setModel(file, 99),
    /has data model 99 and this incmon knows \d+: use the newer incmon/,
  ],
  ['without anything', (file) => setModel(file, 0), /holds nothing: name another backup$/],
  ['missing', (file) => rmSync(file), /^there is no file \S+backup\.db: name a backup, or - for stdin$/],
  ['a directory', directory, /is no regular file: name a backup, or - for stdin$/],
  [
    'still open',
    (file) => writeFileSync(`${file}-wal`, 'log'),
    /is in use or was not closed.+back it up first, with "incmon backup/,
  ],
]

for (const [what, spoil, line] of BACKUPS) {
  test(`a backup that is ${what} is refused in one line, and the database stays to the byte`, async (t) => {
    const cwd = world(t)
    spoil(join(cwd, 'backup.db'))
    const before = readFileSync(join(cwd, 'incmon.db'))
    const { text, code } = await refusal(restoring(cwd, 'backup.db', '--force'))
    assert.match(text, line)
    assert.deepEqual([code, text.split('\n').length], [1, 1])
    assert.ok(readFileSync(join(cwd, 'incmon.db')).equals(before))
    assert.deepEqual(
      left(cwd).filter((name) => name !== 'backup.db-wal'),
      [],
    )
  })
}

test('without --force an existing database is refused, with the name under which it would be kept', async (t) => {
  const cwd = world(t)
  const { text, code } = await refusal(restoring(cwd, 'backup.db'))
  assert.match(text, /incmon\.db exists already: add --force to replace it, it is kept as \S+\.before-restore/)
  assert.deepEqual([code, namesIn(join(cwd, 'incmon.db')), left(cwd)], [1, ['Acme'], []])
})

test('the database is no backup of itself', async (t) => {
  const { text, code } = await refusal(restoring(world(t), 'incmon.db', '--force'))
  assert.match(text, /incmon\.db is the database itself: name a backup of it$/)
  assert.equal(code, 1)
})

test('a database that another process works on is not taken away from it', async (t) => {
  const cwd = world(t)
  const other = openStore(join(cwd, 'incmon.db'))
  t.after(() => other.close())
  listOrganizations(other)
  const { text } = await refusal(restoring(cwd, 'backup.db', '--force'))
  assert.match(text, /incmon\.db is in use by another process: wait for it or stop it, and restore again$/)
  assert.equal(listOrganizations(other).length, 1)
})

test('a database of another program is not replaced, even with --force', async (t) => {
  const cwd = world(t)
  otherProgram(join(cwd, 'incmon.db'))
  const { text } = await refusal(restoring(cwd, 'backup.db', '--force'))
  assert.match(text, /incmon\.db is a database of another program: name another --database$/)
  assert.deepEqual(left(cwd), [])
})

test('what root restores belongs to whom the directory belongs, the lock too', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root may give files away')
  const [cwd, theirs] = [world(t), temporaryDirectory(t)]
  chownSync(theirs, 65_534, 65_534)
  await incmon(theirs, ['restore', join(cwd, 'backup.db')])
  for (const name of ['incmon.db', 'incmon.db.lock']) assert.equal(statSync(join(theirs, name)).uid, 65_534)
})

test('a directory that is missing is named', async (t) => {
  const cwd = world(t)
  const { text, code } = await refusal([
    'restore',
    join(cwd, 'backup.db'),
    '--database',
    join(cwd, 'gone', 'incmon.db'),
  ])
  assert.match(text, /^there is no directory \S+gone: make it, or name another --database$/)
  assert.equal(code, 1)
})

function restoring(cwd: string, backup: string, ...more: readonly string[]): string[] {
  return ['restore', join(cwd, backup), '--database', join(cwd, 'incmon.db'), ...more]
}

function otherProgram(file: string): void {
  rmSync(file)
  const other = new SQLite(file)
  other.exec('CREATE TABLE notes (text TEXT)')
  other.close()
}

function directory(file: string): void {
  rmSync(file)
  mkdirSync(file)
}

function modelOf(file: string): unknown {
  const sqlite = new SQLite(file)
  try {
    return sqlite.pragma('user_version', { simple: true })
  } finally {
    sqlite.close()
  }
}

function setModel(file: string, model: number): void {
  const sqlite = new SQLite(file)
  sqlite.pragma(`user_version = ${model}`)
  sqlite.close()
}

function damage(file: string): void {
  writeFileSync(file, readFileSync(file).fill(0x5a, 8192, 12_288))
}
