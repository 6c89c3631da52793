/** Whether a file that was copied or given to us is sound: its pages, its tables and its references. */
import { openSqlite, StoreError } from './driver.ts'
import { errorCode } from './fault.ts'

/** @throws StoreError where a copy of the database is not sound */
export function requireSound(copy: string, database: string): void {
  const fault = faultIn(copy)
  if (fault) throw new StoreError(`${database} is damaged (${fault}), so no backup was written: restore an older one`)
}

/** Looks at every page, row and index; null where all is well. It ends as one file, without a log beside it. */
export function faultIn(copy: string): string | null {
  const sqlite = openSqlite(copy)
  try {
    sqlite.pragma('journal_mode = DELETE')
    const found = String(sqlite.pragma('integrity_check(1)', { simple: true }))
    return found === 'ok' ? null : found
  } catch (error) {
    const code = errorCode(error)
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return code
    throw error
  } finally {
    sqlite.close()
  }
}
