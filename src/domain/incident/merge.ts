/** Merges two incidents: the remaining incident takes over all records, and the other incident is resolved. */

import { type Severity, worst } from '../severity.ts'
import { quoted, serviceName } from '../text.ts'
import { SECOND } from '../units.ts'
import { regraded, severityNow } from './lasted.ts'
import type { LiveIncident } from './live-incident.ts'
import { criticalMsOf, unmuted } from './problem.ts'

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

type Named = { readonly namespace: string; readonly name: string }

/** Returns the name of a condition in an incident of another service, with the namespace if both services have one name. */
export function conditionOf(name: string, service: Named, { name: own }: Named): string {
  return `${name} of ${service.name === own ? serviceName(service) : service.name}`
}

/** Returns whether a condition is one that `conditionOf` names after a service. */
export function isConditionOf(condition: string, service: Named): boolean {
  return [service.name, serviceName(service)].some((name) => condition.endsWith(` of ${name}`))
}

/** Returns whether a condition is one that `conditionOf` names after any service, because of a condition or an alert. */
export function isPartOf(condition: string, name: string): boolean {
  return condition.startsWith(`${name} of `)
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
  // What goes on in the other incident is no news of a silence that covers this one.
  const [a, b] = [from.problem, from.problem.since === null ? into.problem : unmuted(into.problem, now)]
  const others = [from.serviceId, ...a.others, ...b.others].filter((rowId) => rowId !== into.serviceId)
  const nameOf = (name: string) => (from.serviceId === into.serviceId ? name : nameIn(name))
  const own =
    from.origin === 'manual' && a.since !== null
      ? [{ name: nameOf(`“${from.title}”`), since: a.since, onset: a.since, severity: from.severity }]
      : []
  const taken = [...a.declared, ...own]
  const declared = [...b.declared, ...taken]
  const had = [...b.had, ...a.had.map(nameOf), ...declared.map(({ name }) => name)]
  const hadDeclared = [...b.hadDeclared, ...a.hadDeclared, ...own.map(({ name }) => name)]
  // The time until the last end of the remaining incident has been counted.
  const begun = a.since === null ? [] : [Math.max(a.since, b.endedAt ?? 0)]
  const since = b.since === null && begun.length === 0 ? null : Math.min(...begun, b.since ?? Number.POSITIVE_INFINITY)
  const isOver = since === null && b.isOver
  const firing = [...b.firing, ...(a.since === null ? [] : a.firing.map(nameOf)), ...taken.map(({ name }) => name)]
  const merged = [...b.merged, ...a.merged, ...(a.since !== null || a.isMuted ? [from.rowId] : [])]
  const known = { declared, hadDeclared, merged, others: [...new Set(others)], had: [...new Set(had)] }
  const problem = { ...b, ...known, since, isOver, firing: [...new Set(firing)].sort() }
  const severity = ratedAs(from, into)
  const whole = { ...into, severity, problem }
  const rated = severityNow(whole)
  const asSevere = [from, into].filter((one) => severityNow(one) === rated)
  const at = Math.min(...asSevere.map((one) => one.problem.raised?.at ?? one.startedAt))
  if (severityNow(into) !== rated) return { severity, problem: regraded(into, whole, at) }
  const ms = b.raised === null ? Math.max(0, at - (since ?? at)) : criticalMsOf(problem, at)
  return { severity, problem: { ...problem, raised: ms < SECOND ? null : { ...b.raised, at, ms } } }
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
