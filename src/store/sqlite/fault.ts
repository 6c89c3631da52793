/** Faults of the store and of the disk below it: their codes, which of them are no fault of one record, and what to do about each. */
import { RESTORE } from '../../domain/doctor/content.ts'

const DAMAGED = `the database is damaged: ${RESTORE}; "incmon doctor" shows the damage`
const FULL = 'the disk is full: make room and try again'

/** By the beginning of the code; the first that fits counts. */
const REMEDIES: Readonly<Record<string, string>> = {
  SQLITE_BUSY: 'another process writes to the database: try again, or stop it',
  SQLITE_CORRUPT: DAMAGED,
  SQLITE_NOTADB: DAMAGED,
  SQLITE_FULL: FULL,
  SQLITE_READONLY_DBMOVED:
    'the database was moved, replaced or deleted while it is open: put that very file back, or start again with the one that is there',
  SQLITE_READONLY: 'the database cannot be written: check the owner and mode of the file and its directory',
  // Said of the log's index where it cannot grow.
  SQLITE_IOERR_SHMSIZE: FULL,
  SQLITE_IOERR: 'the disk fails: look at the system log, and restore a copy on another disk',
  ENOSPC: FULL,
}

/** @param code of a failed statement or system call (`errorCode`); null where nothing is known of it */
export function remedyOf(code: string): string | null {
  const known = Object.keys(REMEDIES).find((prefix) => code.startsWith(prefix))
  return (known && REMEDIES[known]) ?? null
}

/** The code of a failed system call or statement, such as EACCES or SQLITE_CORRUPT. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

/** Whether another process holds the file: it may be tried again. */
export function isHeld(error: unknown): boolean {
  return errorCode(error).startsWith('SQLITE_BUSY')
}

/** Whether the store as a whole failed, and not one record: disk full, an error of the disk, a file that is held. */
export function isOfStore(error: unknown): boolean {
  return /^SQLITE_(BUSY|FULL|IOERR|READONLY|LOCKED|NOMEM|CANTOPEN|CORRUPT)/.test(errorCode(error))
}
