/** Damage of the database file: noticed by any query that meets it, and looked for once a day. */
import { RESTORE } from '../domain/doctor/content.ts'
import { errorCode } from '../store/sqlite/fault.ts'

/** The first look comes after the start, in milliseconds. */
const FIRST = 60_000
const EVERY = 24 * 3_600_000

export type Damage = {
  /** Takes an error that a query threw. Other errors than those of a damaged file are ignored. */
  readonly note: (error: unknown) => void
  /** What is wrong and what to do, until the server ends; null if nothing is known. */
  readonly detail: () => string | null
  readonly stop: () => void
}

/**
 * @param find looks at every page, in a thread of its own; resolves with the first fault, or null
 * @param found is told once
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
