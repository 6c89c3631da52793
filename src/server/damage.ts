/** Detects damage of the database file: in the errors of queries, and by a daily check. */
import { RESTORE } from '../domain/doctor/content.ts'
import { errorCode } from '../store/sqlite/fault.ts'

/** Time from the start to the first check, in milliseconds. */
const FIRST = 60_000
const EVERY = 24 * 3_600_000

export type Damage = {
  /** Receives the error of a query. Ignores errors that are not about damage. */
  readonly note: (error: unknown) => void
  /** Returns what is wrong and what to do, or null if no damage is known. */
  readonly detail: () => string | null
  readonly stop: () => void
}

/**
 * @param find checks every page in a worker thread; resolves with the first fault, or null
 * @param found called once, with the damage
 */
export function watchDamage(
  find: () => Promise<string | null>,
  found: (detail: string) => void,
  { first = FIRST, every = EVERY } = {},
): Damage {
  let known: string | null = null
  const remember = (why: string) => {
    if (known !== null) return
    known = `the database is damaged (${why}): ${RESTORE}; "incmon doctor --full" names the table`
    found(known)
  }
  const note = (error: unknown) => {
    if (isDamage(error)) remember(errorCode(error))
  }
  const look = () => {
    find().then((fault) => (fault === null ? undefined : remember(fault)), note)
  }
  const timers = [setTimeout(look, first).unref(), setInterval(look, every).unref()]
  return { note, detail: () => known, stop: () => timers.forEach(clearTimeout) }
}

function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(errorCode(error))
}
