/** Saves the data that a running process can still read after another program removed the write-ahead log. */
import { existsSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import type SQLite from 'better-sqlite3'
import { faultIn } from './sound.ts'
import { COMPANIONS, startPart, syncDirectory } from './temporary-file.ts'

/** The page cache during the copy, in KiB. */
const CACHE = 1_048_576
/** How many times to attempt a checkpoint while a reader blocks it, and the delay between attempts in milliseconds. */
const TRIES = 20
const PAUSE = 50

/**
 * Saves the data after the log was deleted, moved or replaced. SQLite still has the original log open and can copy it
 * into the database file. If another file replaced the log, renames that file to `-wal.foreign`, because SQLite would
 * read it at the next start.
 * @returns whether all data is in the file
 */
export function saveFromLog(sqlite: SQLite.Database, file: string): boolean {
  for (let tried = 0; tried < TRIES; tried += 1) {
    try {
      const [row] = sqlite.pragma('wal_checkpoint(PASSIVE)') as { busy: number; log: number; checkpointed: number }[]
      if (row && row.log === row.checkpointed) {
        if (existsSync(`${file}-wal`)) renameSync(`${file}-wal`, `${file}-wal.foreign`)
        syncDirectory(dirname(file))
        return true
      }
    } catch {
      return false
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE)
  }
  return false
}

/**
 * Saves the data after the log was truncated. The log must not be checkpointed, because parts of it are missing.
 * SQLite's cache contains the latest pages, so a copy made through the cache replaces the file if the copy is complete.
 */
export function saveFromCache(sqlite: SQLite.Database, file: string): boolean {
  try {
    // The truncated log contains zeros. SQLite ignores an empty log.
    truncateSync(`${file}-wal`)
    sqlite.pragma(`cache_size = -${CACHE}`)
    const part = startPart(file)
    try {
      sqlite.exec(`VACUUM INTO '${part.path.replaceAll("'", "''")}'`)
      if (faultIn(part.path) !== null) return false
      for (const end of COMPANIONS) rmSync(file + end, { force: true })
      syncDirectory(dirname(file))
      part.publish()
      return true
    } finally {
      part.discard()
    }
  } catch {
    return false
  }
}
