/** When the problem of an incident ended, and for how long it was on. Messages, pages and the API use only this file. */
import { formatDuration } from '../shown-time.ts'
import { type Problem, problemAt } from './problem.ts'

/**
 * Returns when the problem ended, or null while it is on. A resolution does not end what still fires. Times are Unix
 * times in milliseconds.
 */
export function endOf(
  { problem, resolvedAt }: { readonly problem: Problem; readonly resolvedAt: number | null },
  now: number,
): number | null {
  return problemAt(problem, now) === 'on' ? null : (problem.endedAt ?? resolvedAt)
}

/** Returns `, not counting 20 min under a silence`; '' if silences covered the problem for less than a second. */
export function silencedText(mutedMs: number): string {
  return mutedMs < 1000 ? '' : `, not counting ${formatDuration(mutedMs)} under a silence`
}
