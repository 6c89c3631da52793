/** The last checkpoint: what the write-ahead log holds goes into the file itself. */
import type { Db } from './open.ts'

/** How long readers of other processes are waited for, in milliseconds. */
const PATIENCE = 1_000

/**
 * Empties the write-ahead log, so that the file alone is the whole database and can be copied as it is.
 * @returns false where another process reads, and the log had to stay; nothing is lost by that
 */
export function emptyWal(db: Db): boolean {
  db.guardLog()
  db.pragma(`busy_timeout = ${PATIENCE}`)
  return db.checkpoint('TRUNCATE').isDone
}
