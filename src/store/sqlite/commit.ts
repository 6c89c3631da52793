/** Runs transactions, syncs them to disk, and copies databases and their logs. */
import type SQLite from 'better-sqlite3'
import type { Db } from './open.ts'
import { startPart } from './temporary-file.ts'

/**
 * Copies pages from the write-ahead log into the database file. NOOP only reports the log's size. PASSIVE never blocks.
 * RESTART also starts a new log, which briefly blocks the writer. TRUNCATE also empties the log. `isDone`: false if
 * another reader or writer prevented a complete checkpoint.
 */
export type Checkpoint = (mode: 'NOOP' | 'PASSIVE' | 'RESTART' | 'TRUNCATE') => {
  readonly log: number
  readonly copied: number
  readonly isDone: boolean
}

export function createCheckpoint(sqlite: SQLite.Database): Checkpoint {
  return (mode) => {
    const [row] = sqlite.pragma(`wal_checkpoint(${mode})`) as { busy: number; log: number; checkpointed: number }[]
    return { log: row?.log ?? 0, copied: row?.checkpointed ?? 0, isDone: row?.busy === 0 }
  }
}

export type Transaction = <Result>(work: () => Result) => Result

/** `BEGIN` starts a read transaction, which does not take the write lock. */
export type Begin = 'BEGIN IMMEDIATE' | 'BEGIN'

/**
 * Returns a function that runs transactions. Nested calls use savepoints.
 * @param guard called before each transaction; throws to prevent the transaction
 */
export function createTransaction(sqlite: SQLite.Database, outer: Begin, guard: () => void): Transaction {
  const [begin, commit, rollback] = [outer, 'COMMIT', 'ROLLBACK'].map((text) => sqlite.prepare(text))
  const [save, release, undo] = ['SAVEPOINT one', 'RELEASE one', 'ROLLBACK TO one'].map((text) => sqlite.prepare(text))
  return (work) => {
    const isInner = sqlite.inTransaction
    if (!isInner) guard()
    ;(isInner ? save : begin)?.run()
    try {
      const result = work()
      ;(isInner ? release : commit)?.run()
      return result
    } catch (error) {
      // A full disk and similar errors have already rolled back the entire transaction.
      if (sqlite.inTransaction) {
        ;(isInner ? undo : rollback)?.run()
        if (isInner) release?.run()
      }
      throw error
    }
  }
}

/** Returns a function that runs transactions without a sync. The caller must sync the log. */
export function withoutSync(sqlite: SQLite.Database, transaction: Transaction): Transaction {
  const [unsynced, synced] = ['PRAGMA synchronous = NORMAL', 'PRAGMA synchronous = FULL'].map((text) =>
    sqlite.prepare(text),
  )
  return (work) => {
    unsynced?.run()
    try {
      return transaction(work)
    } finally {
      synced?.run()
    }
  }
}

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

/**
 * Writes a copy of a database that contains its log and no free pages.
 * @param execute runs a statement on a connection to the database
 * @param check called with the path of the copy before it gets its final name; throws to discard it
 */
export function copyInto(target: string, execute: (text: string) => unknown, check = (_: string) => {}): void {
  const part = startPart(target)
  try {
    execute(`VACUUM INTO '${part.path.replaceAll("'", "''")}'`)
    check(part.path)
    part.publish()
  } finally {
    part.discard()
  }
}
