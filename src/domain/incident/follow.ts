/** Follows an unresolved incident. */
import { earliest } from '../instant.ts'
import { rank } from '../severity.ts'
import { formatDuration } from '../shown-time.ts'
import { HOUR } from '../units.ts'
import { type Back, opening, returning } from './opening.ts'
import {
  type Burning,
  COMES_BACK_WITHIN,
  GATHERING,
  isDisproved,
  observe,
  type Problem,
  phaseOf,
  settledAtOf,
  withNames,
} from './problem.ts'
import type { CurrentIncident, Decision, Situation, SituationAlert, Step } from './situation.ts'

/** How long an incident that a user has touched stays in monitoring. */
const TOUCHED = 24 * HOUR
/** The maximum number of alerts that a new incident takes over in one batch. */
const MAX_TAKEN = 500

type Following = {
  readonly due: readonly SituationAlert[]
  readonly burning: readonly Burning[]
  /** The alerts that join the incident. */
  readonly alertIds: readonly string[]
}

/** Follows the problem of an unresolved incident: it gets worse, recovers, comes back or is resolved. */
export function follow(
  situation: Situation,
  current: CurrentIncident,
  { due, burning, alertIds }: Following,
): Pick<Decision, 'steps' | 'problem' | 'changesAt'> {
  const joins: Step[] = alertIds.length > 0 ? [{ do: 'join', alertIds }] : []
  const { now } = situation
  const before = current.problem
  if (current.cause === 'silence') return { steps: joins, problem: before, changesAt: null }
  // If a user has just reopened the incident, people already know that it is open.
  const isKnown = before.alarmedAt === now
  if (before.isOver && burning.length > 0 && current.origin !== 'manual' && !isKnown) {
    return comeBack(situation, before, { burning, alertIds, wasWrong: isDisproved(before, burning) }, due)
  }
  const observed = observedOf(situation, current, burning)
  const { problem, worse } = withNames(observed, now, current.createdAt)
  const steps: Step[] = worse.length > 0 ? [...joins, { do: 'worsen', names: worse }] : joins
  const gatheredAt = problem.untold.length > 0 ? current.createdAt + GATHERING : null
  if (current.origin === 'manual') return { steps, problem, changesAt: gatheredAt }
  const phase = phaseOf(problem, now)
  const settledAt = phase === 'settling' ? settledAtOf(problem) : null
  if (phase !== 'off') return { steps, problem, changesAt: earliest([gatheredAt, settledAt]) }
  const isNews = !problem.isOver && problem.knownAt !== null
  if (isNews) steps.push({ do: 'recover', problem: recovered(problem, now) })
  const end = endingOf(situation, { ...current, problem })
  return { steps: [...steps, ...end.steps], problem, changesAt: end.changesAt }
}

function observedOf(
  { now, muted, ended }: Situation,
  { origin, problem }: CurrentIncident,
  burning: readonly Burning[],
) {
  // The problem of a manual incident is on until a person resolves it.
  if (origin === 'manual') return { ...problem, firing: [...new Set(burning.map(({ name }) => name))].sort() }
  const observed = observe(problem, { now, burning, muted, ended })
  return burning.length > 0 ? { ...observed, isOver: false } : observed
}

/** The recovery is announced once. An incident that burned for long has stopped flapping. */
function recovered(problem: Problem, now: number): Problem {
  const isStable = now - problem.alarmedAt >= COMES_BACK_WITHIN
  return { ...problem, isOver: true, flapsSince: isStable ? null : problem.flapsSince }
}

/** The problem is back after its recovery: in the same incident, or after more than 30 minutes in a new one. */
function comeBack(
  situation: Situation,
  before: Problem,
  back: Back,
  due: readonly SituationAlert[],
): Pick<Decision, 'steps' | 'problem' | 'changesAt'> {
  const { now } = situation
  const { knownAt, endedAt } = before
  const changesAt = now + GATHERING
  if (back.wasWrong || knownAt === null || now - knownAt <= COMES_BACK_WITHIN) {
    return { steps: [returning(situation, before, back)], problem: before, changesAt }
  }
  const text = 'the service recovered and had been well for more than 30 minutes when the next problem began'
  const end: Step = { do: 'resolve', at: endedAt ?? knownAt, text, isTold: false }
  if (!situation.opens) return { steps: [end], problem: before, changesAt: now }
  const { burning } = back
  // The alerts belong to the new incident, even those that were in the old one.
  const alertIds = situation.candidates
    .filter(({ status, severity }) => status === 'firing' && rank(severity) >= rank('warning'))
    .slice(0, MAX_TAKEN)
    .map(({ uuid }) => uuid)
  return { steps: [end, opening(situation, due, { alertIds, burning, follows: true })], problem: before, changesAt }
}

/** An incident that nobody has touched is resolved a while after its recovery, any other after a day. */
function endingOf(
  { now, resolveAfter }: Situation,
  { problem, touchedAt }: CurrentIncident,
): { steps: Step[]; changesAt: number | null } {
  const { knownAt, endedAt } = problem
  if (resolveAfter === null || knownAt === null || endedAt === null) return { steps: [], changesAt: null }
  const overAt = knownAt + (touchedAt === null ? resolveAfter : Math.max(resolveAfter, TOUCHED))
  if (now < overAt) return { steps: [], changesAt: overAt }
  const text = `the service has been well for ${formatDuration(overAt - knownAt)}`
  // The service may have a second unresolved incident, for example because a user reopened one.
  return { steps: [{ do: 'resolve', at: endedAt, text, isTold: true }], changesAt: now }
}
