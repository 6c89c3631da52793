/** Space: pages that hold nothing any more are given back to the disk, a few at a time. */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from './fault.ts'
import type { Db } from './open.ts'

/** SQLite's word for files that can shrink a little at a time. */
const INCREMENTAL = 2
/** So many pages of 4 kB are given back at a time: moving them takes a few milliseconds. */
const PAGES_A_STEP = 100
/** So many free pages, or this part of the file, stay for what comes next: a file that shrinks and grows by turns is busy for nothing. */
const LEAST_SPARE = 1_000
const SPARE = 0.05

/** Gives a few free pages back; whether there are more. A file of an older program keeps its size, and fills its free pages again. */
export function giveBackSpace(db: Db): boolean {
  if (!canShrink(db)) return false
  const pages = Number(db.pragma('page_count'))
  const excess = Number(db.pragma('freelist_count')) - Math.max(LEAST_SPARE, Math.round(pages * SPARE))
  if (excess <= 0) return false
  db.execute(`PRAGMA incremental_vacuum(${Math.min(excess, PAGES_A_STEP)})`)
  return excess > PAGES_A_STEP
}

/** Whether free pages can be given back without writing the whole file anew. */
export function canShrink(db: Db): boolean {
  return Number(db.pragma('auto_vacuum')) === INCREMENTAL
}

/**
 * Writes a file that was made by an older program anew, once, so that it can shrink from now on. Only while nobody else
 * uses it, since everybody would wait.
 * @returns null, or why it was left as it is, with the remedy: it works as before and keeps its size
 */
export function letShrink(db: Db): string | null {
  if (canShrink(db)) return null
  // The new copy is written beside the file and once more through its log.
  const { bavail, bsize } = statfsSync(dirname(db.file))
  const wanted = 2 * statSync(db.file).size
  if (bavail * bsize < wanted) {
    return `${db.file} keeps its size when events are pruned: make ${megabytes(wanted)} of room beside it and run incmon migrate`
  }
  try {
    db.pragma(`auto_vacuum = ${INCREMENTAL}`)
    db.execute('VACUUM')
    db.checkpoint('TRUNCATE')
    return null
  } catch (error) {
    return `${db.file} keeps its size when events are pruned (${errorCode(error)}): make room beside it and in the temporary directory, and run incmon migrate`
  }
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}
