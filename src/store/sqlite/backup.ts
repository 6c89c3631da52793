/** Backups: one snapshot of a database, copied while others write to it, and checked before anybody relies on it. */
import { fdatasyncSync, fstatSync } from 'node:fs'
import { StoreError } from './driver.ts'
import { openStore } from './open.ts'
import type { Part } from './temporary-file.ts'

/** Told how far a copy is, in bytes; stops it by throwing. */
export type Progress = (done: number, total: number) => void

/** About 1 MB a step. */
const STEP = 256
/** Syncing all at the end would let a server's own syncs wait behind hundreds of megabytes. */
const STEPS_A_SYNC = 8

/**
 * Writes all that was committed when it began into the part; the database may be written to meanwhile.
 * One read transaction is one snapshot: without it every commit of a server would begin the copy anew, for ever.
 * The price is that the log grows until it ends.
 * @throws as SQLite does; StoreError where the database cannot be opened, or the copy is not whole
 */
export async function copySnapshot(file: string, part: Part, tell: Progress): Promise<void> {
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
    // Where another process holds the part, SQLite's copy ends at once and says nothing.
    if (fstatSync(part.handle).size !== size) {
      throw new StoreError(`${part.path} did not take the whole copy: no other process may work on it, run it again`)
    }
    db.execute('COMMIT')
    // What the log has gathered is moved here, in a process that nobody waits for.
    db.checkpoint('PASSIVE')
  } finally {
    db.close()
  }
}
