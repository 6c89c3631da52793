/** Disk space: files shrink gradually after pruning. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import SQLite from 'better-sqlite3'
import { APPLICATION_ID } from '../../src/store/sqlite/file.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { giveBackSpace } from '../../src/store/sqlite/space.ts'
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

test('a file that another program created in another mode keeps its size', (t) => {
  const file = join(temporaryDirectory(t), 'incmon.db')
  const created = new SQLite(file)
  created.pragma(`application_id = ${APPLICATION_ID}`)
  created.close()
  const db = openStore(file)
  t.after(() => db.close())
  fillAndEmpty(db)
  assert.equal(giveBackSpace(db), false)
})
