/** The lock that ensures that only one server uses a database file. */
import { existsSync, statSync, utimesSync } from 'node:fs'
import type SQLite from 'better-sqlite3'
import { openSqlite } from './driver.ts'
import { errorCode, isBusy, StoreError } from './fault.ts'
import { makePrivate, refuseOtherKind } from './file.ts'
import { LOG_LOST } from './log-file.ts'
import { realNameOf } from './path.ts'

/** How long a starting server waits for the lock, in milliseconds. `served.ts` briefly takes the lock to test it. */
const A_LOOK = 1_000

/**
 * Locks `<file>.lock` until the lock is released or the process ends for any reason. The operating system holds the
 * lock on an empty file, so a stale lock is impossible.
 * @param file a database, or the path of a new one; all links to a file share the lock
 * @returns a function that releases the lock
 * @throws StoreError if another process holds the lock
 */
export function holdLock(file: string): () => void {
  const release = tryLock(file)
  if (release) return release
  throw new StoreError(`${file} is in use by an incmon server: stop that server first, or choose another --database`)
}

/** How often a server checks that its lock is still there, in milliseconds. */
const CHECK_EVERY = 250
/** How often a server marks the lock file as used, in milliseconds. */
const MARK_EVERY = 10_000

/** Returns when a server last used a database, in ms UTC; null if none did. The lock file shows it to 10 s. */
export function lastUsedAt(file: string): number | null {
  return statSync(lockOf(file), { throwIfNoEntry: false })?.mtimeMs ?? null
}

/**
 * Like `holdLock`, but locks the database again if somebody deletes the lock file, and marks the file as used.
 * @param now returns the time in ms UTC
 * @param lost called if another process was faster: two servers would overwrite each other's records
 */
export function keepLock(
  file: string,
  now: () => number,
  lost: (error: Error) => void,
  every = CHECK_EVERY,
): () => void {
  const path = lockOf(file)
  const inode = () => statSync(path, { throwIfNoEntry: false })?.ino
  let [release, held, markedAt] = [holdLock(file), inode(), 0]
  const check = () => {
    const isHeld = inode() === held
    if (isHeld && Math.abs(now() - markedAt) >= MARK_EVERY) {
      markedAt = now()
      mark(path, markedAt)
    }
    // If the database is gone as well, the log's own checks save the data.
    if (isHeld || !existsSync(file)) return
    const again = tryLock(file)
    if (!again) {
      clearInterval(timer)
      lost(Object.assign(new Error(lossOfLock(file)), { code: LOG_LOST }))
      return
    }
    release()
    release = again
    held = inode()
  }
  const timer = setInterval(check, every).unref()
  return () => {
    clearInterval(timer)
    mark(path, now())
    release()
  }
}

function mark(path: string, at: number): void {
  try {
    utimesSync(path, at / 1000, at / 1000)
  } catch {
    // The file was deleted, or belongs to another user.
  }
}

function lossOfLock(file: string): string {
  return `${file}.lock was deleted while incmon was running, and another process has locked the database since: this server stops, and nothing is lost. Never delete this file`
}

/** Like `holdLock`, but returns null if another process holds the lock. */
export function tryLock(file: string): (() => void) | null {
  const path = lockOf(file)
  const held = connect(path)
  try {
    held.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    held.close()
    if (isBusy(error)) return null
    throw new StoreError(
      `${path} cannot be locked (${errorCode(error)}): remove it if it does not belong to incmon, and start again`,
    )
  }
  return () => void held.close()
}

function lockOf(file: string): string {
  return `${realNameOf(file)}.lock`
}

function connect(path: string): SQLite.Database {
  refuseOtherKind(path)
  try {
    makePrivate(path)
    return openSqlite(path, { timeout: A_LOOK })
  } catch (error) {
    throw new StoreError(
      `${path} cannot be created or opened (${errorCode(error)}): check its owner and mode, and the owner and mode of its directory`,
    )
  }
}
