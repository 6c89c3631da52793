/** Opens the database for commands: finds the file, and creates or upgrades the file if the command allows this. */

import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Deps } from '../actions/deps.ts'
import { createOrganization } from '../actions/organizations.ts'
import { type Config, type Flags, programName, readConfig } from '../config.ts'
import { shellQuote, visible } from '../domain/terminal.ts'
import { listOrganizations, type OrganizationRecord } from '../store/organizations.ts'
import { holdLock } from '../store/sqlite/lock.ts'
import type { Db } from '../store/sqlite/open.ts'
import { type Migrations, migrate, migrationStates, refuseNewerFile } from '../store/sqlite/schema/migrate.ts'
import { canShrink, letShrink } from '../store/sqlite/space.ts'
import { CommandError, UsageError } from './failure.ts'
import { print, printError } from './output.ts'

/** Options shared by all commands. These options can be placed before or after the command name. */
export type Common = Flags & { readonly json?: boolean }

const FIRST_ORGANIZATION = { name: 'default', plan: 'Pro' } as const

/** Returns the configuration. @throws UsageError with one line for each error */
export function requireConfig(flags: Flags): Config {
  const read = readConfig({ flags })
  if ('faults' in read) throw new UsageError(...read.faults)
  return read.config
}

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

/** Returns whether the file is missing or empty. */
export function isMissing(file: string): boolean {
  return !existsSync(file) || (statSync(file).isFile() && statSync(file).size === 0)
}

/** Prevents a command from creating a database by accident. @throws CommandError if the database does not exist */
export function refuseMissing(file: string): void {
  if (!isMissing(file)) return
  const create = 'create one with "incmon org create NAME" or "incmon serve"'
  throw new CommandError(`there is no database at ${resolve(file)}: choose the server's with --database, or ${create}`)
}

/** @throws CommandError if the file's schema version is older than the program's */
export function requireCurrent(db: Db): void {
  if (migrationStates(db).every(({ appliedAt }) => appliedAt !== null)) return
  throw new CommandError(
    `${db.file} has an older schema version: upgrade it with "incmon migrate", which makes a copy first`,
  )
}

/**
 * Returns the command that the user should run next, in quotes. The command starts with the program as the user invoked
 * it, and includes the current database and configuration. Errors do not need this function; see `spellCommands`.
 */
export function hint({ database, config }: Common, command: string): string {
  const options = [
    database === undefined ? '' : ` --database ${shellQuote(database)}`,
    config === undefined ? '' : ` --config ${shellQuote(config)}`,
  ]
  return visible(`"${programName()} ${command}${options.join('')}"`)
}

/**
 * Replaces each quoted command in a message, such as `"incmon doctor"`, with the command that the user has to type. Code
 * that throws an error does not know how the program was invoked. A command that already names a file is left unchanged.
 */
export function spellCommands(message: string, options: Common): string {
  return message.replace(/"incmon ([^"]+)"/g, (whole, command: string) =>
    / --(database|config) /.test(command) ? whole : hint(options, command),
  )
}

/** Prints what a migration did. */
export function reportMigration(file: string, { applied, copy }: ReturnType<typeof migrate>): void {
  if (copy !== null) print(`copied ${visible(file)} to ${visible(copy)}`)
  if (applied.length > 0) print(`applied ${applied.join(', ')} to ${visible(file)}`)
}
