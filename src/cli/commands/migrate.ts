/** incmon migrate: upgrades a database to this program's schema version, or lists the pending migrations. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { visible } from '../../domain/terminal.ts'
import { holdLock } from '../../store/sqlite/lock.ts'
import { type Db, openStore } from '../../store/sqlite/open.ts'
import {
  MIGRATIONS,
  type MigrationState,
  type Migrations,
  migrate,
  migrationStates,
  refuseNewerFile,
} from '../../store/sqlite/schema/migrate.ts'
import { isMissing, requireConfig } from '../database.ts'
import { type Common, instant, print, printList } from '../output.ts'
import { addCommand } from '../plain-command.ts'

/** @param now returns the current Unix time in milliseconds */
export function addMigrate(program: Command, now: () => number): void {
  const doc = 'upgrade the database to the schema version of this program, after making a copy of the file'
  addCommand(program, 'migrate', doc)
    .option('--status', 'show every migration and when it was applied')
    .option('--dry-run', 'show which migrations would be applied, without applying them')
    .action((options) => runMigrate(options, now()))
}

/** Applies or lists the pending migrations. Creates the database if it does not exist. */
function runMigrate(options: Common & { readonly status?: boolean; readonly dryRun?: boolean }, now: number) {
  const { database } = requireConfig(options)
  if (options.status || options.dryRun) {
    const states = statesOf(database)
    return showStates(options.dryRun ? states.filter(({ appliedAt }) => appliedAt === null) : states, options.json)
  }
  const isNew = isMissing(database)
  const db = openStore(database)
  try {
    const done = bringUpToDate(db, now)
    if (options.json) return print(JSON.stringify({ database, ...done }))
    if (done.applied.length === 0) return print(`${database} is up to date`)
    if (isNew) print(`created a new database at ${resolve(database)}`)
    reportMigration(database, done)
  } finally {
    db.close()
  }
}

/** Reads the file's migrations without creating or changing anything. */
function statesOf(file: string): MigrationState[] {
  if (isMissing(file)) return MIGRATIONS.map((name, index) => ({ version: index + 1, name, appliedAt: null }))
  const db = openStore(file)
  try {
    refuseNewerFile(db)
    return migrationStates(db)
  } finally {
    db.close()
  }
}

function showStates(states: MigrationState[], json: boolean | undefined): void {
  const items = states.map((state) => ({ ...state, appliedAt: instant(state.appliedAt) }))
  printList({ json }, items, 'nothing to apply', {
    VERSION: 'version',
    NAME: 'name',
    APPLIED: ({ appliedAt }) => appliedAt ?? 'not yet',
  })
}

// Upgrades the database for commands that are allowed to do so.

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
