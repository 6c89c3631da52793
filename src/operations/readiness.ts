/** Checks whether a write would succeed now. */
import { errorCode, remedyOf } from '../store/sqlite/fault.ts'
import { migrationStates, rewriteMigration } from '../store/sqlite/schema/migrate.ts'
import type { Deps } from './deps.ts'

/** One check. `detail` says what is wrong and what to do; it is null if the check passed. */
export type Check = { readonly name: string; readonly detail: string | null }

const ROLLBACK = Symbol('rollback')

/** Checks the migrations of the file, whether writes have failed, and whether the write lock is available. */
export function checkStore({ db }: Deps): Check[] {
  return [
    { name: 'migrations', detail: checked(() => missingMigrations(db)) },
    { name: 'store', detail: checked(() => writeFault(db)) },
  ]
}

function missingMigrations(db: Deps['db']): string | null {
  const isCurrent = migrationStates(db).every(({ appliedAt }) => appliedAt !== null)
  return isCurrent ? null : 'the database lacks migrations; run incmon migrate'
}

/** A transaction that is rolled back does not notice that the disk is full, so failed writes count too. */
function writeFault(db: Deps['db']): string | null {
  const failure = db.takeFailure()
  if (failure !== null) throw failure
  try {
    db.transaction(() => {
      rewriteMigration(db)
      throw ROLLBACK
    })
  } catch (error) {
    if (error !== ROLLBACK) throw error
  }
  return null
}

/** Runs a check. If the check cannot read the database, reports that writes fail too. */
function checked(check: () => string | null): string | null {
  try {
    return check()
  } catch (error) {
    const code = codeOf(error)
    return `the database accepts no writes (${code}); ${remedyOf(code) ?? 'check its disk and its owner'}`
  }
}

/** Returns only the code, because a message may contain a path of the machine. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? errorCode(error) : 'fault'
}
