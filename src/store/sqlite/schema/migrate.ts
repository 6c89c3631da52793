/** Migrates a file to this program's schema version: forward only, in one transaction. */
import { migrationText } from '../../../assets.ts'
import { copyInto } from '../commit.ts'
import { errorCode, StoreError } from '../fault.ts'
import type { Db } from '../open.ts'

/** All migrations, in order. A test compares this list with the `sql/` folder. */
export const MIGRATIONS = [
  '0001_create_tables',
  '0002_add_postmortems_due',
  '0003_add_alert_fingerprints',
  '0004_add_problem',
  '0005_structure_service_rules',
  '0006_drop_unused_indexes',
  '0007_add_silence_labels_only',
  '0008_add_graphs',
  '0009_add_action_items',
  '0010_check_clock_of_senders',
  '0011_add_timeline_code',
  '0012_add_watched_clusters',
  '0013_drop_progress_of_pruning',
  '0014_add_author_of_verdict',
  '0015_index_live_alerts_by_incident',
  '0016_add_expiry_of_alerts',
  '0017_add_change_of_severity',
  '0018_add_tokens_of_senders',
  '0019_add_heartbeats_of_senders',
  '0020_store_texts_once',
  '0021_index_starts_of_nodes',
  '0022_shorten_index_of_refs',
  '0023_drop_index_of_receipt',
  '0024_add_code_of_silences',
  '0025_shorten_rules_of_pipelines',
  '0026_add_facts_of_timeline',
  '0027_structure_timeline',
  '0028_structure_postmortems',
  '0029_structure_penalties',
  '0030_add_gone_of_channels',
  '0031_index_names_of_services',
  '0032_index_services_of_incidents',
  '0033_add_periods_of_problems',
] as const

/** Creates the table of applied migrations. Runs before the first migration. */
export const MIGRATIONS_TABLE =
  'CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT'

/** The names of the migrations in order, and their SQL. Tests use their own migrations. */
export type Migrations = { readonly names: readonly string[]; readonly textOf: (name: string) => string }
const OURS: Migrations = { names: MIGRATIONS, textOf: migrationText }

export type MigrationState = { readonly version: number; readonly name: string; readonly appliedAt: number | null }

/** Lists all migrations. Each has the time when it was applied to this file, or null if it is pending. */
export function migrationStates(db: Db, { names } = OURS): MigrationState[] {
  const applied = new Map(appliedMigrations(db).map((row) => [row.version, row.applied_at]))
  return names.map((name, index) => ({ version: index + 1, name, appliedAt: applied.get(index + 1) ?? null }))
}

/**
 * Applies all missing migrations in one transaction and returns their names. If the file already contains data, it is
 * copied to `<file>.before-<name>` first.
 */
export function migrate(
  db: Db,
  now: number,
  migrations = OURS,
): { readonly applied: string[]; readonly copy: string | null } {
  refuseNewerFile(db, migrations)
  const first = missingMigrations(db, migrations)[0]
  if (!first) return { applied: [], copy: null }
  const copy = first.version > 1 ? copyBefore(db, first.name) : null
  return withoutReferences(db, () => {
    // Checks again inside the transaction, because another process may have migrated the file in the meantime.
    const missing = missingMigrations(db, migrations)
    for (const state of missing) apply(db, state, migrations.textOf(state.name), now)
    return { applied: missing.map((state) => state.name), copy }
  })
}

/**
 * Runs work with foreign keys disabled, because a table is briefly missing while a migration rebuilds it. Checks all
 * references at the end, as recommended in the SQLite documentation.
 */
function withoutReferences<Result>(db: Db, work: () => Result): Result {
  db.pragma('foreign_keys = OFF')
  try {
    return db.transaction(() => {
      const result = work()
      const broken = db.pragma('foreign_key_check')
      if (broken) throw new StoreError(`${db.file} was not upgraded: a row of ${broken} refers to a missing row`)
      return result
    })
  } finally {
    db.pragma('foreign_keys = ON')
  }
}

function missingMigrations(db: Db, migrations: Migrations): MigrationState[] {
  return migrationStates(db, migrations).filter((state) => state.appliedAt === null)
}

/** Throws if the file was written by a newer version, because this version might damage it. */
export function refuseNewerFile(db: Db, { names } = OURS): void {
  const version = Number(db.pragma('user_version'))
  if (version > names.length) {
    throw new StoreError(
      `${db.file} has schema version ${version}, but this version of incmon supports at most ${names.length}: use a newer version of incmon, or restore an older backup`,
    )
  }
}

/** Rewrites a row without changing it. Unlike taking the write lock, this fails if the file is not writable. */
export function rewriteMigration(db: Db): void {
  db.run(
    db.sql
      .updateTable('schema_migrations')
      .set((eb) => ({ name: eb.ref('name') }))
      .where('version', '=', 1),
  )
}

function appliedMigrations(db: Db): { version: number; applied_at: number }[] {
  if (Number(db.pragma('user_version')) === 0) return []
  return db.all(db.sql.selectFrom('schema_migrations').select(['version', 'applied_at']))
}

/** Copies the file. The copy gets its final name once it is complete. */
function copyBefore(db: Db, name: string): string {
  const copy = `${db.file}.before-${name}`
  try {
    copyInto(copy, db.execute)
    return copy
  } catch (error) {
    throw new StoreError(
      `${db.file} could not be copied to ${copy} (${errorCode(error)}), so it was not upgraded: free some space on its disk`,
    )
  }
}

function apply(db: Db, state: MigrationState, text: string, now: number): void {
  if (state.version === 1) {
    db.execute(MIGRATIONS_TABLE)
  }
  db.execute(text)
  db.run(db.sql.insertInto('schema_migrations').values({ version: state.version, name: state.name, applied_at: now }))
  db.pragma(`user_version = ${state.version}`)
}
