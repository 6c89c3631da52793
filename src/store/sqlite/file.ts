/** The file itself: whose it is, readable by its owner alone, and with the settings that the promise rests on. */
import { chownSync, closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type SQLite from 'better-sqlite3'
import { openSqlite, StoreError } from './driver.ts'
import { errorCode, isHeld } from './fault.ts'
import { LOG_LIMIT } from './log-file.ts'
import { entryAt } from './place.ts'

/** Marks our files in their header: 'incm'. */
export const APPLICATION_ID = 0x696e636d

/** The bytes of SQLite's header. */
export const HEADER = 100

/** A connection that writes, made where it is missing; `busyMs`: how long others are waited for. */
export function openFile(file: string, busyMs: number): SQLite.Database {
  refuseOrphanedLog(file)
  refuseForeignFile(file)
  return secured(connect(file), file, busyMs)
}

/** Nearly all that was stored may stand in the log still: SQLite would take the file for a new one and delete the log. */
function refuseOrphanedLog(file: string): void {
  if ((entryAt(file)?.size ?? 0) > 0 || (entryAt(`${file}-wal`)?.size ?? 0) === 0) return
  throw new StoreError(
    `${file} is missing or empty, and ${file}-wal holds what was stored in it: put the file back beside it, or move the log away to begin anew`,
  )
}

/** Throws once another file, or none, stands where the one that is open was: what is written to that nobody finds again. */
export function guardPlace(file: string): () => void {
  const opened = statSync(file)
  return () => {
    const found = entryAt(file)
    if (found?.ino === opened.ino && found.dev === opened.dev) return
    const error = new Error(`${file} was moved, replaced or deleted while it was open`)
    throw Object.assign(error, { code: 'SQLITE_READONLY_DBMOVED' })
  }
}

/** Looks at the header before SQLite does, so that a file that is not ours stays as it is, to the byte. */
function refuseForeignFile(file: string): void {
  if (!existsSync(file)) return
  const application = applicationOf(file)
  if (application === 'empty' || application === APPLICATION_ID) return
  throw new StoreError(
    application === null
      ? `${file} is not a database, or is damaged: name another --database, or restore a copy`
      : `${file} is a database of another program: name another --database`,
  )
}

/** Whose database it is: the mark in its header; null where it is none. */
export function applicationOf(file: string): number | 'empty' | null {
  const header = Buffer.alloc(HEADER)
  const read = readHeader(file, header)
  return read === 0 ? 'empty' : applicationIn(header.subarray(0, read))
}

/** Whose database begins with these bytes; null where none does. */
export function applicationIn(header: Buffer): number | null {
  const isDatabase = header.length >= HEADER && header.toString('latin1', 0, 16) === 'SQLite format 3\0'
  return isDatabase ? header.readUInt32BE(68) : null
}

/** The bytes of the whole database that begins so; null where its header does not tell. */
export function sizeIn(header: Buffer): number | null {
  const [size, pages] = [header.readUInt16BE(16), header.readUInt32BE(28)]
  // The number of pages counts only if the same write made both of these.
  if (pages === 0 || header.readUInt32BE(24) !== header.readUInt32BE(92)) return null
  return pages * (size === 1 ? 65_536 : size)
}

function readHeader(file: string, header: Buffer): number {
  try {
    const handle = openSync(file, 'r')
    try {
      return readSync(handle, header, 0, HEADER, 0)
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    throw new StoreError(
      `${file} cannot be read (${errorCode(error)}): check its owner and mode, or name another --database`,
    )
  }
}

function connect(file: string): SQLite.Database {
  try {
    // New files are born readable by their owner alone; -wal and -shm take the mode of the main file.
    makePrivate(file)
    const sqlite = openSqlite(file)
    // Marked before there is a write-ahead log: a mark that stood in the log alone would be missing from the header.
    if (statSync(file).size === 0) {
      // Only an empty file can be told to shrink; an older one must be written anew for it (`space.ts`).
      // Both in one step: another process that looks between them would take the file for a foreign one.
      sqlite.exec(`BEGIN; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`)
    }
    return sqlite
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new StoreError(
      `${file} cannot be made or opened (${errorCode(error)}): check that ${dirname(file)} exists and may be written, or name another --database`,
    )
  }
}

/** What root makes must be readable to the server that runs as another: it gets the owner of `like`. */
export function handOver(path: string, like: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(like)
  chownSync(path, uid, gid)
}

/** Makes the file where it is missing; two processes may both find it missing. */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
    handOver(file, dirname(file))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}

/** Sets what the promise rests on (WAL, every commit synced) and reads it back: a setting that did not take is refused. */
export function secured(sqlite: SQLite.Database, file: string, busyMs: number): SQLite.Database {
  try {
    sqlite.pragma(`busy_timeout = ${busyMs}`)
    keepLog(sqlite, performance.now() + busyMs)
    sqlite.pragma('synchronous = FULL')
    sqlite.pragma('foreign_keys = ON')
    // In pages. A thread of the server copies the log long before; without it, or where it cannot follow, SQLite does.
    sqlite.pragma('wal_autocheckpoint = 32000')
    // A long read, such as a backup's, lets the log grow: afterwards it gives the room back.
    sqlite.pragma(`journal_size_limit = ${LOG_LIMIT}`)
    const settings = ['journal_mode', 'synchronous', 'foreign_keys'].map((name) =>
      sqlite.pragma(name, { simple: true }),
    )
    if (String(settings) !== 'wal,2,1') {
      throw new StoreError(
        `${file}: journal_mode, synchronous, foreign_keys are ${settings} and must be wal,2,1: move it to a local disk`,
      )
    }
    return sqlite
  } catch (error) {
    sqlite.close()
    if (error instanceof StoreError) throw error
    throw new StoreError(`${file} cannot be used (${errorCode(error)}): ${remedyFor(errorCode(error))}`)
  }
}

/** SQLite does not wait for others where it changes this mode, whatever its busy_timeout. */
function keepLog(sqlite: SQLite.Database, until: number): void {
  for (;;) {
    try {
      sqlite.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if (!isHeld(error) || performance.now() >= until) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
  }
}

/** Restoring a copy is the remedy for damage alone: whoever lacks a right or a moment would lose what was stored since. */
function remedyFor(code: string): string {
  if (code.startsWith('SQLITE_BUSY')) return 'another process holds it: try again, or stop that one'
  if (/^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code)) return 'check the owner and mode of the file and of its directory'
  // The second is said of the log's index, which has to be made first.
  if (/^SQLITE_(FULL|IOERR_SHMSIZE)/.test(code)) return 'the disk is full: make room and try again'
  return 'it is damaged: restore a copy, or name another --database'
}
