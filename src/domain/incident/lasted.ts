/** When the problem of an incident ended, and for how long it was on. Messages, pages and the API use only this file. */
import { type Severity, worst } from '../severity.ts'
import { formatLasted } from '../shown-time.ts'
import { formatUtcClock } from '../text.ts'
import { SECOND } from '../units.ts'
import type { LiveIncident } from './live-incident.ts'
import { criticalOf, DECLARED, type Interval, type Period, union } from './periods.ts'
import { type Problem, phaseOf, settledAtOf } from './problem.ts'

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
  const { onMs, silencedMs } = lengthsOf(incident, now)
  return {
    problemState: phase === 'muted' ? ('silenced' as const) : phase,
    criticalSeconds: onMs / SECOND,
    silencedSeconds: silencedMs / SECOND,
    isEndInferred: problem.isGuess,
  }
}

/** An incident with the severity that a user chose, or else critical. */
export type Rated = Pick<LiveIncident, 'origin' | 'severity' | 'problem'>
type Lasting = Rated & Pick<LiveIncident, 'startedAt'>

/**
 * Returns for how long a problem was on until then, with each severity, and for how long silences covered it. Times are
 * truncated to seconds before, so that the lengths are the differences of the times that people see. In milliseconds.
 */
export function lengthsOf(incident: Lasting, until: number) {
  const parts = partsOf(incident, until)
  const sumOf = (some: typeof parts) => some.reduce((ms, { from, to }) => ms + to - from, 0)
  const { true: silenced = [], false: on = [] } = Object.groupBy(parts, ({ severity }) => `${severity === null}`)
  const bySeverity = Object.groupBy(on, ({ severity }) => severity ?? 'info')
  return {
    onMs: sumOf(on),
    silencedMs: sumOf(silenced),
    msOf: (severity: Severity) => sumOf(bySeverity[severity] ?? []),
    /** The last time in which the severity was the same; null if the problem never was on. */
    last: on.reduce<(typeof on)[number] | null>(
      (first, one) =>
        first && first.severity === one.severity && first.to === one.from ? { ...one, from: first.from } : one,
      null,
    ),
  }
}

/** Returns the parts of the time in which a problem was on, in order. `severity`: null if silences covered all of it. */
function partsOf({ startedAt, problem, ...incident }: Rated & { readonly startedAt?: number }, until: number) {
  const at = (ms: number) => Math.floor(ms / SECOND) * SECOND
  const seen = ({ from, to, ...one }: Period) => ({
    ...one,
    from: Math.max(at(from), at(startedAt ?? from)),
    to: at(to ?? Math.max(from, until)),
  })
  const [periods, silenced] = [problem.periods.map(seen), problem.silenced.map(seen)]
  const { true: declared = [], false: alerting = [] } = Object.groupBy(
    periods,
    ({ name }) => `${isDeclared(problem, name)}`,
  )
  // All alerts are alike here, however many names they have.
  const fire = [...union(alerting).map((one) => ({ ...one, name: ALERT })), ...declared]
  const free = [
    ...criticalOf({ periods: alerting, silenced }).map((one) => ({ ...one, name: ALERT })),
    ...declared.flatMap((one) => criticalOf({ periods: [one], silenced }).map((part) => ({ ...one, ...part }))),
  ]
  const ratings = problem.ratings.map((one) => ({ ...one, until: at(one.until) }))
  const ends = [...fire, ...free].flatMap(({ from, to }) => [from, to ?? from])
  const times = [...new Set([...ends, ...ratings.map((one) => one.until)])].sort((a, b) => a - b)
  return times.slice(1).flatMap((to, index) => {
    const from = times[index] ?? to
    const isOn = (one: Interval) => one.from <= from && from < (one.to ?? from)
    if (!fire.some(isOn)) return []
    const rating = ratings.find((one) => from < one.until)?.severity ?? incident.severity
    const firing = free.filter(isOn)
    const severity = firing.length === 0 ? null : severityOf({ ...incident, severity: rating, problem }, firing)
    return { from, to, severity }
  })
}

/** Stands for whatever alerts fire. */
const ALERT = '…'

function isDeclared({ hadDeclared }: Problem, name: string): boolean {
  return name === DECLARED || hadDeclared.includes(name)
}

