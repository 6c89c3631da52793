/** Loads the identities of active alerts into memory after a start, so that the first webhook need not wait. */
import { inspect } from 'node:util'
import { readNamesAhead } from '../store/active-fingerprints.ts'
import { isHeld } from '../store/sqlite/fault.ts'
import type { Db } from '../store/sqlite/open.ts'
import type { Log } from './log.ts'

/** Loading this many alerts takes about ten milliseconds. */
const STEP = 2_000
/** Delay in milliseconds while another process holds the database lock. */
const AGAIN = 1_000

/** Starts loading. A webhook that arrives earlier, or after a failed step, loads the rest at once. */
export function startReadingAhead(db: Db, log: Log, step = STEP): () => void {
  const read = () => {
    try {
      if (db.transaction(() => readNamesAhead(db, step))) timer = setTimeout(read, 1)
    } catch (error) {
      if (isHeld(error)) timer = setTimeout(read, AGAIN)
      else log.warn({ cause: inspect(error) }, 'the active alerts could not be loaded in advance')
    }
  }
  let timer = setTimeout(read, 1)
  return () => clearTimeout(timer)
}
