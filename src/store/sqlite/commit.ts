/** Commits: transactions that are all or nothing, and when what they wrote is on disk. */
import type SQLite from 'better-sqlite3'
import type { createIdentities } from '../identities.ts'
import type { createMemory } from '../memory.ts'

/**
 * What of the log is in the file itself, in pages. NOOP only looks; PASSIVE copies what it can without holding anybody
 * up; RESTART then has the log begin anew, for which the writer must wait a moment; TRUNCATE empties it as well.
 * `isDone`: false where somebody else's reading or writing kept it from all that was asked for.
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

/** A reader begins without the right to write. */
export type Begin = 'BEGIN IMMEDIATE' | 'BEGIN'

/** SQLite counts the commits of others. */
export function createRefresh(sqlite: SQLite.Database, clear: () => void): () => void {
  const dataVersion = sqlite.prepare('PRAGMA data_version').pluck()
  let known: unknown = null
  return () => {
    const version = dataVersion.get()
    if (version !== known) clear()
    known = version
  }
}

/**
 * The work, once a millisecond however often it is asked for: it takes ten microseconds, and requests come by the dozen
 * in a millisecond. No command that wrote has ended by then.
 */
export function onceAMillisecond(work: () => void): () => void {
  let until = 0
  return () => {
    const now = performance.now()
    if (now < until) return
    work()
    until = now + 1
  }
}

type Remembering = Pick<ReturnType<typeof createMemory>, 'clear' | 'flushAll'> &
  Pick<ReturnType<typeof createIdentities>, 'mark' | 'takeBack' | 'settle'> & { readonly refresh: () => void }

/**
 * Transactions of a connection, and savepoints inside them; what waits to be written is written before the commit.
 * @param guard asked before each transaction; throws where there must be none
 */
export function createTransaction(
  sqlite: SQLite.Database,
  outer: Begin,
  { clear, flushAll, refresh, mark, takeBack, settle }: Remembering,
  guard: () => void,
): Transaction {
  const [begin, commit, rollback] = [outer, 'COMMIT', 'ROLLBACK'].map((text) => sqlite.prepare(text))
  const [save, release, undo] = ['SAVEPOINT one', 'RELEASE one', 'ROLLBACK TO one'].map((text) => sqlite.prepare(text))
  return (work) => {
    const isInner = sqlite.inTransaction
    if (isInner) flushAll()
    else guard()
    ;(isInner ? save : begin)?.run()
    const before = isInner ? mark() : 0
    try {
      if (!isInner) refresh()
      const result = work()
      flushAll()
      ;(isInner ? release : commit)?.run()
      if (!isInner) settle()
      return result
    } catch (error) {
      clear()
      takeBack(before)
      // A full disk and the like have rolled the whole transaction back already.
      if (sqlite.inTransaction) {
        ;(isInner ? undo : rollback)?.run()
        if (isInner) release?.run()
      }
      throw error
    }
  }
}

/** SQLite leaves the sync of the log to us for this one commit. */
export function ahead(sqlite: SQLite.Database, transaction: Transaction): Transaction {
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
