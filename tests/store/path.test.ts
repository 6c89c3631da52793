/** The path of a database: symbolic links lead to one file with one log, and a second name is rejected. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { holdLock } from '../../src/store/sqlite/lock.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { migrate } from '../../src/store/sqlite/schema/migrate.ts'
import { makeOrganization } from '../helpers/factory.ts'
import { temporaryDirectory } from '../helpers/store.ts'

/** Creates a migrated database in one directory, and another directory. */
function places(t: TestContext) {
  const [data, other] = [join(temporaryDirectory(t), 'data'), temporaryDirectory(t)]
  mkdirSync(data)
  const file = join(data, 'incmon.db')
  const db = openStore(file)
  migrate(db, 0)
  db.close()
  return { file, other, link: join(other, 'incmon.db') }
}

test("through a symbolic link, the target's log is synced", async (t) => {
  const { file, link } = places(t)
  symlinkSync(file, link)
  const db = openStore(link)
  t.after(() => db.close())
  db.transactionAhead(() => makeOrganization(db, 'Acme', 'Team'))
  await db.sync()
  assert.equal(db.file, file)
  assert.equal(existsSync(`${link}-wal`), false)
})

test("a file at the link's log path is not the log", async (t) => {
  const { file, link } = places(t)
  symlinkSync(file, link)
  writeFileSync(`${link}-wal`, '')
  const db = openStore(link)
  t.after(() => db.close())
  db.transactionAhead(() => makeOrganization(db, 'Acme', 'Team'))
  await db.sync()
  assert.equal(statSync(`${link}-wal`).size, 0)
})

test('a link and its target share the lock', (t) => {
  const { file, link } = places(t)
  symlinkSync(file, link)
  const release = holdLock(link)
  t.after(release)
  assert.throws(() => holdLock(file), /is in use by an incmon server/)
})

test('a dangling link is refused with its target, and no file is created', (t) => {
  const { other, link } = places(t)
  const target = join(other, 'mount', 'incmon.db')
  mkdirSync(join(other, 'mount'))
  symlinkSync(target, link)
  assert.throws(() => openStore(link), /is a symbolic link to .+, which does not exist: mount its disk, or use/)
  assert.equal(existsSync(target), false)
})

test('a hard link is refused under both of its names', (t) => {
  const { file, link } = places(t)
  linkSync(file, link)
  const line = /has 2 hard links.+find DIRECTORY -samefile .+ and delete them; to copy a database, use "incmon backup"$/
  for (const name of [file, link]) assert.throws(() => openStore(name), line)
})

test('a second server refuses a hard link created while the first is running', (t) => {
  const { file, link } = places(t)
  const first = openStore(file)
  t.after(() => first.close())
  linkSync(file, link)
  assert.throws(() => openStore(link), /has 2 hard links/)
  assert.ok(makeOrganization(first, 'Acme', 'Team').key > 0)
})

/** Runs the work while `from` is mounted at `at`. Returns false if mounting is not allowed. */
function whileMounted(from: string, at: string, work: () => void): boolean {
  if (spawnSync('mount', ['--bind', from, at]).status !== 0) return false
  try {
    work()
  } finally {
    spawnSync('umount', ['--lazy', at])
  }
  return true
}

test('a file mounted separately is refused, because its log would be elsewhere', (t) => {
  const { file, link } = places(t)
  writeFileSync(link, '')
  const line = /is mounted as a single file.+mount the directory instead$/
  if (!whileMounted(file, link, () => assert.throws(() => openStore(link), line))) t.skip('only root can mount')
})

test('a directory mounted in two places has one lock', (t) => {
  const { file, other } = places(t)
  const release = holdLock(file)
  const refused = () => assert.throws(() => holdLock(join(other, 'incmon.db')), /is in use by an incmon server/)
  if (!whileMounted(join(file, '..'), other, refused)) t.skip('only root can mount')
  release()
})

/** Mounts a separate disk. Returns null if mounting is not allowed. */
function disk(t: TestContext, options: string): string | null {
  const at = temporaryDirectory(t)
  return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'incmon-test', at]).status === 0 ? at : null
}

test('a read-only disk is reported with how to make it writable, with a database and without', (t) => {
  const at = disk(t, 'size=8m')
  if (!at) return t.skip('only root can mount')
  openStore(join(at, 'incmon.db')).close()
  try {
    spawnSync('mount', ['-o', 'remount,ro', at])
    const line = /is on a read-only file system; remount it read-write/
    for (const name of ['incmon.db', 'new.db']) assert.throws(() => openStore(join(at, name)), line)
  } finally {
    spawnSync('umount', ['--lazy', at])
  }
})

test('a full disk is reported if no database can be created', (t) => {
  const at = disk(t, 'size=32k')
  if (!at) return t.skip('only root can mount')
  try {
    assert.throws(() => writeFileSync(join(at, 'ballast'), Buffer.alloc(100_000)), { code: 'ENOSPC' })
    assert.throws(
      () => openStore(join(at, 'incmon.db')),
      /: the disk is full: free some space and try again; "incmon doctor" shows how much is free$/,
    )
  } finally {
    spawnSync('umount', ['--lazy', at])
  }
})
