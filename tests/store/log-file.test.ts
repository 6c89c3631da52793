/**
 * Monitoring the write-ahead log: if it is deleted or truncated, this is noticed before the next response, and the rest
 * is saved.
 */
import assert from 'node:assert/strict'
import {
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { type TestContext, test } from 'node:test'
import SQLite from 'better-sqlite3'
import { LOG_LOST } from '../../src/store/sqlite/log-file.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { migrate } from '../../src/store/sqlite/schema/migrate.ts'
import { makeEvent, makeOrganization } from '../helpers/factory.ts'
import { temporaryDirectory, temporaryStore } from '../helpers/store.ts'

const LOST = { code: LOG_LOST }

/** Creates a database whose rows exist only in the log. */
function filled(t: TestContext): Db {
  const db = temporaryStore(t)
  makeOrganization(db, 'Acme', 'Team')
  return db
}

/** Returns what another process finds in the file, as if after a restart. */
function namesIn(db: Db): unknown[] {
  const again = new SQLite(db.file)
  try {
    assert.equal(again.pragma('integrity_check', { simple: true }), 'ok')
    return again.prepare('SELECT name FROM organizations ORDER BY name').pluck().all()
  } finally {
    again.close()
  }
}

for (const [what, lose] of [
  ['deleted', (log: string) => rmSync(log)],
  ['moved away', (log: string) => renameSync(log, `${log}.away`)],
  ['replaced', (log: string) => [writeFileSync(`${log}.other`, 'other'), renameSync(`${log}.other`, log)]],
  ['truncated', (log: string) => truncateSync(log, 0)],
  ['cut to its half', (log: string) => truncateSync(log, Math.floor(statSync(log).size / 2))],
] as const) {
  test(`a log that is ${what} accepts no more writes, and everything stored is saved`, (t) => {
    const db = filled(t)
    lose(`${db.file}-wal`)
    assert.throws(() => makeOrganization(db, 'Basil', 'Free'), LOST)
    assert.throws(
      () => db.guardLog(),
      /-wal was (deleted|truncated) by another program.+ was saved to .+start incmon again$/,
    )
    assert.deepEqual(namesIn(db), ['Acme'])
  })

  test(`a log that is ${what} between a commit and its sync is noticed before the response`, async (t) => {
    const db = filled(t)
    db.transactionAhead(() => makeOrganization(db, 'Basil', 'Free'))
    lose(`${db.file}-wal`)
    await assert.rejects(db.sync(), LOST)
    assert.deepEqual(namesIn(db), ['Acme', 'Basil'])
  })
}

for (const [part, share] of [
  ['truncated', 0],
  ['cut to its half', 0.5],
] as const) {
  test(`a log that is ${part} within a transaction is noticed afterwards, although it has grown`, (t) => {
    const db = filled(t)
    const work = () => {
      truncateSync(`${db.file}-wal`, Math.floor(statSync(`${db.file}-wal`).size * share))
      makeOrganization(db, 'Basil', 'Free')
    }
    assert.throws(() => db.transaction(work), LOST)
    assert.deepEqual(namesIn(db), ['Acme', 'Basil'])
  })
}

test('a truncated log without cached pages cannot be saved, and the error says so', (t) => {
  const db = filled(t)
  db.checkpoint('TRUNCATE')
  db.pragma('cache_size = 10')
  db.transaction(() => makeEvent(db, makeOrganization(db, 'Basil', 'Free'), {}, 'x'.repeat(1_000_000)))
  const before = readFileSync(db.file)
  truncateSync(`${db.file}-wal`, 0)
  assert.throws(() => db.guardLog(), /lacks the latest data\. The newest backup .+, or continue without it/)
  db.close()
  assert.ok(readFileSync(db.file).equals(before))
})

test('a file in place of the log is kept and not read by the next start', (t) => {
  const db = filled(t)
  rmSync(`${db.file}-wal`)
  writeFileSync(`${db.file}-wal`, 'of somebody else')
  assert.throws(() => db.guardLog(), LOST)
  assert.equal(readFileSync(`${db.file}-wal.foreign`, 'utf8'), 'of somebody else')
  assert.deepEqual(namesIn(db), ['Acme'])
})

test('a deleted WAL index is detected, and the error names it', (t) => {
  const db = filled(t)
  rmSync(`${db.file}-shm`)
  assert.throws(() => db.guardLog(), /-shm was deleted by another program.+ was saved to .+start incmon again$/)
  assert.deepEqual(namesIn(db), ['Acme'])
})

test('a database that became a link to itself elsewhere accepts no more writes, and everything stored is in a copy', (t) => {
  const db = filled(t)
  renameSync(db.file, `${db.file}.real`)
  symlinkSync(`${db.file}.real`, db.file)
  assert.throws(() => makeOrganization(db, 'Basil', 'Free'), { code: 'SQLITE_READONLY_DBMOVED' })
  assert.throws(() => db.guardLog(), /all stored data was saved to \S+\.rescued-/)
  // The next start finds the copy beside the link, whose target lacks the log.
  assert.throws(() => openStore(db.file), /\.rescued-\w+ contains all data that a server had stored/)
})

test('a dangling link in place of the log is kept and does not prevent the next start', (t) => {
  const db = filled(t)
  rmSync(`${db.file}-wal`)
  symlinkSync('/nowhere', `${db.file}-wal`)
  assert.throws(() => db.guardLog(), LOST)
  assert.deepEqual(namesIn(db), ['Acme'])
})

test('a log emptied by a checkpoint is not a loss', async (t) => {
  const db = filled(t)
  db.checkpoint('TRUNCATE')
  db.guardLog()
  makeOrganization(db, 'Basil', 'Free')
  const other = new SQLite(db.file)
  other.pragma('wal_checkpoint(TRUNCATE)')
  other.close()
  makeOrganization(db, 'Charlie', 'Pro')
  await db.sync()
  assert.equal(existsSync(`${db.file}-wal.foreign`), false)
})

test('a log restarted by another process is not a loss', (t) => {
  const db = openStore(`${temporaryDirectory(t)}/incmon.db`)
  t.after(() => db.close())
  migrate(db, 0)
  const acme = makeOrganization(db, 'Acme', 'Team')
  for (let number = 0; number < 70; number += 1) makeEvent(db, acme, {}, 'x'.repeat(1_000_000))
  db.checkpoint('RESTART')
  for (let number = 0; number < 3; number += 1) makeEvent(db, acme)
  db.guardLog()
  assert.ok(statSync(`${db.file}-wal`).size <= 67_108_864)
})
