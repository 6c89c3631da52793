/** Readiness: whether a write would succeed now. */
import { IncmonError } from '../domain/error.ts'
import { migrationStates } from '../store/migrate.ts'
import { errorCode } from '../store/open.ts'
import type { Deps } from './deps.ts'

const ROLLBACK = Symbol('rollback')

/**
 * Takes the write lock and gives it back without a change, and compares the file's migrations with the program's.
 * @throws IncmonError `unavailable`, saying which of the two fails
 */
export function requireReady({ db }: Deps): void {
  if (migrationStates(db).some(({ appliedAt }) => appliedAt === null)) {
    throw new IncmonError('unavailable', 'the database lacks migrations; run incmon migrate')
  }
  try {
    db.transaction(() => {
      throw ROLLBACK
    })
  } catch (error) {
    if (error === ROLLBACK) return
    throw new IncmonError(
      'unavailable',
      `the store takes no writes (${errorCode(error)}); look at its disk and its owner`,
    )
  }
}
