/** When the problem of an incident ended. Pages and the API use only this function. */
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
