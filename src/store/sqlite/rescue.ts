/** Saves the data that a running process can still read after another program removed the write-ahead log. */
import { existsSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type SQLite from 'better-sqlite3'
import { RESCUED } from './path.ts'
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
 * Saves the data after the database file was deleted, moved or replaced. SQLite still has the file and its log open.
 * Then renames the log, because SQLite would apply it to whatever file has the name of the database at the next start.
 * @returns the path of the copy
 * @throws the error of the last directory if no copy can be written
 */
export function saveCopy(sqlite: SQLite.Database, file: string): string {
  const name = `${basename(file)}${RESCUED}${timeText()}`
  let failure: unknown = null
  for (const directory of [dirname(resolve(file)), dirname(dirname(resolve(file))), '/tmp']) {
    const path = join(directory, name)
    try {
      const part = startPart(path)
      try {
        sqlite.exec(`VACUUM INTO '${part.path.replaceAll("'", "''")}'`)
        const fault = faultIn(part.path)
        if (fault !== null) throw new Error(fault)
        part.publish()
      } finally {
        part.discard()
      }
      setLogAside(file)
      return path
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/** Renames the log, so that SQLite does not apply it to another file. @returns its new path, or null if it is missing */
export function setLogAside(file: string): string | null {
  if (!existsSync(`${file}-wal`)) return null
  const path = `${file}-wal${RESCUED}${timeText()}`
  renameSync(`${file}-wal`, path)
  rmSync(`${file}-shm`, { force: true })
  syncDirectory(dirname(file))
  return path
}

/** Returns the time as 20261126T150405Z, for the name of a file. */
function timeText(): string {
  const now = new Date(performance.timeOrigin + performance.now())
  return now.toISOString().replace(/[-:]|\.\d+/g, '')
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
