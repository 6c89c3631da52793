/** The final checkpoint at shutdown, which copies the write-ahead log into the database file. */
import type { Db } from './open.ts'

/** How long to wait for readers in other processes, in milliseconds. */
const BUSY_TIMEOUT_MS = 1_000

/**
 * Truncates the write-ahead log, so that the database file is complete and can be copied on its own.
 * @returns false if a reader in another process prevented the checkpoint; nothing is lost in that case
 */
export function truncateWal(db: Db): boolean {
  db.guardLog()
  db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  return db.checkpoint('TRUNCATE').isDone
}
