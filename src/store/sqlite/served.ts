/** Finds out whether a server uses a database, without loading what opens one. */
import { existsSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** SQLite's result code for a locked file. */
export const BUSY = 5

/** Returns the result code of an error of `node:sqlite`, which is the lowest byte of an extended code; 0 for others. */
export function resultCodeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
}

/** Returns whether a server holds the lock on the file (`lock.ts`). */
export function isServed(file: string): boolean {
  const path = existsSync(file) ? `${realpathSync(file)}.lock` : ''
  if (!existsSync(path)) return false
  try {
    const lock = new DatabaseSync(path, { readOnly: true })
    try {
      lock.prepare('SELECT count(*) FROM sqlite_schema').get()
      return false
    } finally {
      lock.close()
    }
  } catch (error) {
    return resultCodeOf(error) === BUSY
  }
}
