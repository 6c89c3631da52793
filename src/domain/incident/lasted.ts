/** When the problem of an incident ended, and for how long it was on. Messages, pages and the API use only this file. */
import { SEVERITIES, type Severity, worst } from '../severity.ts'
import { formatLasted } from '../shown-time.ts'
import { formatUtcClock, secondsBetween } from '../text.ts'
import { SECOND } from '../units.ts'
import type { LiveIncident } from './live-incident.ts'
import { criticalMsOf, mutedMsOf, type Problem, phaseOf, settledAtOf, withoutDeclared } from './problem.ts'
import { begunAtOf } from './problem-end.ts'

/**
 * Returns when the problem ended, or null while it is on. A resolution does not end what still fires. Times are Unix
 * times in milliseconds.
 */
export function endOf(
  { problem, resolvedAt }: { readonly problem: Problem; readonly resolvedAt: number | null },
  now: number,
): number | null {
  return phaseOf(problem, now) === 'on' ? null : (problem.endedAt ?? resolvedAt)
}

/** Returns what is known about a problem, as pages say it: it `goes on`, or `is over`. */
export function stateOf(problem: Problem, now: number): string {
  const phase = phaseOf(problem, now)
  const [endedAt, settledAt] = [problem.endedAt ?? now, settledAtOf(problem) ?? now].map(formatUtcClock)
  if (phase === 'settling')
    return `will count as over at ${settledAt} UTC, because nothing critical has fired since ${endedAt} UTC`
  return { on: 'goes on', muted: 'goes on under a silence', off: 'is over' }[phase]
}

/** Returns for how long a problem was on, as the API and webhooks say it. */
export function figuresOf(incident: Lasting, now: number) {
  const { problem } = incident
  const phase = phaseOf(problem, now)
  return {
    problemState: phase === 'muted' ? ('silenced' as const) : phase,
    criticalSeconds: onMsOf(problem, now) / SECOND,
    silencedSeconds: silencedMsOf(incident, now) / SECOND,
    isEndInferred: problem.isGuess,
  }
}

/** Returns for how long a problem was on, in whole seconds as ms: the difference of the times that people see. */
export function onMsOf(problem: Problem, now: number): number {
  const end = problem.since === null ? (problem.endedAt ?? now) : now
  return secondsBetween(end - criticalMsOf(problem, now), end) * SECOND
}

type Lasting = Pick<LiveIncident, 'startedAt' | 'problem'>

/** Returns for how long silences covered a problem, in whole seconds as ms: the rest, if nothing else interrupted it. */
export function silencedMsOf({ startedAt, problem }: Lasting, now: number): number {
  const { since, mutedSince, endedAt } = problem
  const end = since === null && mutedSince === null ? (endedAt ?? now) : now
  const rest = secondsBetween(startedAt, end) * SECOND - onMsOf(problem, now)
  const ms = mutedMsOf(problem, now)
  return ms >= SECOND && Math.abs(rest - ms) < 2 * SECOND ? rest : Math.round(ms / SECOND) * SECOND
}

export const BREAKS = ', with breaks'

/** Returns `, with breaks` if the problem ended and came back; otherwise ''. */
export function breaksText({ since, ended, criticalMs }: Problem): string {
  if (ended === null) return ''
  const isBack = since === null ? criticalMs > ended.to - ended.from : since > ended.to
  return isBack ? BREAKS : ''
}

/** Returns `, not counting 20 min under a silence`; '' if silences covered the problem for less than a second. */
export function silencedText(mutedMs: number): string {
  return mutedMs < SECOND ? '' : `, not counting ${formatLasted(mutedMs)} under a silence`
}

/**
 * `ms`: how long the problem was on with other severities until then. `earlier`: how long it was on with each severity in
 * periods that are over. In milliseconds.
 */
export type Raised = {
  readonly at: number
  readonly ms: number
  readonly earlier?: Readonly<Partial<Record<Severity, number>>> | undefined
}

/** An incident with the severity that a user chose, or else critical. */
export type Rated = Pick<LiveIncident, 'origin' | 'severity' | 'problem'>

/**
 * Returns how severe an incident is. One that a user declared is critical while a critical condition fires. One that
 * opened automatically has the severity that a user gave to these conditions or, if only what was merged into it goes on,
 * the severity with which that was declared.
 */
