/** When the problem of an incident ended, and for how long it was on. Messages, pages and the API use only this file. */
import type { Severity } from '../severity.ts'
import { formatDuration } from '../shown-time.ts'
import { SECOND } from '../units.ts'
import { criticalMsOf, type Problem, problemAt } from './problem.ts'

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

/** Returns for how long the problem has been on with the severity that the incident has now, in milliseconds. */
export function severeMsOf(problem: Problem, until: number): number {
  return Math.max(0, criticalMsOf(problem, until) - (problem.raised?.ms ?? 0))
}

/** Returns the problem of an incident that got its severity at `at`; null if it has had the severity from the start. */
export function raisedAt(problem: Problem, at: number | null): Problem {
  const ms = at === null ? 0 : criticalMsOf(problem, at)
  return { ...problem, raised: at === null || ms < SECOND ? null : { at, ms } }
}

type Edited = { readonly startedAt: number; readonly severity: Severity }

/**
 * Returns the problem of an incident whose start or severity a user changes. The problem of a manual incident begins when
 * the incident does. A severity holds from now on, but for a problem that is over it is a correction.
 */
export function editedProblem(
  before: Edited & { readonly origin: 'manual' | 'automatic'; readonly problem: Problem },
  { startedAt, severity }: Edited,
  now: number,
): Problem {
  const { problem, origin } = before
  const isFirst = origin === 'manual' && problem.since !== null && problem.criticalMs === 0
  const isMoved = isFirst && startedAt !== before.startedAt
  const moved = isMoved ? raisedAt({ ...problem, since: startedAt }, problem.raised?.at ?? null) : problem
  return severity === before.severity ? moved : raisedAt(moved, moved.since === null ? null : now)
}
