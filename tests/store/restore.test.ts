/** Replacing a database: no process can continue to use the old one under the new one's name. */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import SQLite from 'better-sqlite3'
import { replaceDatabase } from '../../src/store/sqlite/restore.ts'
import { withPart } from '../../src/store/sqlite/temporary-file.ts'
import { makeOrganization } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

/** Returns a closed database of Acme, opened by another process that has not read it yet. */
function openedLate(t: TestContext): SQLite.Database {
  const db = temporaryStore(t)
  makeOrganization(db, 'Acme', 'Team')
  db.close()
  const late = new SQLite(db.file, { timeout: 0 })
  t.after(() => late.close())
  return late
}

async function replace(file: string): Promise<string | null> {
  copyFileSync(file, `${file}.backup`)
  return withPart(file, async (part) => {
    copyFileSync(`${file}.backup`, part.path)
    return replaceDatabase(file, part)
  })
}

test('a process with the old file open cannot write to it or next to the new file', async (t) => {
  const late = openedLate(t)
  await replace(late.name)
  assert.throws(() => late.pragma('journal_mode = WAL'), { code: 'SQLITE_READONLY_DBMOVED' })
  assert.throws(() => late.exec("UPDATE organizations SET plan = 'Pro'"), { code: 'SQLITE_READONLY_DBMOVED' })
  assert.ok(!existsSync(`${late.name}-wal`))
})

test('the old file is kept while a process reads it', async (t) => {
  const late = openedLate(t)
  late.exec('BEGIN; SELECT * FROM organizations')
  await assert.rejects(replace(late.name), /is in use by another process/)
  assert.ok(!existsSync(`${late.name}.before-restore`))
})
