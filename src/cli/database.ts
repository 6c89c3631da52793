/** The database as commands open it: which file, whether it may be made, and how it comes up to date. */
import { existsSync, statSync } from 'node:fs'
import { type Config, type Flags, readConfig } from '../config.ts'
import type { Deps } from '../operations/deps.ts'
import { createOrganization } from '../operations/organizations.ts'
import { listOrganizations, type OrganizationRecord } from '../store/organizations.ts'
import { holdLock } from '../store/sqlite/lock.ts'
import { type Migrations, migrate, migrationStates, refuseNewerFile } from '../store/sqlite/migrate.ts'
import type { Db } from '../store/sqlite/open.ts'
import { canShrink, letShrink } from '../store/sqlite/vacuum.ts'
import { CommandError, UsageError } from './failure.ts'
import { print, printError, visible } from './output.ts'

/** Options that every command takes, before or after its name. */
export type Common = Flags & { readonly json?: boolean }

/** The organization of a file that nobody set up by hand. */
export const FIRST_ORGANIZATION = { name: 'default', plan: 'Pro' } as const

/** @throws UsageError with every fault of the configuration, one line each */
export function requireConfig(flags: Flags): Config {
  const read = readConfig({ flags })
  if ('faults' in read) throw new UsageError(...read.faults)
  return read.config
}

/**
 * Applies the missing migrations while it holds the lock: a server of an older program would not know the new model.
 * @param migrations other than the program's own, for a test
 * @throws StoreError if a server or another command holds the lock
 */
export function bringUpToDate(db: Db, now: number, migrations?: Migrations): ReturnType<typeof migrate> {
  refuseNewerFile(db, migrations)
  const release = holdLock(db.file)
  try {
    return upgrade(db, now, migrations)
  } finally {
    release()
  }
}

/** Applies the missing migrations; the caller holds the lock. */
export function upgrade(db: Db, now: number, migrations?: Migrations): ReturnType<typeof migrate> {
  const isNew = migrationStates(db, migrations).every(({ appliedAt }) => appliedAt === null)
  const done = migrate(db, now, migrations)
  if (!isNew && done.applied.length > 0) makeShrinkable(db)
  return done
}

/** Writes a file of an older program anew, so that it gives back what is pruned; says so where it cannot. Nobody else uses it. */
export function makeShrinkable(db: Db): void {
  if (canShrink(db)) return
  printError(`writing ${db.file} anew, once, so that it can shrink`)
  const refusal = letShrink(db)
  if (refusal !== null) printError(`incmon: ${refusal}`)
}

/** Makes the organization `default` where there is none at all; null where there is one already. */
export function makeFirstOrganization(deps: Deps): OrganizationRecord | null {
  return deps.db.transaction(() =>
    listOrganizations(deps.db).length === 0 ? createOrganization(deps, FIRST_ORGANIZATION) : null,
  )
}

/** Whether nothing was stored there yet. */
export function isMissing(file: string): boolean {
  return !existsSync(file) || (statSync(file).isFile() && statSync(file).size === 0)
}

/** Throws CommandError if there is no database; `options` decide how the remedy is spelled. */
export function refuseMissing(file: string, options: Common): void {
  if (!isMissing(file)) return
  throw new CommandError(`no database at ${file}: ${hint(options, 'serve')} makes one, or name another with --database`)
}

/** Throws CommandError if the data model of the file is older than the program's. */
export function requireCurrent(db: Db, options: Common): void {
  const missing = migrationStates(db).filter(({ appliedAt }) => appliedAt === null)
  if (missing.length === 0) return
  throw new CommandError(
    `${db.file} has an older data model: ${hint(options, 'migrate')} brings it up to date, after a copy`,
  )
}

/** Returns a command to run next, in quotes: it names the database and the configuration as this command did. */
export function hint({ database, config }: Common, command: string): string {
  const options = [
    database === undefined ? '' : ` --database ${inShell(database)}`,
    config === undefined ? '' : ` --config ${inShell(config)}`,
  ]
  return visible(`"incmon ${command}${options.join('')}"`)
}

/** Returns a word as a shell takes it. */
export function inShell(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Says on stdout what a migration did. */
export function reportMigration(file: string, { applied, copy }: ReturnType<typeof migrate>): void {
  if (copy !== null) print(`copied ${visible(file)} to ${visible(copy)}`)
  if (applied.length > 0) print(`applied ${applied.join(', ')} to ${visible(file)}`)
}
