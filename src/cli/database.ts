/** The database as commands open it: which file, whether it may be made, and how it comes up to date. */
import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Config, type Flags, readConfig } from '../config.ts'
import { systemDeps } from '../deps.ts'
import type { Deps } from '../operations/deps.ts'
import { createOrganization } from '../operations/organizations.ts'
import { findOrganizationByName, listOrganizations, type OrganizationRecord } from '../store/organizations.ts'
import { holdLock } from '../store/sqlite/lock.ts'
import { type Migrations, migrate, migrationStates, refuseNewerFile } from '../store/sqlite/migrate.ts'
import { type Db, openStore } from '../store/sqlite/open.ts'
import { canShrink, letShrink } from '../store/sqlite/vacuum.ts'
import { CommandError, UsageError } from './failure.ts'
import { print, printError, visible } from './output.ts'

/** Options that every command takes, before or after its name. */
export type Common = Flags & { readonly json?: boolean }

/** The organization of a file that nobody set up by hand. */
const FIRST_ORGANIZATION = { name: 'default', plan: 'Pro' } as const

const ANOTHER = 'name another with --database if this is not the one that is served'

/** @throws UsageError with every fault of the configuration, one line each */
export function requireConfig(flags: Flags): Config {
  const read = readConfig({ flags })
  if ('faults' in read) throw new UsageError(...read.faults)
  return read.config
}

/** Works on an existing database of this very data model. */
export async function withDatabase<Result>(
  options: Common,
  work: (deps: Deps) => Result | Promise<Result>,
): Promise<Result> {
  const { database } = requireConfig(options)
  refuseMissing(database)
  return closing(openStore(database), (db) => {
    requireCurrent(db)
    return work(systemDeps(db))
  })
}

/**
 * As `withDatabase`, but a missing database is made and an older one brought up to date. That one was made is said on
 * stderr: whoever meant the file of a running server would else get a token that it refuses.
 */
export async function withMadeDatabase<Result>(
  options: Common,
  work: (deps: Deps) => Result | Promise<Result>,
): Promise<Result> {
  const { database } = requireConfig(options)
  const isMade = isMissing(database)
  return closing(openStore(database), (db) => {
    const deps = systemDeps(db)
    bringUpToDate(db, deps.now())
    if (isMade) printError(`made a new database at ${resolve(database)}: ${ANOTHER}`)
    return work(deps)
  })
}

/**
 * Applies what is missing, unless a server holds the file: it knows the older model only.
 * @param migrations other than the program's own, for a test
 */
export function bringUpToDate(db: Db, now: number, migrations?: Migrations): ReturnType<typeof migrate> {
  refuseNewerFile(db, migrations)
  const states = migrationStates(db, migrations)
  const isOlder =
    states.some(({ appliedAt }) => appliedAt !== null) && states.some(({ appliedAt }) => appliedAt === null)
  const release = isOlder ? holdLock(db.file) : () => {}
  try {
    const done = migrate(db, now, migrations)
    if (isOlder) makeShrinkable(db)
    return done
  } finally {
    release()
  }
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

/** The organization of that name; the name may be left out where there is only one. */
export function requireOrganization(db: Db, name: string | undefined): OrganizationRecord {
  const all = listOrganizations(db)
  const names = all.map((organization) => organization.name).join(', ')
  const [only, second] = all
  if (!only) throw new CommandError('there is no organization: "incmon org create NAME" makes one')
  if (name === undefined && second) throw new UsageError(`name the organization with --org: there are ${names}`)
  const found = name === undefined ? only : findOrganizationByName(db, name)
  if (!found) throw new CommandError(`no organization ${name}: there are ${names}; "incmon org create" makes one`)
  return found
}

/** Whether nothing was stored there yet. */
export function isMissing(file: string): boolean {
  return !existsSync(file) || (statSync(file).isFile() && statSync(file).size === 0)
}

export function refuseMissing(file: string): void {
  if (!isMissing(file)) return
  throw new CommandError(`no database at ${file}: "incmon serve" makes one, or name another with --database`)
}

function requireCurrent(db: Db): void {
  refuseNewerFile(db)
  const missing = migrationStates(db).filter(({ appliedAt }) => appliedAt === null)
  if (missing.length === 0) return
  throw new CommandError(`${db.file} has an older data model: "incmon migrate" brings it up to date, after a copy`)
}

async function closing<Result>(db: Db, work: (db: Db) => Result | Promise<Result>): Promise<Result> {
  try {
    return await work(db)
  } finally {
    db.close()
  }
}

/** Says on stdout what a migration did. */
export function reportMigration(file: string, { applied, copy }: ReturnType<typeof migrate>): void {
  if (copy !== null) print(`copied ${visible(file)} to ${visible(copy)}`)
  if (applied.length > 0) print(`applied ${applied.join(', ')} to ${visible(file)}`)
}
