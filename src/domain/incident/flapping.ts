/** An incident whose problem comes back again and again. */
import { MINUTE } from '../units.ts'
import type { Problem } from './problem.ts'

/** A flapping incident gets one digest in this time, until it has been stable for `COMES_BACK_WITHIN`. */
const FLAPPING_DIGEST = 15 * MINUTE

/** Returns when the next digest of a flapping incident is sent; null if the incident does not flap. */
export function digestAtOf({ flapsSince }: Problem, now: number): number | null {
  if (flapsSince === null) return null
  return flapsSince + FLAPPING_DIGEST * Math.max(1, Math.ceil((now - flapsSince) / FLAPPING_DIGEST))
}