export function severityNow({ origin, severity, problem: { firing, declared } }: Rated): Severity {
  const fires = firing.some((name) => declared.every((one) => one.name !== name))
  if (origin === 'manual') return fires ? 'critical' : severity
  const [first, ...others] = fires ? [] : declared.map((one) => one.severity ?? severity)
  return first ? others.reduce(worst, first) : severity
}

/** Returns the worst severity that an incident has had while its problem was on. */
export function worstSeverity(incident: Rated): Severity {
  const { earlier = {} } = incident.problem.raised ?? {}
  const had = SEVERITIES.filter((severity) => (earlier[severity] ?? 0) >= SECOND)
  return had.reduce(worst, severityNow(incident))
}

/** Returns whether a user lowered the severity of what goes on. Nothing has ended then. */
export function isLowered(incident: Rated): boolean {
  const { origin, problem } = incident
  const isOwn = origin === 'automatic' && problem.declared.length === 0
  return isOwn && severityNow(incident) !== worstSeverity(incident)
}

/**
 * Returns how severe an incident is and for how long it has been, in milliseconds: the sum of all such periods. Once the
 * problem is over, its worst severity counts. `mutedMs`: how long silences covered it.
 */
export function severeOf(incident: Rated & Lasting, until: number) {
  const { problem } = incident
  const now = severityNow(incident)
  const severity = problem.since === null ? worstSeverity(incident) : now
  const { at = 0, ms: others = 0, earlier = {} } = problem.raised ?? {}
  const whole = onMsOf(problem, until)
  // A change of the severity after an end that was reported late says nothing about the time after this end.
  const after = problem.since === null && at > 0 ? Math.max(0, at - (problem.endedAt ?? at)) : 0
  const ms = severity === now ? whole - Math.max(0, others - after) : Math.min(whole, (earlier[severity] ?? 0) - after)
  return { severity, ms: Math.max(0, ms), mutedMs: silencedMsOf(incident, until) }
}

/** Returns the problem of an incident whose severity changed at `at`. */
export function regraded(before: Rated, after: Rated, at: number): Problem {
  const { problem } = after
  const [from, to] = [severityNow(before), severityNow(after)]
  // For a problem that is over, another severity is a correction.
  if (problem.since === null) return from === to ? problem : { ...problem, raised: null }
  if (from === to) return problem
  const known = problem.raised
  const changedAt = Math.max(at, known?.at ?? problem.since)
  const ms = criticalMsOf(problem, changedAt)
  const earlier = { ...known?.earlier, [from]: ms - (known?.ms ?? 0) }
  return { ...problem, raised: ms < SECOND ? null : { at: changedAt, ms: ms - (earlier[to] ?? 0), earlier } }
}

/** Returns a problem whose declared parts are as severe as a user rates the whole incident from now on. */
export function withRating(problem: Problem): Problem {
  return { ...problem, declared: problem.declared.map(({ severity: _, ...one }) => one) }
}

/** Returns the problem without what people declared, which a decision of a person ends. */
export function undeclared(incident: Rated, now: number): Problem {
  return regraded(incident, { ...incident, problem: withoutDeclared(incident.problem) }, now)
}

/** Returns when the problem last began. An end that was wrong is no gap. Times are Unix times in milliseconds. */
export function lastBegunAt({ startedAt, problem }: Pick<LiveIncident, 'startedAt' | 'problem'>): number {
  const { since, criticalMs } = problem
  return since === null || since === startedAt + criticalMs ? startedAt : (begunAtOf(problem) ?? since)
}

/** Returns the problem of a manual incident that begins when a user says: earlier or later than before. */
export function begunAt(incident: LiveIncident, startedAt: number): Problem {
  const { problem, origin } = incident
  const isFirst = origin === 'manual' && problem.since !== null && problem.criticalMs === 0
  if (!isFirst || startedAt === incident.startedAt) return problem
  const { raised, since } = problem
  const moved = raised && { ...raised, ms: Math.max(0, raised.ms + (since ?? startedAt) - startedAt) }
  return { ...problem, since: startedAt, raised: moved }
}

/** Returns the problem of an incident whose first condition goes on and began before all that was known. */
export function begunEarlier(
  { startedAt, problem }: Lasting,
  first: { readonly since: number; readonly begunAt: number },
): Problem {
  const { since, ended, criticalMs } = problem
  if (since === startedAt) return { ...problem, since: first.since }
  if (first.begunAt > startedAt) return problem
  const from = ended?.from === startedAt ? { ended: { ...ended, from: first.since } } : {}
  return { ...problem, ...from, criticalMs: criticalMs + startedAt - first.since }
}
