/** Merges two incidents: the remaining incident takes over all records, and the other incident is resolved. */

import { distinct } from '../order.ts'
import { type Severity, worst } from '../severity.ts'
import { quoted } from '../text.ts'
import { regraded } from './lasted.ts'
import type { LiveIncident } from './live-incident.ts'
import { criticalOf, DECLARED, joined, type Period } from './periods.ts'
import type { Problem } from './problem.ts'

/** The incident fields needed for a merge. Times are Unix times in milliseconds. */
export type Mergeable = Pick<LiveIncident, 'id' | 'title' | 'status' | 'startedAt' | 'cause'>

/** The new values for the remaining incident, and a timeline entry for each incident. */
type Merge = {
  readonly startedAt: number
  /** The timeline entry for the remaining incident. */
  readonly took: string
  /** The timeline entry for the resolved incident. */
  readonly why: string
}

/** Timeline entries about the incident itself. A merge does not move these entries. */
export const OWN_ENTRIES = ['opened', 'edited', 'status', 'reopened'] as const

/** Returns why two incidents cannot be merged and what to do instead, or null if a merge is possible. */
export function refuseMerge(from: Mergeable, into: Mergeable): string | null {
  if (from.id === into.id) return 'an incident cannot be merged into itself: choose two different incidents'
  if (into.status === 'resolved')
    return `incident ${into.id} is resolved: reopen it first, or merge in the other direction`
  // Only the sender's next report ends such a problem.
  const silent = [from, into].find(({ cause, status }) => cause === 'silence' && status !== 'resolved')
  if (silent)
    return `incident ${silent.id} is about a silent sender: it is resolved as soon as the sender reports again`
  return null
}

/** Returns the problem of an incident whose conditions have got other names. */
export function renamedProblem(problem: Problem, nameOf: (name: string) => string): Problem {
  const named = (names: readonly string[]) => [...new Set(names.map(nameOf))]
  const renamed = <One extends { readonly name: string }>(all: readonly One[]) =>
    all.map((one) => ({ ...one, name: nameOf(one.name) }))
  const { periods, silenced, firing, had, hadDeclared, declared } = problem
  return {
    ...problem,
    ...joined({ periods: renamed(periods), silenced: renamed(silenced) }, { periods: [], silenced: [] }),
    ...{ firing: named(firing), had: named(had), hadDeclared: named(hadDeclared), declared: renamed(declared) },
  }
}

/**
 * Returns the severity and the problem of the remaining incident: it has the conditions of both, and what is on in one of
 * them goes on, as severe as it was.
 * @param nameIn returns the name of a condition of `from` in the remaining incident
 */
export function mergedProblem(
  from: LiveIncident,
  into: LiveIncident,
  nameIn: (name: string) => string,
  now: number,
): Pick<LiveIncident, 'severity' | 'problem'> {
  const [a, b] = [from.problem, into.problem]
  const others = [from.serviceId, ...a.others, ...b.others].filter((rowId) => rowId !== into.serviceId)
  const named = (name: string) => (from.serviceId === into.serviceId ? name : nameIn(name))
  const nameOf = (name: string) => (a.hadDeclared.includes(name) ? name : named(name))
  const declaredAs = named(`“${from.title}”`)
  const renamed = (one: Period): Period =>
    one.name === DECLARED ? { ...one, name: declaredAs, severity: from.severity } : { ...one, name: nameOf(one.name) }
  const periods = from.cause === 'silence' ? [] : a.periods.map(renamed)
  const times = joined(b, { periods, silenced: a.silenced.map(renamed) })
  const goesOn = a.since !== null
  const own =
    from.origin === 'manual' && a.since !== null
      ? [{ name: declaredAs, since: a.since, onset: a.since, severity: from.severity }]
      : []
  const taken = [...a.declared, ...own]
  const declared = [...b.declared, ...taken]
  const had = [...b.had, ...a.had.map(nameOf), ...declared.map(({ name }) => name)]
  const hadDeclared = [...b.hadDeclared, ...a.hadDeclared, ...(from.origin === 'manual' ? [declaredAs] : [])]
  const since = goesOn || b.since !== null ? (criticalOf(times).at(-1)?.from ?? now) : null
  const isOver = since === null && b.isOver
  const firing = [...b.firing, ...(goesOn ? a.firing.map(nameOf) : []), ...taken.map(({ name }) => name)]
  const merged = [...b.merged, ...a.merged, ...(goesOn || a.isMuted ? [from.rowId] : [])]
  const known = { declared, hadDeclared, merged, others: [...new Set(others)], had: [...new Set(had)] }
  // What goes on in the other incident is no news of a silence that covers this one.
  const isMuted = b.isMuted && !goesOn
  const problem = { ...b, ...times, ...known, since, isOver, isMuted, firing: distinct(firing) }
  const severity = ratedAs(from, into)
  // The rest is as severe since the other incident began.
  return { severity, problem: regraded(into, { ...into, severity, problem }, from.startedAt) }
}

/**
 * Returns the severity of the remaining incident: of its alerts, or of what was declared if a user declared it. The rest
 * has a severity of its own.
 */
function ratedAs(from: LiveIncident, into: LiveIncident): Severity {
  if (into.origin === 'manual') {
    const declared = from.problem.declared.map((one) => one.severity ?? from.severity)
    return [...declared, ...(from.origin === 'manual' ? [from.severity] : [])].reduce(worst, into.severity)
  }
  return from.origin === 'automatic' ? worst(from.severity, into.severity) : into.severity
}

/** Returns the values for the remaining incident: the earlier start, and what the timelines say. */
export function mergeOf(from: Mergeable, into: Mergeable): Merge {
  return {
    startedAt: Math.min(from.startedAt, into.startedAt),
    took: `merged into this incident: ${quoted(from.title)}`,
    why: `merged into ${quoted(into.title)}`,
  }
}
