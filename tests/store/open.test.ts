/** Opening a file: the settings that make "committed" mean "on disk", and files that are rejected. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import SQLite from 'better-sqlite3'
import { StoreError } from '../../src/store/sqlite/fault.ts'
import { APPLICATION_ID } from '../../src/store/sqlite/file.ts'
import { holdLock } from '../../src/store/sqlite/lock.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { migrate } from '../../src/store/sqlite/schema/migrate.ts'
import { makeOrganization } from '../helpers/factory.ts'
import { temporaryDirectory, temporaryStore } from '../helpers/store.ts'

const PROMISED = {
  ...{ journal_mode: 'wal', synchronous: 2, foreign_keys: 1, application_id: APPLICATION_ID },
  journal_size_limit: 64 * 1024 * 1024,
}

function settingsOf(db: Db): Record<string, unknown> {
  return Object.fromEntries(Object.keys(PROMISED).map((name) => [name, db.pragma(name)]))
}

function fileIn(t: TestContext): string {
  return join(temporaryDirectory(t), 'incmon.db')
}

test('a new file uses WAL, syncs every commit, checks references and has the application ID', (t) => {
  const db = openStore(fileIn(t))
  t.after(() => db.close())
  assert.deepEqual(settingsOf(db), PROMISED)
})

test('a new file that another process writes is retried', async (t) => {
  const file = fileIn(t)
  const fresh = new SQLite(file)
  fresh.exec(`PRAGMA application_id = ${APPLICATION_ID}; CREATE TABLE notes (id INTEGER)`)
  fresh.close()
  const writer = new Worker(
    `const db = new (require('better-sqlite3'))(${JSON.stringify(file)})
    db.exec('BEGIN IMMEDIATE')
    const { parentPort } = require('node:worker_threads')
    parentPort.postMessage('writes')
    parentPort.once('message', () => setTimeout(() => db.close(), 200))`,
    { eval: true },
  )
  await once(writer, 'message')
  assert.throws(() => openStore(file, { busyMs: 0 }), /another process has locked it: try again, or stop that process/)
  writer.postMessage('close')
  const db = openStore(file)
  t.after(() => db.close())
  assert.equal(db.pragma('journal_mode'), 'wal')
})

for (const [what, replace] of [
  ['directory', (path: string) => mkdirSync(path)],
  ['link', (path: string) => symlinkSync('/nowhere', path)],
] as const) {
  for (const end of ['-wal', '-shm']) {
    test(`a ${what} in the place of ${end} is refused by name, and does not count as damage`, (t) => {
      const file = fileIn(t)
      openStore(file).close()
      replace(file + end)
      const expected = new RegExp(`^${file + end} is not a regular file: .+move it away, and start again$`)
      assert.throws(() => openStore(file), { name: 'StoreError', message: expected })
      rmSync(file + end, { recursive: true })
      openStore(file).close()
    })
  }
}

test('after a write and a reopen the settings are the same', (t) => {
  const file = fileIn(t)
  const first = openStore(file)
  migrate(first, 0)
  assert.deepEqual(settingsOf(first), PROMISED)
  first.close()
  const again = openStore(file)
  t.after(() => again.close())
  assert.deepEqual(settingsOf(again), PROMISED)
})

test('the database files are private to their owner', (t) => {
  const db = temporaryStore(t)
  for (const suffix of ['', '-wal', '-shm']) assert.equal(statSync(db.file + suffix).mode & 0o777, 0o600)
})

test('a locked database is retried, by default or for a short time', (t) => {
  const [usual, short] = [openStore(fileIn(t)), openStore(fileIn(t), { busyMs: 50 })]
  t.after(() => [usual, short].map((db) => db.close()))
  assert.deepEqual([usual.pragma('busy_timeout'), short.pragma('busy_timeout')], [5000, 50])
})

test('an empty file counts as a new one', (t) => {
  const file = fileIn(t)
  writeFileSync(file, '')
  const db = openStore(file)
  t.after(() => db.close())
  assert.deepEqual(settingsOf(db), PROMISED)
})

for (const [what, lose] of [
  ['gone', (file: string) => rmSync(file)],
  ['emptied', (file: string) => writeFileSync(file, '')],
] as const) {
  test(`no database is created next to an existing log if it is ${what}`, (t) => {
    const file = fileIn(t)
    const before = openStore(file)
    migrate(before, 0)
    const log = readFileSync(`${file}-wal`)
    before.close()
    writeFileSync(`${file}-wal`, log)
    lose(file)
    refuses(file, /incmon\.db-wal contains its data: put the database file back next to the log, or move the log away/)
    assert.deepEqual(readFileSync(`${file}-wal`), log)
  })
}

test('a circular link is refused in one line', (t) => {
  const file = fileIn(t)
  symlinkSync(file, file)
  refuses(file, /incmon\.db cannot be created or opened/)
})

for (const [what, move] of [
  ['moved', (file: string) => renameSync(file, `${file}.away`)],
  ['replaced', (file: string) => [copyFileSync(file, `${file}.copy`), renameSync(`${file}.copy`, file)]],
  ['deleted', (file: string) => rmSync(file)],
] as const) {
  test(`a file that is ${what} while it is open takes no writes`, (t) => {
    const db = temporaryStore(t)
    const acme = makeOrganization(db, 'Acme', 'Team')
    move(db.file)
    const moved = { code: 'SQLITE_READONLY_DBMOVED' }
    assert.throws(() => makeOrganization(db, 'Basil', 'Free'), moved)
    assert.throws(() => db.transaction(() => null), moved)
    assert.throws(() => db.transactionAhead(() => null), moved)
    assert.equal(db.first(db.sql.selectFrom('organizations').select('name').where('id', '=', acme.key))?.name, 'Acme')
  })
}

test('a file that is put back can be written again', (t) => {
  const db = temporaryStore(t)
  renameSync(db.file, `${db.file}.away`)
  assert.throws(() => makeOrganization(db, 'Acme', 'Team'), { code: 'SQLITE_READONLY_DBMOVED' })
  renameSync(`${db.file}.away`, db.file)
  assert.ok(makeOrganization(db, 'Acme', 'Team').key > 0)
})

for (const [what, content, line] of [
  ['a text', 'dear diary', /is not a database, or is damaged: choose another --database, or restore a backup$/],
  ['long noise', 'x'.repeat(5000), /is not a database, or is damaged/],
  ['half a header', 'SQLite format 3\0', /is not a database, or is damaged/],
] as const) {
  test(`${what} is refused in one line and stays unchanged`, (t) => {
    const file = fileIn(t)
    writeFileSync(file, content)
    refuses(file, line)
    assert.equal(readFileSync(file, 'utf8'), content)
  })
}

test('the database of another program is refused and stays unchanged', (t) => {
  const file = fileIn(t)
  const other = new SQLite(file)
  other.exec('CREATE TABLE notes (text TEXT)')
  other.close()
  const before = readFileSync(file)
  refuses(file, /belongs to another program: choose another --database$/)
  assert.ok(readFileSync(file).equals(before))
})

test('a file with a valid header and invalid pages is refused and stays unchanged', (t) => {
  const file = fileIn(t)
  openStore(file).close()
  const noise = Buffer.concat([readFileSync(file).subarray(0, 100), Buffer.alloc(4000, 0x5a)])
  writeFileSync(file, noise)
  refuses(file, /damaged/)
  assert.ok(readFileSync(file).equals(noise))
  assert.ok(!existsSync(`${file}-wal`))
})

test('a directory, and a path through a file, are refused', (t) => {
  const directory = temporaryDirectory(t)
  mkdirSync(join(directory, 'folder'))
  writeFileSync(join(directory, 'file'), '')
  refuses(join(directory, 'folder'), /folder is a directory: choose a file with --database/)
  refuses(join(directory, 'file', 'incmon.db'), /cannot be created or opened \(ENOTDIR\): check that .+ exists/)
  refuses(join(directory, 'gone', 'incmon.db'), /cannot be created or opened \(ENOENT\): check that .+ exists/)
})

test('a file has one server: the lock is refused to the next until it is released', (t) => {
  const { file } = temporaryStore(t)
  const release = holdLock(file)
  assert.throws(
    () => holdLock(file),
    /is in use by an incmon server: stop that server first, or choose another --database$/,
  )
  release()
  holdLock(file)()
  assert.equal(statSync(`${file}.lock`).mode & 0o777, 0o600)
})

function refuses(file: string, line: RegExp): void {
  assert.throws(
    () => openStore(file).close(),
    (error: unknown) => {
      assert.ok(error instanceof StoreError)
      assert.match(error.message, line)
      return !error.message.includes('\n')
    },
  )
}
