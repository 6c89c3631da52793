/** The size of the proofs: full, or short for every commit. */

import { readFileSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Returns the size to use: for `npm run test:faults`, the same with `--short`, or `npm test`. */
export function sized(whole: number, short: number, alone = whole): number {
  if (process.env.FAULTS === undefined) return alone
  return process.env.FAULTS === 'short' ? short : whole
}

const AUTOGROUP = '/proc/self/autogroup'
/** The priority, if this is run as root. Other users are not allowed to raise it and continue without. */
const HIGH = -15

/**
 * Gives this process and its children priority over others. Linux might schedule by session, where a priority only
 * applies within its session, so the session's priority is raised as well.
 * @returns a function that restores both
 */
export function takePriority(): () => void {
  try {
    const [, before = '0'] = /nice (-?\d+)/.exec(readFileSync(AUTOGROUP, 'utf8')) ?? []
    setPriority(HIGH)
    writeFileSync(AUTOGROUP, String(HIGH))
    return () => {
      writeFileSync(AUTOGROUP, before)
      setPriority(0)
    }
  } catch {
    return () => {}
  }
}
