/** Syncs and monitors the write-ahead log file, because SQLite does not notice when it is deleted. */

import { closeSync, fdatasync, fstatSync, lstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import type SQLite from 'better-sqlite3'
import { errorCode, isFull } from './fault.ts'
import { asideOf, commandToUse, saveCopy, saveFromCache, saveFromLog, setLogAside } from './rescue.ts'

/** SQLite truncates a restarted log to this many bytes. */
export const LOG_LIMIT = 67_108_864
/** The error code for a lost log. The prefix marks the failure as a disk error, which ends the process. */
export const LOG_LOST = 'SQLITE_IOERR_LOGLOST'
const LOG_HEADER = 32
const FRAME_HEADER = 24
/** The unit in which the file system counts a file's blocks. */
const BLOCK = 512
/** The first bytes of every log. The last bit indicates the byte order of the checksums. */
const MAGIC = 0x377f0682

/**
 * Monitors the log of an open database by its inode, link count, size and first bytes. If the log is lost, copies all
 * data that SQLite can still read to the database file. This is done only once.
 * @param file the path that SQLite uses (`resolveDatabase`)
 */
export function watchLog(sqlite: SQLite.Database, file: string) {
  const [log, index] = [`${file}-wal`, `${file}-shm`]
  const database = statSync(file)
  let opened: { readonly handle: number; readonly inode: number; readonly index: number | null } | null = null
  let size = 0
  let lost: Error | null = null
  // A file system that compresses files can store a complete log in fewer blocks than its size suggests.
  let isCompressed = false

  const open = () => {
    if (inodeOf(log) === null) throw lose('deleted')
    const handle = openSync(log, 'r')
    const { ino, dev } = fstatSync(handle)
    opened = { handle, inode: ino, index: inodeOf(index) }
    if (isOpenTwice(ino, dev)) return opened
    throw lose('deleted')
  }
  const lose = (loss: Loss, path = log): Error => {
    const message = isFileGone() ? lossOfFile(sqlite, file) : lossOfLog(sqlite, file, `${path} was ${loss}`, loss)
    sqlite.pragma('query_only = ON')
    lost = Object.assign(new Error(message), { code: LOG_LOST })
    return lost
  }
  // At the next start, a link in place of the file would lead SQLite to another log.
  const isFileGone = () => {
    const now = lstatSync(file, { throwIfNoEntry: false })
    return now?.ino !== database.ino || now.dev !== database.dev
  }
  /** Throws if the log was replaced or truncated, because new data in the log would be lost at the next start. */
  const guard = () => {
    if (lost) throw lost
    const { handle, inode } = opened ?? open()
    const now = fstatSync(handle)
    if (now.nlink === 0 || inodeOf(log) !== inode) throw lose('deleted')
    const hasGap = !isCompressed && now.blocks * BLOCK < now.size
    if (now.size < Math.min(size, LOG_LIMIT) || hasGap || hasHole(handle, now.size)) {
      if (!isWhole(sqlite, handle, now.size)) throw lose('truncated')
      isCompressed ||= hasGap
    }
    size = now.size
  }
  const fail = (cause: unknown) => {
    if (cause === lost) return cause
    sqlite.pragma('query_only = ON')
    const code = isFull(cause) ? 'SQLITE_IOERR_FSYNC_FULL' : 'SQLITE_IOERR_FSYNC'
    return Object.assign(new Error(`${log} cannot be synced`, { cause }), { code })
  }
  return {
    guard,
    /** Like `guard`, but also checks the database file and the WAL index, without which locks are not seen. */
    guardAll: () => {
      if (lost) throw lost
      if (isFileGone()) throw lose('deleted')
      guard()
      if (opened && inodeOf(index) !== opened.index) throw lose('deleted', index)
    },
    /**
     * Resolves once all earlier commits are on disk, in the file that SQLite would read after a crash. Rejects if the
     * disk failed or the log was lost. After a rejection, the connection refuses all writes.
     */
    sync: () =>
      new Promise<void>((resolve, reject) => {
        try {
          if (lost) throw lost
          const { handle } = opened ?? open()
          fdatasync(handle, (error) => {
            try {
              if (error) throw error
              guard()
              resolve()
            } catch (cause) {
              reject(fail(cause))
            }
          })
        } catch (error) {
          reject(fail(error))
        }
      }),
    /** Saves the log after another program wrote into the database file. Returns the error that ends the process. */
    overwritten: () => {
      lost ??= Object.assign(new Error(lossOfContent(sqlite, file)), { code: LOG_LOST })
      return lost
    },
    isLost: () => lost !== null,
    close: () => {
      if (opened) closeSync(opened.handle)
      opened = null
    },
  }
}

function inodeOf(path: string): number | null {
  return lstatSync(path, { throwIfNoEntry: false })?.ino ?? null
}

/** Returns whether this process has the file open twice: here and in SQLite. Returns true if the answer is unknown. */
function isOpenTwice(ino: number, dev: number): boolean {
  let found = 0
  for (const name of descriptors()) {
    try {
      const entry = fstatSync(Number(name))
      if (entry.ino === ino && entry.dev === dev) found += 1
    } catch {
      // The descriptor was closed in the meantime. For example, listing the directory uses a descriptor.
    }
  }
  return found !== 1
}

function descriptors(): string[] {
  try {
    return readdirSync('/dev/fd')
  } catch {
    return []
  }
}

/**
 * Returns whether the log was truncated and SQLite continued writing after the gap, which leaves zeros at the start.
 */
function hasHole(handle: number, size: number): boolean {
  if (size === 0) return false
  const first = Buffer.alloc(4)
  readSync(handle, first, 0, 4, 0)
  return (first.readUInt32BE() & ~1) !== MAGIC
}

/** Returns whether the log contains every frame that SQLite expects. Frames inside a gap read as zeros. */
function isWhole(sqlite: SQLite.Database, handle: number, size: number): boolean {
  const [row] = sqlite.pragma('wal_checkpoint(NOOP)') as { log: number }[]
  const frames = Math.max(0, row?.log ?? 0)
  const step = FRAME_HEADER + Number(sqlite.pragma('page_size', { simple: true }))
  if (frames === 0) return true
  if (size < LOG_HEADER + frames * step || hasHole(handle, size)) return false
  const [header, frame] = [Buffer.alloc(LOG_HEADER), Buffer.alloc(FRAME_HEADER)]
  readSync(handle, header, 0, LOG_HEADER, 0)
  for (let at = LOG_HEADER; at < LOG_HEADER + frames * step; at += step) {
    readSync(handle, frame, 0, FRAME_HEADER, at)
    // Each frame repeats the salt values from the header.
    if (!frame.subarray(8, 16).equals(header.subarray(16, 24))) return false
  }
  return true
}

/** The error code if the data of a missing file cannot be copied. */
export const UNSAVED = 'SQLITE_READONLY_UNSAVED'

/** What happened to the log or its index. */
type Loss = 'deleted' | 'truncated'

const STOP = 'Stop that program, then start incmon again'
const COPIES = 'The newest backup has the rest: run "incmon restore BACKUP --force"'

/**
 * The database file was deleted, moved or replaced. SQLite still has the file and its log open.
 * @throws an error with the code `UNSAVED` if no copy can be written; the process must not end then
 */
function lossOfFile(sqlite: SQLite.Database, file: string): string {
  const what = `${file} was deleted, moved or replaced by another program while incmon was running`
  try {
    return `${what}; ${savedTo(saveCopy(sqlite, file), file)}`
  } catch (error) {
    const message = `${what}, and its data cannot be copied (${errorCode(error)}): put the file back, or free some disk space; do not stop incmon before, because only this process can still read the data`
    throw Object.assign(new Error(message), { code: UNSAVED })
  }
}

function savedTo(copy: string, file: string): string {
  return `all stored data was saved to ${copy}. To continue with this data, run "${commandToUse(copy, file)}", then start incmon again`
}

/** The log or its index was deleted, or the log was truncated, and the database file is in its place. */
function lossOfLog(sqlite: SQLite.Database, file: string, event: string, loss: Loss): string {
  const what = `${event} by another program while incmon was running`
  if (loss === 'deleted' ? saveFromLog(sqlite, file) : saveFromCache(sqlite, file))
    return `${what}; all stored data was saved to ${file}. ${STOP}`
  if (loss === 'truncated') return `${what}; ${file} lacks the latest data. ${COPIES}, or continue without it`
  try {
    return `${what}; ${savedTo(saveCopy(sqlite, file), file)}`
  } catch (error) {
    return `${what}; the log could not be saved (${errorCode(error)}), so ${file} lacks the latest data. ${COPIES}`
  }
}

/** Another program wrote into the database file. The log must not be applied to its new content. */
function lossOfContent(sqlite: SQLite.Database, file: string): string {
  sqlite.pragma('query_only = ON')
  const log = setLogAside(file)
  const what = `another program wrote into ${file} while incmon was running, and has overwritten data`
  if (log === null) return `${what}; there was no log. ${COPIES}`
  return `${what}; the log with the newest data was saved to ${log}. ${COPIES}. Then run "${asideOf([log])}", because incmon does not start while the log lies there`
}
