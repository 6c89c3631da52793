/** Error codes from SQLite and the file system: their remedies, and whether they affect the whole database. */
import { RESTORE } from '../../domain/doctor/content.ts'

/** Thrown if the database file cannot be used. The message is one line and includes a remedy. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

const DAMAGED = `the database is damaged: ${RESTORE}; "incmon doctor" shows the damage`
const FULL = 'the disk is full: free some space and try again; "incmon doctor" shows how much is free'
const QUOTA = "the disk quota of the server's user is used up: free some space, or raise the quota, and try again"

/** Remedies by error code prefix. The first match wins. */
const REMEDIES: Readonly<Record<string, string>> = {
  SQLITE_BUSY: 'another process is writing to the database: try again, or stop that process',
  SQLITE_CORRUPT: DAMAGED,
  SQLITE_NOTADB: DAMAGED,
  SQLITE_FULL_QUOTA: QUOTA,
  SQLITE_FULL: FULL,
  SQLITE_READONLY_DBMOVED:
    'the database file was moved, replaced or deleted while it was open: put the original file back',
  SQLITE_READONLY: 'cannot write to the database: check the owner and mode of the file and its directory',
  // SQLite reports this code if the WAL index cannot grow.
  SQLITE_IOERR_SHMSIZE: FULL,
  // What was written before is lost, so the server ends.
  SQLITE_IOERR_FSYNC_FULL:
    'the disk, or its quota, was full when written data was synced: free some space, and start the server again',
  // SQLite reports this code also for EFBIG.
  SQLITE_IOERR_WRITE:
    'the disk has errors, or the log has reached the limit on the size of files (LimitFSIZE, ulimit -f): raise this limit, or check the system log, and restore a backup to another disk',
  SQLITE_IOERR: 'the disk has errors: check the system log, and restore a backup to another disk',
  ENOSPC: FULL,
  EDQUOT: QUOTA,
  EFBIG: 'the size of files is limited: raise the limit (LimitFSIZE, ulimit -f)',
}

/** Returns the remedy for an error code (see `errorCode`), or null if there is none. */
export function remedyOf(code: string): string | null {
  const known = Object.keys(REMEDIES).find((prefix) => code.startsWith(prefix))
  return (known && REMEDIES[known]) ?? null
}

/** EDQUOT on Linux. Node has no name for it. */
const OVER_QUOTA = -122

/** Returns the code of a failed system call or statement, for example EACCES or SQLITE_CORRUPT. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error && 'code' in error)) return String(error)
  return 'errno' in error && error.errno === OVER_QUOTA ? 'EDQUOT' : String(error.code)
}

/** Returns whether another process has locked the database, so that a retry can succeed. */
export function isBusy(error: unknown): boolean {
  return errorCode(error).startsWith('SQLITE_BUSY')
}

/** Returns whether the database is damaged. */
export function isDamage(error: unknown): boolean {
  return remedyOf(errorCode(error)) === DAMAGED
}

/** Returns whether the disk is full, or the quota used up. */
export function isFull(error: unknown): boolean {
  const remedy = remedyOf(errorCode(error))
  return remedy === FULL || remedy === QUOTA
}

/** Returns whether the whole database failed and not just one record: full disk, disk error, locked file. */
export function isStoreFailure(error: unknown): boolean {
  return /^SQLITE_(BUSY|FULL|IOERR|READONLY|LOCKED|NOMEM|CANTOPEN|CORRUPT)/.test(errorCode(error))
}
