/** Reading ahead: after a start the names of all active alerts, in small steps, so that the first delivery need not wait for them. */
import { inspect } from 'node:util'
import { readNamesAhead } from '../store/active-fingerprints.ts'
import { isHeld } from '../store/sqlite/fault.ts'
import type { Db } from '../store/sqlite/open.ts'
import type { Log } from './log.ts'

/** Alerts whose names are read in some ten milliseconds. */
const STEP = 2_000
/** While another process holds the store, in milliseconds. */
const AGAIN = 1_000

/** A delivery that comes sooner reads the rest at once, and so does the next one where a step fails. */
export function startReadingAhead(db: Db, log: Log, step = STEP): () => void {
  const read = () => {
    try {
      if (db.transaction(() => readNamesAhead(db, step))) timer = setTimeout(read, 1)
    } catch (error) {
      if (isHeld(error)) timer = setTimeout(read, AGAIN)
      else log.warn({ cause: inspect(error) }, 'the names of the active alerts were not read ahead')
    }
  }
  let timer = setTimeout(read, 1)
  return () => clearTimeout(timer)
}
