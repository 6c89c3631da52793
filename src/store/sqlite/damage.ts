/** Checks the pages of an open database for damage. */
import type { Db } from './open.ts'

/** Reads every page. Takes seconds for a gigabyte. Returns the first fault, or null. */
export function findDamage(db: Db): string | null {
  const found = String(db.pragma('quick_check(1)'))
  return found === 'ok' ? null : found
}
