/** The sizes of the database and its disk, and the return of free pages to the file system, a few at a time. */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from './fault.ts'
import type { Db } from './open.ts'

/** In bytes. `wal`: the size of the write-ahead log; 0 if there is none. */
type Sizes = { readonly database: number; readonly wal: number; readonly free: number }

/** Returns the sizes. If the free space cannot be determined, `free` is 0. */
export function findSizes(db: Db): Sizes {
  return { database: sizeOf(db.file), wal: sizeOf(`${db.file}-wal`), free: findFreeDisk(db) ?? 0 }
}

/** Returns the bytes available to an unprivileged user, or null if they cannot be determined. */
export function findFreeDisk({ file }: Db): number | null {
  try {
    const { bavail, bsize } = statfsSync(dirname(file))
    return bavail * bsize
  } catch {
    return null
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** The auto-vacuum mode in which a file can shrink in small steps. */
const INCREMENTAL = 2
/** The number of 4 kB pages per step. Moving these pages takes a few milliseconds. */
const PAGES_A_STEP = 100
/**
 * The minimum number of free pages to keep for new data. `SPARE` is the minimum share of free pages in the file.
 * Without free pages, the file would keep shrinking and growing.
 */
const LEAST_SPARE = 1_000
const SPARE = 0.05

/**
 * Returns a few free pages to the file system. Returns whether more pages can be returned. Files created by older
 * versions keep their size and reuse their free pages.
 */
export function giveBackSpace(db: Db): boolean {
  if (!canShrink(db)) return false
  const pages = Number(db.pragma('page_count'))
  const excess = Number(db.pragma('freelist_count')) - Math.max(LEAST_SPARE, Math.round(pages * SPARE))
  if (excess <= 0) return false
  db.execute(`PRAGMA incremental_vacuum(${Math.min(excess, PAGES_A_STEP)})`)
  return excess > PAGES_A_STEP
}

/** Returns whether the file can shrink without being rewritten. */
export function canShrink(db: Db): boolean {
  return Number(db.pragma('auto_vacuum')) === INCREMENTAL
}

/**
 * Rewrites a file created by an older version once, so that the file can shrink from then on. No other process may use
 * the file during the rewrite.
 * @returns null, or the reason and remedy if the file was not rewritten and keeps its size
 */
export function letShrink(db: Db): string | null {
  if (canShrink(db)) return null
  // VACUUM writes all pages twice: to a temporary copy, and to the write-ahead log.
  const wanted = 2 * statSync(db.file).size
  const free = findFreeDisk(db)
  if (free !== null && free < wanted) {
    return `${db.file} cannot shrink when events are pruned: free ${megabytes(wanted)} of space on its disk and run incmon migrate`
  }
  try {
    db.pragma(`auto_vacuum = ${INCREMENTAL}`)
    db.execute('VACUUM')
    db.checkpoint('TRUNCATE')
    return null
  } catch (error) {
    return `${db.file} cannot shrink when events are pruned (${errorCode(error)}): free space on its disk and in the temporary directory, then run incmon migrate`
  }
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}
