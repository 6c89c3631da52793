/** The lock of a serving process: one server for one file. */
import type SQLite from 'better-sqlite3'
import { openSqlite, StoreError } from './driver.ts'
import { errorCode, isHeld } from './fault.ts'
import { makePrivate } from './file.ts'
import { realNameOf } from './place.ts'

/** `inspect.ts` looks for an instant whether the lock is held, a busy machine for longer; that must keep no server from starting. In milliseconds. */
const A_LOOK = 1_000

/**
 * Holds `<file>.lock` until released or until the process is gone, however it went: the lock is one of the operating
 * system on an empty side file, so nothing stale can be left behind.
 * @param file a database, or where one is to be; its other names by links lead to the same lock
 * @returns releases it
 * @throws StoreError where another process holds it
 */
export function holdLock(file: string): () => void {
  const path = `${realNameOf(file)}.lock`
  const held = connect(path)
  try {
    held.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    held.close()
    throw isHeld(error)
      ? new StoreError(`${file} is served by another incmon: stop that one first, or name another --database`)
      : new StoreError(
          `${path} cannot be locked (${errorCode(error)}): remove it if it is not incmon's, and start again`,
        )
  }
  return () => void held.close()
}

function connect(path: string): SQLite.Database {
  try {
    makePrivate(path)
    return openSqlite(path, { timeout: A_LOOK })
  } catch (error) {
    throw new StoreError(
      `${path} cannot be made or opened (${errorCode(error)}): check its owner and mode, and its directory's`,
    )
  }
}
