/** The size of the proofs: whole, or short for every commit. */

import { readFileSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Returns the size for `npm run test:faults`, for that with `--short`, or for `npm test`. */
export function sized(whole: number, short: number, alone = whole): number {
  if (process.env.FAULTS === undefined) return alone
  return process.env.FAULTS === 'short' ? short : whole
}

const AUTOGROUP = '/proc/self/autogroup'
/** As the highest for root. Others may not raise their priority, and go on without. */
const HIGH = -15

/**
 * Gives this process, and those that it starts, the processor before others. Linux may schedule by sessions, in which a
 * priority only counts among its own processes, so that of the session is raised too.
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
