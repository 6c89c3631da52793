/** Disk space: files shrink gradually after pruning, older ones only after being rewritten. */
import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import SQLite from 'better-sqlite3'
import { APPLICATION_ID } from '../../src/store/sqlite/file.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { canShrink, giveBackSpace, letShrink } from '../../src/store/sqlite/space.ts'
import { temporaryDirectory, temporaryStore } from '../helpers/store.ts'

/** Fills the file with 20 MB and empties it again. */
function fillAndEmpty(db: Db): void {
  db.execute(`CREATE TABLE filling (id INTEGER PRIMARY KEY, body BLOB);
    INSERT INTO filling (body) SELECT randomblob(20000) FROM json_each('[${Array(1000).fill(0)}]');
    DELETE FROM filling`)
  db.pragma('wal_checkpoint(TRUNCATE)')
}

function sizeOf(db: Db): number {
  db.pragma('wal_checkpoint(TRUNCATE)')
  return statSync(db.file).size
}

/** Returns a file as the first version created it. */
function olderFile(t: Parameters<typeof temporaryDirectory>[0]): Db {
  const file = join(temporaryDirectory(t), 'incmon.db')
  const older = new SQLite(file)
  older.pragma(`application_id = ${APPLICATION_ID}`)
  older.close()
  const db = openStore(file)
  t.after(() => db.close())
  return db
}

test('a new file returns free pages in steps and keeps a reserve', (t) => {
  const db = temporaryStore(t)
  fillAndEmpty(db)
  const before = sizeOf(db)
  let steps = 1
  while (giveBackSpace(db)) steps += 1
  assert.ok(steps > 10, `${steps} steps`)
  assert.ok(before > 20e6 && sizeOf(db) < 6e6, `${before} before, ${sizeOf(db)} after`)
  assert.equal(db.pragma('integrity_check'), 'ok')
})

test('a file with few free pages stays unchanged', (t) => {
  const db = temporaryStore(t)
  const before = db.pragma('page_count')
  assert.equal(giveBackSpace(db), false)
  assert.equal(db.pragma('page_count'), before)
})

test('an older file keeps its size until it is rewritten', (t) => {
  const db = olderFile(t)
  fillAndEmpty(db)
  assert.deepEqual([canShrink(db), giveBackSpace(db)], [false, false])
  assert.equal(letShrink(db), null)
  assert.ok(canShrink(db) && sizeOf(db) < 1e6)
  assert.deepEqual([db.pragma('journal_mode'), db.pragma('application_id')], ['wal', APPLICATION_ID])
})

test('a locked file is not rewritten, and the error says what to do', (t) => {
  const db = olderFile(t)
  db.execute('CREATE TABLE one (id INTEGER)')
  db.pragma('busy_timeout = 0')
  const other = new SQLite(db.file)
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  assert.match(letShrink(db) ?? '', /cannot shrink when events are pruned \(SQLITE_BUSY\).+run incmon migrate$/)
  assert.ok(existsSync(db.file) && !canShrink(db))
})
