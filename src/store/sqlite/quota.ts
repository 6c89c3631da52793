/** Recognizes a disk quota that is used up, which SQLite reports like a disk that fails. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { errorCode } from './fault.ts'

/** More than SQLite writes at once. */
const PROBE_BYTES = 4 * 1_048_576

/** Returns an error like that of a full disk if the quota is the reason why SQLite could not write; otherwise `error`. */
export function withQuota(error: unknown, database: string): unknown {
  if (errorCode(error) !== 'SQLITE_IOERR_WRITE' || !isUsedUp(database)) return error
  return Object.assign(new Error('the disk quota is used up', { cause: error }), { code: 'SQLITE_FULL_QUOTA' })
}

function isUsedUp(database: string): boolean {
  const probe = `${database}.quota`
  try {
    const handle = openSync(probe, 'wx', 0o600)
    try {
      const bytes = Buffer.alloc(PROBE_BYTES)
      // A quota that has some space left writes a part. The next call says why it did not write the rest.
      for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at, bytes.length - at, at)
      return false
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    return errorCode(error) === 'EDQUOT'
  } finally {
    rmSync(probe, { force: true })
  }
}
