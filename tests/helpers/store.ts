/** A real database in a temporary directory, for one test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { migrate } from '../../src/store/migrate.ts'
import { type Db, openStore } from '../../src/store/open.ts'

/** An empty directory that is gone after the test. */
export function temporaryDirectory(t: Pick<TestContext, 'after'>): string {
  const directory = mkdtempSync(join(tmpdir(), 'incmon-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A migrated database, closed and removed after the test. */
export function temporaryStore(t: Pick<TestContext, 'after'>): Db {
  const db = openStore(join(temporaryDirectory(t), 'incmon.db'))
  t.after(() => db.close())
  migrate(db, 0)
  return db
}