/** Returns the severity of an incident while some of its conditions fire. */
function severityOf(
  { origin, severity, problem }: Rated,
  firing: readonly Pick<Period, 'name' | 'severity'>[],
): Severity {
  const fires = firing.some(({ name }) => !isDeclared(problem, name))
  if (fires) return origin === 'manual' ? 'critical' : severity
  const [first = severity, ...others] = firing.map((one) => one.severity ?? severity)
  return others.reduce(worst, first)
}

export const BREAKS = ', with breaks'

/** Returns `, with breaks` if the problem ended and came back; otherwise ''. */
export function breaksText({ problem }: Pick<Rated, 'problem'>): string {
  return criticalOf(problem).filter(({ from, to }) => to !== from).length > 1 ? BREAKS : ''
}

/** Returns `, not counting 20 min under a silence`; '' if silences covered the problem for less than a second. */
export function silencedText(mutedMs: number): string {
  return mutedMs < SECOND ? '' : `, not counting ${formatLasted(mutedMs)} under a silence`
}

/**
 * Returns how severe an incident is. One that a user declared is critical while a critical condition fires. One that
 * opened automatically has the severity that a user gave to these conditions or, if only what was merged into it goes on,
 * the severity with which that was declared.
 */
export function severityNow(incident: Rated): Severity {
  const { firing, declared } = incident.problem
  const named = firing.map((name) => declared.find((one) => one.name === name) ?? { name })
  return severityOf(incident, incident.origin === 'manual' ? [{ name: DECLARED }, ...named] : named)
}

/** Returns the worst severity that an incident has had while its problem was on. */
export function worstSeverity(incident: Rated): Severity {
  const had = partsOf(incident, Number.MAX_SAFE_INTEGER).flatMap(({ severity }) => severity ?? [])
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
 * problem is over, its worst severity counts. `mutedMs`: how long silences covered it. `since`: since when it is.
 */
export function severeOf(incident: Lasting, until: number) {
  const { problem } = incident
  const severity = problem.since === null ? worstSeverity(incident) : severityNow(incident)
  const { msOf, onMs, silencedMs, last } = lengthsOf(incident, until)
  // It may have got this severity in this very second.
  const isRated = problem.since === null || last?.severity === severity
  const since = isRated ? (last?.from ?? incident.startedAt) : until
  return { severity, ms: msOf(severity), onMs, mutedMs: silencedMs, since }
}

/** Returns the problem of an incident whose severity a user changed at `at`. For a problem that is over, it is a correction. */
export function regraded({ severity }: Rated, { severity: to, problem }: Rated, at: number): Problem {
  if (severity === to) return problem
  return { ...problem, ratings: problem.isOver ? [] : [...problem.ratings, { until: at, severity }] }
}

/** Returns a problem whose declared parts are as severe as a user rates the whole incident from now on. */
export function withRating(problem: Problem, now: number): Problem {
  const isRated = ({ severity, to }: Period) => severity !== undefined && to === null
  const periods = problem.periods.flatMap((one): Period[] => {
    if (!isRated(one)) return [one]
    const { severity: _, ...rated } = one
    return [
      { ...one, to: now },
      { ...rated, from: now },
    ]
  })
  return { ...problem, periods, declared: problem.declared.map(({ severity: _, ...one }) => one) }
}

/** Returns when the problem last began. An end that was wrong is no gap. Times are Unix times in milliseconds. */
export function lastBegunAt({ startedAt, problem }: Pick<LiveIncident, 'startedAt' | 'problem'>): number {
  return Math.max(startedAt, problem.since ?? startedAt)
}

/** Returns the problem of a manual incident that begins when a user says: earlier or later than before. */
export function begunAt({ problem, origin, ...incident }: LiveIncident, startedAt: number): Problem {
  const own = problem.periods.filter(({ name }) => name === DECLARED)
  const isFirst = origin === 'manual' && problem.since !== null && own.length === 1
  if (!isFirst || startedAt === incident.startedAt) return problem
  const periods = problem.periods.map((one) => (one.name === DECLARED ? { ...one, from: startedAt } : one))
  return { ...problem, since: startedAt, periods }
}

/** Returns when conditions fired besides what people declared, in order: then an incident is critical, whatever it was declared as. */
export function alertingOf(problem: Problem): readonly Interval[] {
  return criticalOf({ ...problem, periods: problem.periods.filter(({ name }) => !isDeclared(problem, name)) })
}
