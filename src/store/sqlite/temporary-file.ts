/** Files that are whole or not there: written aside as `<target>.part`, synced, and only then given their name. */
import { closeSync, existsSync, fstatSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { StoreError } from './driver.ts'
import { errorCode } from './fault.ts'

/** What SQLite puts beside a database while it is open. */
export const COMPANIONS = ['-wal', '-shm', '-journal'] as const

/** Whether a database is open, or was left open: part of its content stands in the log beside it. */
export function hasLog(file: string): boolean {
  return existsSync(`${file}-wal`)
}

export type Part = {
  readonly path: string
  /** Open for reading and writing until published or discarded. */
  readonly handle: number
  /** Gives the file its name, after all of it is on disk; the name is on disk too when this returns. */
  readonly publish: () => void
  /** Leaves nothing of it behind; after `publish` nothing happens. */
  readonly discard: () => void
}

/**
 * Starts an empty file that its owner alone may read. What a killed process left under the name goes.
 * @throws as node:fs does where it cannot be made
 */
export function startPart(target: string): Part {
  const path = `${resolve(target)}.part`
  removeAll(path)
  const handle = openSync(path, 'wx+', 0o600)
  let isOpen = true
  const close = () => {
    if (isOpen) closeSync(handle)
    isOpen = false
  }
  const publish = () => {
    fsyncSync(handle)
    refuseReplaced(path, handle)
    renameSync(path, resolve(target))
    syncDirectory(dirname(path))
    close()
  }
  const discard = () => {
    if (isOpen && isSame(path, handle)) removeAll(path)
    close()
  }
  return { path, handle, publish, discard }
}

/**
 * Works on a part, which is gone afterwards unless it was published.
 * @throws StoreError with the remedy where it could not be written
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

/** A journal that was left behind would be played into the next file of its name. */
function removeAll(path: string): void {
  for (const end of ['', ...COMPANIONS]) rmSync(path + end, { force: true })
}

/** Two that write to the same target: the later one took the name. */
function refuseReplaced(path: string, handle: number): void {
  if (isSame(path, handle)) return
  throw new StoreError(`${path} was replaced by another process meanwhile: run one at a time`)
}

function isSame(path: string, handle: number): boolean {
  const named = statSync(path, { throwIfNoEntry: false })
  const open = fstatSync(handle)
  return named?.ino === open.ino && named.dev === open.dev
}

/** A name is on disk when its directory is. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Why a file could not be written, with the remedy; what is not about files stays as it is. */
function writeFailure(target: string, error: unknown): Error {
  const code = errorCode(error)
  const remedy = REMEDIES.find(([codes]) => codes.test(code))?.[1]
  return remedy ? new StoreError(`${target} cannot be written (${code}): ${remedy}`) : (error as Error)
}

const REMEDIES: readonly (readonly [codes: RegExp, remedy: string])[] = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, 'its disk is full: make room there, or name a file on another disk'],
  [/^(SQLITE_IOERR|EFBIG|EIO)/, 'its disk fails, or takes no file of this size: name a file on another disk'],
  [/^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS)/, 'check the owner and mode of its directory'],
  [/^(ENOENT|ENOTDIR)/, 'there is no such directory: make it, or name another file'],
  [/^(EISDIR|ERR_FS_EISDIR)/, 'a directory is in its way: remove that, or name another file'],
  [/^SQLITE_BUSY/, 'another process holds it: run one at a time'],
]
