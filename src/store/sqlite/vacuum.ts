/** Returns free pages to the disk, a few at a time. */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from './fault.ts'
import type { Db } from './open.ts'

/** SQLite's mode for files that can shrink in small steps. */
const INCREMENTAL = 2
/** Pages of 4 kB per step. Moving them takes a few milliseconds. */
const PAGES_A_STEP = 100
/**
 * The minimum number of free pages, or their share of the file, that stays for new data. Otherwise the file would
 * shrink and grow all the time.
 */
const LEAST_SPARE = 1_000
const SPARE = 0.05

/**
 * Gives a few free pages back to the disk. Returns whether there are more. A file of an older program keeps its size
 * and reuses its free pages.
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
 * Rewrites a file of an older program once, so that it can shrink from now on. No other process may use the file during
 * that time.
 * @returns null, or why the file was not rewritten, with a remedy. In that case the file keeps its size.
 */
export function letShrink(db: Db): string | null {
  if (canShrink(db)) return null
  // The copy is written next to the file, and once more through its log.
  const { bavail, bsize } = statfsSync(dirname(db.file))
  const wanted = 2 * statSync(db.file).size
  if (bavail * bsize < wanted) {
    return `${db.file} cannot shrink when events are pruned: free ${megabytes(wanted)} of disk space next to it and run incmon migrate`
  }
  try {
    db.pragma(`auto_vacuum = ${INCREMENTAL}`)
    db.execute('VACUUM')
    db.checkpoint('TRUNCATE')
    return null
  } catch (error) {
    return `${db.file} cannot shrink when events are pruned (${errorCode(error)}): free disk space next to it and in the temporary directory, then run incmon migrate`
  }
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}
