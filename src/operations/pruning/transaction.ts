/** Transactions with notices, which are announced after the commit and dropped after a rollback. */
import type { Notice } from '../../domain/notice.ts'
import type { Deps } from '../deps.ts'

/**
 * Runs work in a transaction. Inside another transaction it is a savepoint, and its notices wait for that commit.
 * The work gets deps that collect its notices.
 */
export function inTransaction<Result>(
  deps: Deps,
  work: (inside: Deps) => Result,
  transaction = deps.db.transaction,
): Result {
  const notices: Notice[] = []
  const result = transaction(() => work({ ...deps, announce: (notice) => notices.push(notice) }))
  for (const notice of notices) deps.announce(notice)
  return result
}
