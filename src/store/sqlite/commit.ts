/** Runs transactions and syncs their data to disk. */
import type SQLite from 'better-sqlite3'

/**
 * Copies pages of the write-ahead log into the database file. NOOP only reports. PASSIVE copies without blocking.
 * RESTART also starts a new log, for which the writer waits a moment. TRUNCATE also empties it. `isDone` is false if
 * another reader or writer prevented it from finishing.
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

/** A read transaction does not lock for writing. */
export type Begin = 'BEGIN IMMEDIATE' | 'BEGIN'

/**
 * Returns a function that runs transactions, with savepoints for nested calls.
 * @param guard called before each transaction; throws if no transaction may start
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
      // A full disk and similar errors have already rolled back the whole transaction.
      if (sqlite.inTransaction) {
        ;(isInner ? undo : rollback)?.run()
        if (isInner) release?.run()
      }
      throw error
    }
  }
}

/** Returns a transaction that SQLite does not sync. The caller syncs the log. */
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
