/** Copies a snapshot of a database while other processes write to it, and checks the copy. */
import { fdatasyncSync, fstatSync } from 'node:fs'
import { backup } from 'node:sqlite'
import { StoreError } from './fault.ts'
import { refuseUnusable, writeRefusal } from './file.ts'
import { openReadOnly } from './inspect.ts'
import { openStore } from './open.ts'
import type { Part } from './temporary-file.ts'

/** Receives the progress in bytes. Throws to abort the copy. */
type Progress = (done: number, total: number) => void

/** Pages per step, about 1 MB. */
const STEP = 256
/**
 * The number of steps between syncs. A single sync at the end would write hundreds of megabytes at once and delay the
 * server's own syncs.
 */
const STEPS_A_SYNC = 8

/**
 * Copies a snapshot of the database while it is in use. The copy runs in one read transaction. Without the transaction,
 * every commit of the server would restart the copy. The write-ahead log grows until the copy is complete.
 * @throws errors from SQLite; StoreError if the database cannot be opened or the copy is damaged
 */
export async function copySnapshot(file: string, part: Part, tell: Progress): Promise<void> {
  if (writeRefusal(file) !== null) return copyUnwritable(file, part, tell)
  const db = openStore(file)
  try {
    db.execute('BEGIN; SELECT count(*) FROM sqlite_schema')
    const pageSize = Number(db.pragma('page_size'))
    const size = Number(db.pragma('page_count')) * pageSize
    let steps = 0
    await db.copyTo(part.path, (remaining) => {
      tell(size - remaining * pageSize, size)
      steps += 1
      if (steps % STEPS_A_SYNC === 0) fdatasyncSync(part.handle)
      return STEP
    })
    // If another process has locked the `.part` file, SQLite stops copying without an error.
    if (fstatSync(part.handle).size !== size) {
      throw new StoreError(
        `${part.path} does not contain the whole copy, because another process uses it: stop that process and run the command again`,
      )
    }
    db.execute('COMMIT')
    // Runs the checkpoint here, because no request waits for this process.
    db.checkpoint('PASSIVE')
  } finally {
    db.close()
  }
}

/** Copies a database that this process cannot write to, for example on a read-only mount. */
async function copyUnwritable(file: string, part: Part, tell: Progress): Promise<void> {
  refuseUnusable(file)
  const sqlite = openReadOnly(file)
  try {
    sqlite.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
    const { page_size: size = 0 } = sqlite.prepare('PRAGMA page_size').get() ?? {}
    await backup(sqlite, part.path, {
      rate: STEP,
      progress: ({ totalPages, remainingPages }) =>
        tell((totalPages - remainingPages) * Number(size), totalPages * Number(size)),
    })
  } catch (error) {
    throw new StoreError(
      `${file} cannot be read (${error instanceof Error ? error.message : error}): run the command as the owner of the file, or copy the file to a writable directory`,
    )
  } finally {
    sqlite.close()
  }
}
