/** Copies one snapshot of a database while others write to it, and checks the copy. */
import { fdatasyncSync, fstatSync } from 'node:fs'
import { StoreError } from './driver.ts'
import { openStore } from './open.ts'
import type { Part } from './temporary-file.ts'

/** Reports progress in bytes. It can stop the copy by throwing. */
export type Progress = (done: number, total: number) => void

/** Pages per step, about 1 MB. */
const STEP = 256
/** Syncing everything at the end would delay the server's own syncs by hundreds of megabytes. */
const STEPS_A_SYNC = 8

/**
 * Copies everything that was committed at the start into the part. The database may change meanwhile.
 * One read transaction is one snapshot. Without it, every commit of a server would restart the copy. The write-ahead
 * log grows until the copy ends.
 * @throws errors of SQLite; StoreError if the database cannot be opened or the copy is damaged
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
    // If another process locks the part, SQLite ends the copy without an error.
    if (fstatSync(part.handle).size !== size) {
      throw new StoreError(
        `${part.path} does not contain the whole copy, because another process uses it: stop that process and run the command again`,
      )
    }
    db.execute('COMMIT')
    // Moves the pages of the log into the database file here, where nobody waits for it.
    db.checkpoint('PASSIVE')
  } finally {
    db.close()
  }
}
