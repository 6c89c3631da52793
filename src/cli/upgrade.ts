/** Upgrades the database for commands that are allowed to do so. */
import type { Deps } from '../actions/deps.ts'
import { createOrganization } from '../actions/organizations.ts'
import { visible } from '../domain/terminal.ts'
import { listOrganizations, type OrganizationRecord } from '../store/organizations.ts'
import { holdLock } from '../store/sqlite/lock.ts'
import type { Db } from '../store/sqlite/open.ts'
import { type Migrations, migrate, migrationStates, refuseNewerFile } from '../store/sqlite/schema/migrate.ts'
import { CommandError } from './failure.ts'
import { print } from './output.ts'

const FIRST_ORGANIZATION = { name: 'default', plan: 'Pro' } as const

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
