/** Rescue: what a running process can still read after another program took the write-ahead log away. */
import { existsSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import type SQLite from 'better-sqlite3'
import { faultIn } from './sound.ts'
import { COMPANIONS, startPart, syncDirectory } from './temporary-file.ts'

/** Memory for the pages of the database while they are copied, in KiB. */
const CACHE = 1_048_576
/** How often a checkpoint is tried that a reader holds up, each time for so many milliseconds. */
const TRIES = 20
const PAUSE = 50

/**
 * After the log was deleted, moved or replaced: SQLite still has it open, and copies it into the database file.
 * A log of somebody else that stands in its place is kept as `-wal.foreign`, because the next start would read it.
 * @returns whether all of it is in the file
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
 * After the log was truncated: SQLite must not copy it into the file, because it would copy what is not there. But its
 * cache holds the pages that were written last. A copy made through the cache takes the place of the file if it is whole.
 */
export function saveFromCache(sqlite: SQLite.Database, file: string): boolean {
  try {
    // Behind the cut the log reads as zeros. From an empty log SQLite reads nothing, and says so.
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
