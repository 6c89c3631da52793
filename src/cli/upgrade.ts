/** Upgrades the database for commands that are allowed to do so. */
import { visible } from '../domain/terminal.ts'
import { holdLock } from '../store/sqlite/lock.ts'
import type { Db } from '../store/sqlite/open.ts'
import { type Migrations, migrate, refuseNewerFile } from '../store/sqlite/schema/migrate.ts'
import { print } from './output.ts'

/**
 * Applies pending migrations while this process has the database locked, because a running server would not know the
 * new schema version.
 * @param migrations replaces the program's own migrations in tests
 * @throws StoreError if a server or another command holds the lock
 */
export function bringUpToDate(db: Db, now: number, migrations?: Migrations): ReturnType<typeof migrate> {
  refuseNewerFile(db, migrations)
  const release = holdLock(db.file)
  try {
    return migrate(db, now, migrations)
  } finally {
    release()
  }
}

/** Prints what a migration did. */
export function reportMigration(file: string, { applied, copy }: ReturnType<typeof migrate>): void {
  if (copy !== null) print(`copied ${visible(file)} to ${visible(copy)}`)
  if (applied.length > 0) print(`applied ${applied.join(', ')} to ${visible(file)}`)
}
