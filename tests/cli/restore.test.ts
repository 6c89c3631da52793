/** incmon restore: replaces the database with a backup and keeps the old one. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chownSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import SQLite from 'better-sqlite3'
import { migrationText } from '../../src/assets.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { MIGRATIONS, migrate } from '../../src/store/sqlite/schema/migrate.ts'
import { incmon, incmonServe, shell, start } from '../helpers/cli.ts'
import { NOON } from '../helpers/factory.ts'
import { eventually, readiness } from '../helpers/server.ts'
import { smallDisk, temporaryDirectory } from '../helpers/store.ts'
import { left, make, namesIn, world } from './restoring.ts'

suite('restore', { concurrency: 4 }, () => {
  test('in an empty directory it creates a private database, and a server starts on it', async (t) => {
    const [cwd, empty] = [world(t), temporaryDirectory(t)]
    const { code, out, err } = await incmon(empty, ['restore', join(cwd, 'backup.db')])
    assert.match(out, /^restored incmon\.db from \S+backup\.db: start the server with "incmon serve"\n$/)
    assert.deepEqual([code, err, left(empty)], [0, '', []])
    assert.equal(statSync(join(empty, 'incmon.db')).mode & 0o777, 0o600)
    const { url } = await incmonServe(t, empty)
    assert.equal(await readiness(url), 200)
  })

  test('with --force it replaces the database and keeps the old one, including its log', async (t) => {
    const cwd = world(t)
    await leaveALog(t, cwd)
    const { out } = await incmon(cwd, ['restore', 'backup.db', '--force'])
    assert.match(
      out,
      /^moved the old database to \S+\/incmon\.db\.before-restore\nrestored incmon\.db from backup\.db:/,
    )
    assert.deepEqual(left(cwd), ['incmon.db.before-restore'])
    assert.deepEqual(namesIn(join(cwd, 'incmon.db')), ['Basil'])
    assert.deepEqual(namesIn(join(cwd, 'incmon.db.before-restore')), ['Acme', 'default'])
  })

  test('a copy kept earlier stays, and the next one gets a number', async (t) => {
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
    const { err } = await incmon(cwd, ['restore', 'backup.db'])
    assert.match(err, /keep it as incmon\.db\.before-restore-4, or/)
  })

  test('a kept database can be restored like any backup', async (t) => {
    const cwd = world(t)
    await incmon(cwd, ['restore', 'backup.db', '--force'])
    await incmon(cwd, ['restore', 'incmon.db.before-restore', '--force'])
    assert.deepEqual(namesIn(join(cwd, 'incmon.db')), ['Acme'])
  })

  test('a backup can come through a pipe', async (t) => {
    const cwd = world(t)
    const { code, out } = await shell(cwd, 'incmon backup - | incmon restore - --database other.db')
    assert.deepEqual(
      [code, out],
      [0, 'restored other.db from standard input: start the server with "incmon serve --database other.db"\n'],
    )
    assert.deepEqual(namesIn(join(cwd, 'other.db')), ['Acme'])
  })

  test('an endless pipe is rejected at an invalid header, or after the last page', async (t) => {
    const cwd = world(t)
    const zero = await shell(cwd, 'incmon restore - --database other.db </dev/zero')
    assert.match(
      zero.err,
      /^incmon: standard input is not a database: choose a file that "incmon backup --database other\.db" wrote\n$/,
    )
    const long = await shell(cwd, '{ incmon backup -; cat /dev/zero; } | incmon restore - --database other.db')
    assert.match(long.err, /^incmon: standard input has extra data after the \d+ bytes of its database/m)
    assert.deepEqual([zero.code, long.code, left(cwd)], [1, 1, ['other.db.lock']])
  })

  test('a damaged database is replaced and kept unchanged with its log', async (t) => {
    const cwd = world(t)
    const noise = readFileSync(join(cwd, 'incmon.db')).fill(0x5a, 100)
    writeFileSync(join(cwd, 'incmon.db'), noise)
    writeFileSync(join(cwd, 'incmon.db-wal'), 'its log')
    const { code } = await incmon(cwd, ['restore', 'backup.db', '--force'])
    assert.deepEqual([code, namesIn(join(cwd, 'incmon.db'))], [0, ['Basil']])
    assert.ok(readFileSync(join(cwd, 'incmon.db.before-restore')).equals(noise))
    assert.equal(readFileSync(join(cwd, 'incmon.db.before-restore-wal'), 'utf8'), 'its log')
  })

  test('the log of a deleted database is not applied to the new one', async (t) => {
    const cwd = temporaryDirectory(t)
    make(join(cwd, 'backup.db'), 'Basil')
    writeFileSync(join(cwd, 'incmon.db-wal'), 'of another')
    await incmon(cwd, ['restore', 'backup.db'])
    assert.deepEqual(namesIn(join(cwd, 'incmon.db')), ['Basil'])
    assert.equal(readFileSync(join(cwd, 'incmon.db.before-restore-wal'), 'utf8'), 'of another')
  })

  test('it refuses to run while a server is running', async (t) => {
    const cwd = world(t)
    const { url } = await incmonServe(t, cwd)
    const { code, err } = await incmon(cwd, ['restore', 'backup.db', '--force'])
    assert.match(err, /^incmon: \S+incmon\.db is in use by an incmon server: stop that server first[^\n]+\n$/)
    assert.equal(code, 1)
    assert.equal(await readiness(url), 200)
    assert.ok(!existsSync(join(cwd, 'incmon.db.before-restore')))
  })

  test('while it waits for a stream no server can start, and a signal leaves no file behind', async (t) => {
    const cwd = world(t)
    const { child, said } = start(cwd, ['restore', '-', '--force'])
    t.after(() => child.kill('SIGKILL'))
    await eventually(async () => existsSync(join(cwd, 'incmon.db.part')), Boolean)
    const server = await incmon(cwd, ['serve', '--port', '0'])
    assert.match(server.err, /is in use by an incmon server/)
    child.kill('SIGTERM')
    const [code] = await once(child, 'close')
    assert.deepEqual([code, said.err], [1, 'incmon: stopped: nothing was changed\n'])
    assert.deepEqual([left(cwd), namesIn(join(cwd, 'incmon.db'))], [[], ['Acme']])
  })

  test('a full disk is reported, and the old database is kept', async (t) => {
    const [cwd, disk] = [world(t), smallDisk(t)]
    if (disk === null) return t.skip('only root may mount a disk')
    const small = join(disk, 'incmon.db')
    make(small)
    const before = readFileSync(small)
    truncateSync(join(cwd, 'backup.db'), 4_000_000)
    const { code, err } = await incmon(cwd, ['restore', 'backup.db', '--force', '--database', small])
    assert.match(
      err,
      /^incmon: \S+incmon\.db cannot be written \(ENOSPC\): its disk is full, or its quota is used up: free some space[^\n]+\n$/,
    )
    assert.deepEqual([code, readdirSync(disk)], [1, ['incmon.db', 'incmon.db.lock']])
    assert.ok(readFileSync(small).equals(before))
  })
})

test('the backup of an older incmon is restored as it is, and migrate upgrades it', async (t) => {
  const cwd = temporaryDirectory(t)
  const older = join(cwd, 'older.db')
  const db = openStore(older)
  migrate(db, NOON, { names: MIGRATIONS.slice(0, 1), textOf: migrationText })
  db.close()
  const { code, err } = await incmon(cwd, ['restore', older])
  assert.deepEqual([code, err, modelOf(join(cwd, 'incmon.db'))], [0, '', 1])
  assert.equal((await incmon(cwd, ['migrate'])).code, 0)
  assert.equal(modelOf(join(cwd, 'incmon.db')), MIGRATIONS.length)
})

/**
 * Starts a server that creates an organization, and kills it, so that the change exists only in the write-ahead log.
 */
async function leaveALog(t: TestContext, cwd: string): Promise<void> {
  const { stop } = await incmonServe(t, cwd)
  await incmon(cwd, ['org', 'create', 'default'])
  await stop('SIGKILL')
  assert.ok(statSync(join(cwd, 'incmon.db-wal')).size > 0)
}

test('files and locks that root restores belong to the owner of the directory', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root may give files away')
  const [cwd, theirs] = [world(t), temporaryDirectory(t)]
  chownSync(theirs, 65_534, 65_534)
  await incmon(theirs, ['restore', join(cwd, 'backup.db')])
  for (const name of ['incmon.db', 'incmon.db.lock']) assert.equal(statSync(join(theirs, name)).uid, 65_534)
})

function modelOf(file: string): unknown {
  const sqlite = new SQLite(file)
  try {
    return sqlite.pragma('user_version', { simple: true })
  } finally {
    sqlite.close()
  }
}
