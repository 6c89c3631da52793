/** How long a problem was critical and silenced, in milliseconds. */
import { criticalOf, type Times } from '../../src/domain/incident/periods.ts'

/** Returns the sum of the intervals in which the problem was on, in milliseconds. */
export function criticalMsOf(problem: Times, until: number): number {
  return criticalOf(problem).reduce((ms, { from, to }) => ms + (to ?? Math.max(from, until)) - from, 0)
}

/** Returns for how long silences have covered a problem that went on, in milliseconds. */
export function mutedMsOf({ periods, silenced }: Times, until: number): number {
  return criticalMsOf({ periods, silenced: [] }, until) - criticalMsOf({ periods, silenced }, until)
}
