/**
 * The sizes of the database and its disk, and the return of free pages to the file system and of cached ones to memory.
 */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
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

/** Frees the pages in memory that no statement uses. SQLite reads them again when it needs them. */
export function freeCache(db: Db): void {
  db.pragma('shrink_memory')
}

/** In kB. */
const SMALL_CACHE = 1_000

/**
 * Limits the cache while much is read or written that is not needed again: memory that a cache frees later stays with the
 * process. Returns a function that ends the limit.
 */
export function limitCache(db: Db): () => void {
  const usual = db.pragma('cache_size')
  db.pragma(`cache_size = -${SMALL_CACHE}`)
  return () => void db.pragma(`cache_size = ${usual}`)
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
 * Returns a few free pages to the file system. Returns whether more pages can be returned. A file that another program
 * created in another mode keeps its size and reuses its free pages.
 */
export function giveBackSpace(db: Db): boolean {
  if (Number(db.pragma('auto_vacuum')) !== INCREMENTAL) return false
  const pages = Number(db.pragma('page_count'))
  const excess = Number(db.pragma('freelist_count')) - Math.max(LEAST_SPARE, Math.round(pages * SPARE))
  if (excess <= 0) return false
  db.execute(`PRAGMA incremental_vacuum(${Math.min(excess, PAGES_A_STEP)})`)
  return excess > PAGES_A_STEP
}
