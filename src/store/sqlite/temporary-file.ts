/** Writes files atomically: writes `<target>.part`, syncs it, and renames it to the target. */
import { closeSync, existsSync, fstatSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { errorCode, StoreError } from './fault.ts'

/** The suffixes of the files that SQLite creates next to an open database. */
export const COMPANIONS = ['-wal', '-shm', '-journal'] as const

/** Returns whether a database is open or was not closed properly, in which case some of its data is in the log. */
export function hasLog(file: string): boolean {
  return existsSync(`${file}-wal`)
}

export type Part = ReturnType<typeof startPart>

/**
 * Creates an empty file that only its owner can access. Deletes any file left behind by a killed process.
 * @throws errors from node:fs if the file cannot be created
 */
export function startPart(target: string) {
  const path = `${resolve(target)}.part`
  removeAll(path)
  /** The file descriptor, which is open for reading and writing until the part is published or discarded. */
  const handle = openSync(path, 'wx+', 0o600)
  let isOpen = true
  const close = () => {
    if (isOpen) closeSync(handle)
    isOpen = false
  }
  /** Syncs the file and renames it. The new name is on disk when this returns. */
  const publish = () => {
    fsyncSync(handle)
    refuseReplaced(path, handle)
    renameSync(path, resolve(target))
    syncDirectory(dirname(path))
    close()
  }
  /** Deletes the part. Does nothing after `publish`. */
  const discard = () => {
    if (isOpen && isSame(path, handle)) removeAll(path)
    close()
  }
  return { path, handle, publish, discard }
}

/**
 * Calls `work` with a part, and deletes the part if it was not published.
 * @throws StoreError with a remedy if the file cannot be written
 */
export async function withPart<Result>(target: string, work: (part: Part) => Promise<Result>): Promise<Result> {
  try {
    const part = startPart(target)
    try {
      return await work(part)
    } finally {
      part.discard()
    }
  } catch (error) {
    throw writeFailure(target, error)
  }
}

/**
 * Deletes a database file and the files that SQLite created next to it. SQLite would apply an old journal to a new file
 * with the same name.
 */
function removeAll(path: string): void {
  for (const end of ['', ...COMPANIONS]) rmSync(path + end, { force: true })
}

/** Throws if another process that writes to the same target has replaced the part. */
function refuseReplaced(path: string, handle: number): void {
  if (isSame(path, handle)) return
  throw new StoreError(`${path} was replaced by another process: run one command at a time`)
}

function isSame(path: string, handle: number): boolean {
  const named = statSync(path, { throwIfNoEntry: false })
  const open = fstatSync(handle)
  return named?.ino === open.ino && named.dev === open.dev
}

/** Syncs the directory. Otherwise, the new name of a file might not survive a power failure. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Adds a remedy to a write error. Returns any other error unchanged. */
function writeFailure(target: string, error: unknown): Error {
  const code = errorCode(error)
  const remedy = REMEDIES.find(([codes]) => codes.test(code))?.[1]
  return remedy ? new StoreError(`${target} cannot be written (${code}): ${remedy}`) : (error as Error)
}

const REMEDIES: readonly (readonly [codes: RegExp, remedy: string])[] = [
  [
    /^(SQLITE_FULL|ENOSPC|EDQUOT)/,
    'its disk is full, or its quota is used up: free some space, or choose a file on another disk',
  ],
  [
    /^(SQLITE_IOERR|EFBIG|EIO)/,
    'its disk has errors, or does not allow files of this size: choose a file on another disk',
  ],
  [/^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS)/, 'check the owner and mode of its directory'],
  [/^(ENOENT|ENOTDIR)/, 'the directory does not exist: create it, or choose another file'],
  [/^(EISDIR|ERR_FS_EISDIR)/, 'a directory has this name: remove it, or choose another file'],
  [/^SQLITE_BUSY/, 'another process has locked it: run one command at a time'],
]
