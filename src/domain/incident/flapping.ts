/** An incident whose problem comes back again and again. */
import { HOUR, MINUTE } from '../units.ts'
import { alarmed, type Problem } from './problem.ts'

/** A flapping incident is one that came back this many times within an hour. */
const FLAPS = 3
/** A flapping incident gets one digest in this time, until it has been stable for `COMES_BACK_WITHIN`. */
const FLAPPING_DIGEST = 15 * MINUTE

/** Records that the problem came back at `now`. Starts to flap with the third return within an hour. */
export function returned(problem: Problem, now: number): Problem {
  const returns = [...problem.returns.filter((at) => now - at < HOUR && at <= now), now]
  const flaps = problem.flapsSince ?? (returns.length >= FLAPS ? now : null)
  return { ...alarmed(problem, now), returns, flapsSince: flaps }
}

/** Returns when the next digest of a flapping incident is sent; null if the incident does not flap. */
export function digestAtOf({ flapsSince }: Problem, now: number): number | null {
  if (flapsSince === null) return null
  return flapsSince + FLAPPING_DIGEST * Math.max(1, Math.ceil((now - flapsSince) / FLAPPING_DIGEST))
}
