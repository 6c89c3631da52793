/** Backups: a consistent snapshot despite concurrent writes, in one private and verified file. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type TestContext, test } from 'node:test'
import SQLite from 'better-sqlite3'
import { listOrganizations } from '../../src/store/organizations.ts'
import { copySnapshot } from '../../src/store/sqlite/backup.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { requireSound } from '../../src/store/sqlite/sound.ts'
import { withPart } from '../../src/store/sqlite/temporary-file.ts'
import { makeEvent, makeOrganization } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

/** Creates a store of about 4 MB, which takes several steps to copy. */
function filled(t: TestContext): Db {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  for (let number = 0; number < 4; number += 1) makeEvent(db, acme, {}, 'x'.repeat(1_000_000))
  return db
}

/** Returns the backup's path. Calls `meanwhile` at each step with the number of bytes done. */
async function backUp(db: Db, meanwhile: (done: number) => void = () => {}): Promise<string> {
  const target = `${db.file}.copy`
  await withPart(target, async (part) => {
    await copySnapshot(db.file, part, meanwhile)
    requireSound(part.path, db.file)
    part.publish()
  })
  return target
}

function namesIn(t: TestContext, file: string): string[] {
  const db = openStore(file)
  t.after(() => db.close())
  return listOrganizations(db).map(({ name }) => name)
}

test('a commit between two steps neither restarts the backup nor appears in it', async (t) => {
  const db = filled(t)
  const steps: number[] = []
  const copy = await backUp(db, (done) => {
    assert.ok(steps.push(done) < 100, 'it goes on for ever')
    makeOrganization(db, `Basil ${steps.length}`, 'Free')
  })
  assert.ok(steps.length > 3)
  assert.deepEqual(
    steps,
    steps.toSorted((a, b) => a - b),
  )
  assert.deepEqual(namesIn(t, copy), ['Acme'])
})

test('a backup contains commits that are only in the write-ahead log', async (t) => {
  const db = temporaryStore(t)
  db.pragma('wal_checkpoint(TRUNCATE)')
  makeOrganization(db, 'Acme', 'Team')
  assert.ok(statSync(`${db.file}-wal`).size > 0)
  assert.deepEqual(namesIn(t, await backUp(db)), ['Acme'])
})

test('after a backup the write-ahead log is checkpointed', async (t) => {
  const db = filled(t)
  await backUp(db, (done) => makeOrganization(db, `Basil ${done}`, 'Free'))
  const other = new SQLite(db.file)
  t.after(() => other.close())
  const [{ log, checkpointed }] = other.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }]
  assert.ok(log > 0)
  assert.equal(checkpointed, log)
})

test('a backup is one private file without a write-ahead log', async (t) => {
  const db = filled(t)
  const copy = await backUp(db)
  assert.equal(statSync(copy).mode & 0o777, 0o600)
  assert.deepEqual([...readFileSync(copy).subarray(18, 20)], [1, 1], 'the header of a file without a log')
  const beside = readdirSync(dirname(copy)).filter((name) => !/^incmon\.db(-wal|-shm)?$/.test(name))
  assert.deepEqual(beside, ['incmon.db.copy'])
})

test('a damaged database is not backed up', async (t) => {
  const db = filled(t)
  db.close()
  const bytes = readFileSync(db.file)
  writeFileSync(db.file, bytes.fill(0x5a, 8192, 12_288))
  await assert.rejects(backUp(db), {
    message: /is damaged \(.+\), so no backup was written: restore an older backup$/s,
  })
  assert.ok(!existsSync(`${db.file}.copy`) && !existsSync(`${db.file}.copy.part`))
})

test('a locked partial file is not an empty backup', async (t) => {
  const db = filled(t)
  const copying = withPart(`${db.file}.copy`, async (part) => {
    const other = new SQLite(part.path)
    t.after(() => other.close())
    other.exec('BEGIN EXCLUSIVE')
    await copySnapshot(db.file, part, () => {})
  })
  await assert.rejects(
    copying,
    /copy\.part does not contain the whole copy, because another process uses it: stop that process and run the command again$/,
  )
})

test('an error during the copy leaves no file and no lock', async (t) => {
  const db = filled(t)
  const stop = () => assert.fail('enough')
  await assert.rejects(backUp(db, stop), /enough/)
  assert.deepEqual(readdirSync(dirname(db.file)).toSorted(), ['incmon.db', 'incmon.db-shm', 'incmon.db-wal'])
  makeOrganization(db, 'Basil', 'Free')
})
