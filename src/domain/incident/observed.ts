/** What an observation means for an unresolved incident, part of which a user may have declared. */
import type { Health } from '../health/health.ts'
import { distinct } from '../order.ts'
import { rank } from '../severity.ts'
import { HOUR } from '../units.ts'
import { alertingOf, severityNow } from './lasted.ts'
import { FLAPPING_DIGEST, FLAPS } from './opening.ts'
import { tracked } from './periods.ts'
import { type Burning, observe, type Problem, SETTLE } from './problem.ts'
import type { CurrentIncident, Situation, SituationAlert } from './situation.ts'

/** Returns the problem of an unresolved incident after an observation. What fires anew besides a declared problem is news. */
export function observedOf(situation: Situation, current: CurrentIncident, burning: readonly Burning[]): Problem {
  const { now, muted, ended } = situation
  return withReturns(current, seen(current, { now, burning, muted, ended }), now)
}

function seen({ origin, problem }: CurrentIncident, what: Parameters<typeof observe>[1]): Problem {
  const { burning } = what
  // The problem of a manual incident is on until a person resolves it, but can become more or less severe.
  if (origin === 'manual')
    return { ...problem, ...tracked(problem, what), firing: distinct(burning.map(({ name }) => name)) }
  const observed = observe(problem, what)
  return burning.length > 0 ? { ...observed, isOver: false } : observed
}

/**
 * Returns a problem that has become critical again while what a user declared went on. What fires is news if it was gone
 * for the settle time or, if it comes back often, for longer.
 */
function withReturns(current: CurrentIncident, problem: Problem, now: number): Problem {
  const rises = rank(severityNow({ ...current, problem })) > rank(severityNow(current))
  const names = problem.firing.filter((name) => problem.had.includes(name))
  const isDeclared = (name: string) => problem.declared.some((one) => one.name === name)
  const back = names.filter((name) => !isDeclared(name))
  if (!rises || back.length === 0) return problem
  const returns = problem.returns.filter((at) => now - at < HOUR && at <= now)
  const goneFor = now - (alertingOf(current.problem).at(-1)?.to ?? 0)
  if (goneFor < (returns.length < FLAPS ? SETTLE : FLAPPING_DIGEST)) return problem
  return { ...problem, had: problem.had.filter((name) => !back.includes(name)), returns: [...returns, now] }
}

/**
 * Returns whether only what a user declared as less severe goes on, and people were told that it was worse. A problem that
 * flaps rises without a message.
 */
export function isMilder(current: CurrentIncident, problem: Problem): boolean {
  const { returns } = current.problem
  const falls = rank(severityNow({ ...current, problem })) < rank(severityNow(current))
  return (
    falls &&
    problem.since !== null &&
    (returns.length < FLAPS || (returns.at(-1) ?? 0) >= (alertingOf(current.problem).at(-1)?.from ?? 0))
  )
}

/** Returns the conditions. A milder alert that counts as critical because an event agrees does so since that event. */
export function sinceAgreed<One extends SituationAlert>(
  conditions: readonly One[],
  critical: Health['critical'],
): readonly One[] {
  if (!critical.some(({ by }) => by === 'agreement')) return conditions
  const by = new Map(critical.map((one) => [one.alertId, one.by]))
  const events = conditions.filter(({ uuid, source }) => source === 'cluster' && by.has(uuid))
  const from = Math.min(...events.map(({ since }) => since))
  return conditions.map((one) => {
    const isMilder = by.get(one.uuid) === 'agreement' && one.source !== 'cluster' && one.severity !== 'critical'
    return isMilder ? { ...one, since: Math.max(one.since, from), onset: Math.max(one.onset, from) } : one
  })
}

/**
 * Returns whether a problem goes on that silences had covered as a whole. What has been firing under a silence does so at
 * once; what ended and is back within the settle time goes on.
 */
export function isUncovered(before: Problem, { since }: Problem, burning: readonly Burning[], now: number): boolean {
  const { isMuted, isOver, endedAt, knownAt } = before
  const wasSilenced = burning.some(
    ({ covered, begunAt, onset }) => covered !== undefined || (begunAt ?? onset) <= (endedAt ?? now),
  )
  const isSettled = knownAt === null || now - knownAt >= SETTLE
  return isMuted && !isOver && since !== null && (wasSilenced || isSettled)
}

/** Returns whether an alert fires anew so soon after its end that the problem has gone on. */
export function isBackSoon({ evidence, begunAt }: SituationAlert): boolean {
  return evidence.recovered.some(([at]) => at <= begunAt && begunAt - at < SETTLE)
}
