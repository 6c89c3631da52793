/** Checks a copy of a database: its pages, tables and references. */
import { openSqlite } from './driver.ts'
import { errorCode, isDamage, StoreError } from './fault.ts'
import type { Db } from './open.ts'
import { limitCache } from './space.ts'

/** Throws StoreError if the copy is damaged. `database`: the original file, which is probably damaged too. */
export function requireSound(copy: string, database: string): void {
  const fault = faultIn(copy)
  if (fault)
    throw new StoreError(`${database} is damaged (${fault}), so no backup was written: restore an older backup`)
}

/** Checks every page, row and index. Returns null if the file is sound. Leaves no log behind. */
export function faultIn(copy: string): string | null {
  const sqlite = openSqlite(copy)
  try {
    sqlite.pragma('journal_mode = DELETE')
    const found = String(sqlite.pragma('integrity_check(1)', { simple: true }))
    return found === 'ok' ? null : found
  } catch (error) {
    if (isDamage(error)) return errorCode(error)
    throw error
  } finally {
    sqlite.close()
  }
}

/** A row from `PRAGMA foreign_key_check`. */
export type BrokenReference = { readonly table: string; readonly rowid: number | null; readonly parent: string }

/** Returns text such as `row 7 of alerts refers to a row of services that does not exist`. */
export function describeReference({ table, rowid, parent }: BrokenReference): string {
  const row = rowid === null ? 'a row' : `row ${rowid}`
  return `${row} of ${table} refers to a row of ${parent} that does not exist`
}

/** Checks every page, which takes seconds per gigabyte. Returns the first problem found, or null. */
export function findDamage(db: Db): string | null {
  // The check reads every page once.
  const unlimit = limitCache(db)
  try {
    const found = String(db.pragma('quick_check(1)'))
    return found === 'ok' ? null : found
  } finally {
    unlimit()
  }
}
