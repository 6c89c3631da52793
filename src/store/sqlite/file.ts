/** The database file: its owner, its mode, and the settings that durability depends on. */
import { accessSync, chownSync, closeSync, constants, existsSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type SQLite from 'better-sqlite3'
import { openSqlite } from './driver.ts'
import { errorCode, isBusy, remedyOf, StoreError } from './fault.ts'
import { LOG_LIMIT } from './log-file.ts'
import { entryAt, forgetting, ownEntryAt, tracesOf } from './path.ts'
import { describeRescued } from './rescue.ts'

/** The application ID in the header of incmon's database files: 'incm'. */
export const APPLICATION_ID = 0x696e636d

const FULL = 'the disk is full: free some space and try again'
const READ_ONLY =
  'it is on a read-only file system; remount it read-write, or use a copy made with "incmon backup FILE"'

/** The size of SQLite's header in bytes. */
export const HEADER = 100

/**
 * Opens a connection for writing. Creates the file if it does not exist. `busyMs`: how long to wait for other writers.
 */
export function openFile(file: string, busyMs: number): SQLite.Database {
  refuseUnusable(file)
  return makeDurable(connect(file), file, busyMs)
}

/** Throws StoreError for a file whose data is in another file, and for a file of another program. */
export function refuseUnusable(file: string): void {
  refuseRescued(file)
  refuseOtherKinds(file)
  refuseOrphanedLog(file)
  refuseForeignFile(file)
}

/** Refuses a file, whether it exists or not, as long as data that a server saved from it lies beside it. */
export function refuseRescued(file: string): void {
  const found = describeRescued(file)
  if (found !== null) throw new StoreError(found)
}

/**
 * Refuses to start a server with a new database where a database has been used. Somebody may have deleted or emptied it by mistake.
 */
export function refuseVanished(file: string): void {
  const size = entryAt(file)?.size
  if (size !== undefined && size > 0) return
  const [trace] = tracesOf(file)
  if (trace === undefined) return
  refuseUnusable(file)
  throw new StoreError(
    `${file} is ${size === undefined ? 'missing' : 'empty'}, but ${trace} shows that a server has used it: put the file back, or run "incmon restore BACKUP --database ${file}"; to start with an empty database instead, run "${forgetting(file)}"`,
  )
}

/**
 * Returns null if this process can write to the file and its directory. Otherwise, returns the system's error code,
 * such as EROFS.
 */
export function writeRefusal(file: string): string | null {
  try {
    for (const path of [file, dirname(file)]) accessSync(path, constants.W_OK)
    return null
  } catch (error) {
    return errorCode(error)
  }
}

/** Refuses what SQLite cannot open in the place of the log or its index. SQLite does not follow a link there. */
function refuseOtherKinds(file: string): void {
  for (const end of ['-wal', '-shm']) refuseOtherKind(file + end, ownEntryAt(file + end))
}

/** Refuses a directory, a device, or a named pipe: opening a pipe would never end. */
export function refuseOtherKind(path: string, entry = entryAt(path)): void {
  if (entry?.isFile() !== false) return
  throw new StoreError(
    `${path} is not a regular file: if it is a link, put the file itself there; otherwise, move it away, and start again`,
  )
}

/** Refuses a log without its database file. The log may contain most of the data, and SQLite would delete the log. */
export function refuseOrphanedLog(file: string): void {
  if ((entryAt(file)?.size ?? 0) > 0 || (entryAt(`${file}-wal`)?.size ?? 0) === 0) return
  throw new StoreError(
    `${file} is missing or empty, and ${file}-wal contains its data: put the database file back next to the log, or move the log away to start with an empty database`,
  )
}

/** Reads the header before SQLite does, so that another program's file is left unchanged. */
function refuseForeignFile(file: string): void {
  if (!existsSync(file)) return
  if (statSync(file).isDirectory()) throw new StoreError(`${file} is a directory: choose a file with --database`)
  const application = applicationOf(file)
  if (application === 'empty' || application === APPLICATION_ID) return
  throw new StoreError(
    application === null
      ? `${file} is not a database, or is damaged: choose another --database, or restore a backup`
      : `${file} belongs to another program: choose another --database`,
  )
}

/** Returns the application ID in the header, or null if the file is not a database. */
export function applicationOf(file: string): number | 'empty' | null {
  const header = readHeader(file)
  return header.length === 0 ? 'empty' : applicationIn(header)
}

/** Returns the application ID in a database header, or null if these bytes are not a database header. */
export function applicationIn(header: Buffer): number | null {
  const isDatabase = header.length >= HEADER && header.toString('latin1', 0, 16) === 'SQLite format 3\0'
  return isDatabase ? header.readUInt32BE(68) : null
}

/** Reads SQLite's header, which is shorter than `HEADER` if the file is. */
export function readHeader(file: string): Buffer {
  refuseOtherKind(file)
  try {
    const handle = openSync(file, 'r')
    try {
      const header = Buffer.alloc(HEADER)
      return header.subarray(0, readSync(handle, header, 0, HEADER, 0))
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    throw new StoreError(
      `${file} cannot be read (${errorCode(error)}): check its owner and mode, or choose another --database`,
    )
  }
}

function connect(file: string): SQLite.Database {
  try {
    // Only the owner can access new files. SQLite gives -wal and -shm the same mode as the database file.
    makePrivate(file)
    const sqlite = openSqlite(file)
    // The application ID is set before the write-ahead log exists, so that the ID is in the header and not in the log.
    if (statSync(file).size === 0) {
      // Auto-vacuum can only be enabled while the file is empty.
      // Both settings are in one transaction, so that no other process sees a file without the application ID.
      sqlite.exec(`BEGIN; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`)
    }
    return sqlite
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new StoreError(`${file} cannot be created or opened (${errorCode(error)}): ${remedyForNew(file, error)}`)
  }
}

/** Gives a file created by root the same owner as `like`, so that the server can read it. */
export function copyOwner(path: string, like: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(like)
  chownSync(path, uid, gid)
}

/** Creates the file if it does not exist. Several processes can call this function at the same time. */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
    copyOwner(file, dirname(file))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}

/** Sets WAL mode and full sync, and reads both back. Throws if a setting did not take effect. */
export function makeDurable(sqlite: SQLite.Database, file: string, busyMs: number): SQLite.Database {
  try {
    sqlite.pragma(`busy_timeout = ${busyMs}`)
    keepLog(sqlite, performance.now() + busyMs)
    sqlite.pragma('synchronous = FULL')
    sqlite.pragma('foreign_keys = ON')
    // In pages. A worker thread usually runs a checkpoint much earlier. This limit applies if the worker falls behind.
    sqlite.pragma('wal_autocheckpoint = 32000')
    // The log grows during long reads, such as a backup. Afterwards, SQLite truncates the log to this size.
    sqlite.pragma(`journal_size_limit = ${LOG_LIMIT}`)
    const settings = ['journal_mode', 'synchronous', 'foreign_keys'].map((name) =>
      sqlite.pragma(name, { simple: true }),
    )
    if (String(settings) !== 'wal,2,1') {
      throw new StoreError(
        `${file}: journal_mode, synchronous, foreign_keys are ${settings} but must be wal,2,1: move the file to a local disk`,
      )
    }
    return sqlite
  } catch (error) {
    sqlite.close()
    if (error instanceof StoreError) throw error
    throw new StoreError(`${file} cannot be used (${errorCode(error)}): ${remedyFor(errorCode(error), file)}`)
  }
}

/** Sets the journal mode. Retries, because SQLite ignores the busy timeout here. */
function keepLog(sqlite: SQLite.Database, until: number): void {
  for (;;) {
    try {
      sqlite.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
  }
}

/** Suggests restoring a backup only if the file is damaged. In all other cases, a restore would lose newer data. */
function remedyFor(code: string, file: string): string {
  if (/^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code) && writeRefusal(file) === 'EROFS') {
    return READ_ONLY
  }
  if (code.startsWith('SQLITE_BUSY')) return 'another process has locked it: try again, or stop that process'
  if (/^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code)) return 'check the owner and mode of the file and of its directory'
  // SQLite reports the second code if it cannot create the WAL index.
  if (/^SQLITE_(FULL|IOERR_SHMSIZE)/.test(code)) return FULL
  return 'it is damaged: restore a backup, or choose another --database'
}

function remedyForNew(file: string, error: unknown): string {
  const code = errorCode(error)
  if (code === 'EROFS') return `${dirname(file)} is on a read-only file system; remount it read-write`
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code)) return remedyOf(code) ?? FULL
  return `check that ${dirname(file)} exists and is writable, or choose another --database`
}
