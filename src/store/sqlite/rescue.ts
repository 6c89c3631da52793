/** Saves the data that a running process can still read after another program removed the write-ahead log. */
import { existsSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import type SQLite from 'better-sqlite3'
import { faultIn } from './sound.ts'
import { COMPANIONS, startPart, syncDirectory } from './temporary-file.ts'

/** Cache for the pages of the database during the copy, in KiB. */
const CACHE = 1_048_576
/** How often to try a checkpoint that a reader blocks. The second value is the time per try in milliseconds. */
const TRIES = 20
const PAUSE = 50

/**
 * Saves the data after the log was deleted, moved or replaced. SQLite still has the log open and copies it into the
 * database file. A foreign log in its place is kept as `-wal.foreign`, because the next start would read it.
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
 * Saves the data after the log was truncated. SQLite must not checkpoint the log, because parts of it are missing. Its
 * cache contains the latest pages, so a copy through the cache replaces the file if the copy is complete.
 */
export function saveFromCache(sqlite: SQLite.Database, file: string): boolean {
  try {
    // After the truncation, the log contains zeros. SQLite ignores an empty log.
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
