/** Real databases in temporary directories, one per test. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { pruneAll } from '../../src/actions/pruning/prune.ts'
import { systemDeps } from '../../src/deps.ts'
import { once } from '../../src/domain/memoize.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { migrate } from '../../src/store/sqlite/schema/migrate.ts'

/** Creates an empty directory, and deletes it after the test. */
export function temporaryDirectory(t: Pick<TestContext, 'after'>): string {
  const directory = mkdtempSync(join(tmpdir(), 'incmon-'))
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}

/** Mounts an empty 3 MB disk and unmounts it after the test. Returns null if this user is not allowed to mount. */
export function smallDisk(t: Pick<TestContext, 'after'>): string | null {
  const disk = mkdtempSync(join(tmpdir(), 'incmon-disk-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk]).status === 0
  t.after(() => {
    if (mounted) spawnSync('umount', [disk])
    rmdirSync(disk)
  })
  return mounted ? disk : null
}

/** Creates a migrated database and deletes it after the test. */
export function temporaryStore(t: Pick<TestContext, 'after'>): Db {
  const db = newStore(join(temporaryDirectory(t), 'incmon.db'))
  t.after(() => db.close())
  return db
}

/** Creates a database with all tables: a copy of one, because migrating takes longer than most tests. */
export function newStore(file: string, options?: Parameters<typeof openStore>[1]): Db {
  writeFileSync(file, migrated(), { mode: 0o600, flag: 'wx' })
  return openStore(file, options)
}

const migrated = once(() => {
  const directory = mkdtempSync(join(tmpdir(), 'incmon-'))
  try {
    const db = openStore(join(directory, 'incmon.db'))
    migrate(db, 0)
    db.close()
    return readFileSync(db.file)
  } finally {
    rmSync(directory, { recursive: true })
  }
})

/** Stops a database from waiting for the disk, which takes longer than most tests. Other tests cover syncs. */
export function withoutSyncs(db: Db): Db {
  db.pragma('synchronous = OFF')
  return { ...db, transactionAhead: db.transaction, sync: async () => {} }
}

/**
 * Prunes once, as a server does five seconds after startup. A server on this file then writes only what it receives.
 */
export function pruneOnce(db: Db): void {
  Array.from(pruneAll(systemDeps(db), { waits: () => {}, failed: () => {} }))
}
