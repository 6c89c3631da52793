/** Checks whether writing to the database would succeed. */
import { errorCode, remedyOf } from '../store/sqlite/fault.ts'
import { migrationStates, rewriteMigration } from '../store/sqlite/schema/migrate.ts'
import type { Deps } from './deps.ts'

/** One check. `detail`: what is wrong and what to do; null if the check passed. */
export type Check = { readonly name: string; readonly detail: string | null }

const ROLLBACK = Symbol('rollback')

/** Checks the file's migrations, recent write failures, and the availability of the write lock. */
export function checkStore({ db }: Deps): Check[] {
  return [
    { name: 'migrations', detail: checked(() => missingMigrations(db)) },
    { name: 'store', detail: checked(() => writeFault(db)) },
  ]
}

function missingMigrations(db: Deps['db']): string | null {
  const isCurrent = migrationStates(db).every(({ appliedAt }) => appliedAt !== null)
  return isCurrent ? null : 'the database has pending migrations; run incmon migrate'
}

/** A rolled-back transaction does not detect a full disk, so recent write failures are reported too. */
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
    // Only the code, because an error message can contain a path on the server.
    const code = error instanceof Error && 'code' in error ? errorCode(error) : 'fault'
    return `the database is not writable (${code}); ${remedyOf(code) ?? 'check its disk and its owner'}`
  }
}
