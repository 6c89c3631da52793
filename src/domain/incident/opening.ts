/** Opens an incident, and brings one back whose problem returned. */
import { reasonText } from '../health/penalty-text.ts'
import { HOUR, MINUTE } from '../units.ts'
import { alarmed, type Burning, NO_PROBLEM, observe, type Problem, withNames } from './problem.ts'
import type { Situation, SituationAlert, Step } from './situation.ts'

/** Returns the step that opens an incident. Its title names the condition that began first. */
export function opening(
  { now, serviceName, about, critical }: Situation,
  due: readonly SituationAlert[],
  { alertIds, burning, follows }: { alertIds: readonly string[]; burning: readonly Burning[]; follows: boolean },
): Step {
  const first = [...due].sort((a, b) => a.since - b.since || (a.name < b.name ? -1 : 1))[0]
  const observed = observe(NO_PROBLEM, { now, burning, muted: [], ended: [] })
  const name = first?.name ?? 'critical'
  const rule = critical.find(({ alertId }) => alertId === first?.uuid)?.rule
  const isSent = due.some(({ severity }) => severity === 'critical')
  return {
    do: 'open',
    why: isSent || !rule ? '' : reasonText({ name, rule }),
    title: about === null ? `${serviceName}: ${name}` : titleOf(name, first?.summary ?? ''),
    startedAt: first?.since ?? now,
    alertIds,
    problem: { ...alarmed(withFiring(observed), now), about },
    follows,
  }
}

/** Returns the title without the service with which `opening` begins it; null if it does not begin so. */
export function withoutService(title: string, service: string): string | null {
  const prefix = `${service}: `
  return title.startsWith(prefix) ? title.slice(prefix.length) : null
}

/** Returns the title of an incident that is about an alert and not about a service. */
export function titleOf(name: string, summary: string): string {
  return summary === '' || summary === name ? name : `${name}: ${summary}`
}

/** The message names everything that fires. */
function withFiring(problem: Problem): Problem {
  return withNames(problem, problem.firing).problem
}

export type Back = {
  readonly burning: readonly Burning[]
  readonly alertIds: readonly string[]
  readonly wasWrong: boolean
}

/** Returns the step that puts an incident back whose problem returned. */
export function returning(
  { now }: Pick<Situation, 'now'>,
  before: Problem,
  { burning, alertIds, wasWrong }: Back,
  due: readonly SituationAlert[],
): Step {
  const observed = withFiring(observe(before, { now, burning, muted: [], ended: [] }))
  if (before.since === null) return { do: 'return', alertIds, problem: returned(observed, now), wasWrong, fresh: [] }
  // A problem that a user left on did not come back.
  return { do: 'return', alertIds, problem: alarmed(observed, now), wasWrong, fresh: due.map(({ uuid }) => uuid) }
}

/** Returns whether people were told that the problem was over: not if a user resolved the incident while it went on. */
export function hadAllClear({ problem, resolvedAt }: NonNullable<Situation['last']>): boolean {
  return resolvedAt === problem.endedAt || (problem.knownAt ?? 0) <= (resolvedAt ?? 0)
}

/** A flapping incident is one that came back this many times within an hour. */
export const FLAPS = 3

/** Records that the problem came back at `now`. Starts to flap with the third return within an hour. */
function returned(problem: Problem, now: number): Problem {
  const returns = [...problem.returns.filter((at) => now - at < HOUR && at <= now), now]
  const flaps = problem.flapsSince ?? (returns.length >= FLAPS ? now : null)
  return { ...alarmed(problem, now), returns, flapsSince: flaps }
}

/** A flapping incident gets one digest in this time, until it has been stable for `COMES_BACK_WITHIN`. */
export const FLAPPING_DIGEST = 15 * MINUTE

/** A return of a flapping incident that lasts longer does not wait for the digest. */
export const FLAPPING_BURNS = 5 * MINUTE

/** Returns when the next digest of a flapping incident is sent; null if the incident does not flap. */
export function digestAtOf({ flapsSince }: Problem, now: number): number | null {
  if (flapsSince === null) return null
  return flapsSince + FLAPPING_DIGEST * Math.max(1, Math.ceil((now - flapsSince) / FLAPPING_DIGEST))
}
