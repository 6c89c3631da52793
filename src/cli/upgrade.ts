/** Upgrades the database for commands that are allowed to do so. */
import type { Deps } from '../actions/deps.ts'
import { createOrganization } from '../actions/organizations.ts'
import { visible } from '../domain/terminal.ts'
import { listOrganizations, type OrganizationRecord } from '../store/organizations.ts'
import { holdLock } from '../store/sqlite/lock.ts'
import type { Db } from '../store/sqlite/open.ts'
import { type Migrations, migrate, migrationStates, refuseNewerFile } from '../store/sqlite/schema/migrate.ts'
import { canShrink, letShrink } from '../store/sqlite/space.ts'
import { CommandError } from './failure.ts'
import { print, printError } from './output.ts'

const FIRST_ORGANIZATION = { name: 'default', plan: 'Pro' } as const

/**
 * Applies pending migrations while this process has the database locked, because a running server would not know the
 * new schema version.
 * @param migrations replaces the program's own migrations in tests
 * @throws StoreError if a server or another command holds the lock
 */
export function bringUpToDate(db: Db, now: number, migrations?: Migrations): ReturnType<typeof migrate> {
  refuseNewerFile(db, migrations)
  return whileLocked(db.file, () => upgrade(db, now, migrations))
}

/** Runs work while this process has the database locked. @throws StoreError if another process holds the lock */
export function whileLocked<Result>(file: string, work: () => Result): Result {
  const release = holdLock(file)
  try {
    return work()
  } finally {
    release()
  }
}

/** Applies pending migrations. The caller must hold the lock. */
export function upgrade(db: Db, now: number, migrations?: Migrations): ReturnType<typeof migrate> {
  const done = migrate(db, now, migrations)
  if (done.copy !== null) makeShrinkable(db)
  return done
}

/**
 * Rewrites a file created by an older program so that pruning can shrink it. If the rewrite fails, prints the reason.
 * The caller must hold the lock.
 */
export function makeShrinkable(db: Db): void {
  if (canShrink(db)) return
  printError(`rewriting ${db.file} once, so that pruning can shrink the file`)
  const refusal = letShrink(db)
  if (refusal !== null) printError(`incmon: ${refusal}`)
}

/** Creates an organization named `default` if there is no organization yet. Returns null if an organization exists. */
export function createFirstOrganization(deps: Deps): OrganizationRecord | null {
  return deps.db.transaction(() =>
    listOrganizations(deps.db).length === 0 ? createOrganization(deps, FIRST_ORGANIZATION) : null,
  )
}

/** @throws CommandError if the file's schema version is older than the program's */
export function requireCurrent(db: Db): void {
  if (migrationStates(db).every(({ appliedAt }) => appliedAt !== null)) return
  throw new CommandError(
    `${db.file} has an older schema version: upgrade it with "incmon migrate", which makes a copy first`,
  )
}

/** Prints what a migration did. */
export function reportMigration(file: string, { applied, copy }: ReturnType<typeof migrate>): void {
  if (copy !== null) print(`copied ${visible(file)} to ${visible(copy)}`)
  if (applied.length > 0) print(`applied ${applied.join(', ')} to ${visible(file)}`)
}
