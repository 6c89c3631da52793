/** Transactions that announce: what happened is told after the commit, and what was undone is not told. */
import type { Notice } from '../../domain/notice.ts'
import type { Deps } from '../deps.ts'

/**
 * All of the work or nothing; inside another transaction it is a savepoint, whose notices go to that one.
 * The work gets the deps to announce with.
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
