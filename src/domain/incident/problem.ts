/** The problem of an incident: whether it goes on, since when, and for how long it has been critical. Start here. */
import type { Severity } from '../severity.ts'
import { MINUTE, SECOND } from '../units.ts'
import type { Raised } from './lasted.ts'
import {
  begunAtOf,
  endOf,
  endUnderSilence,
  isDisproved,
  reportedEndOf,
  withLate,
  withoutEmptyInterval,
  withReportedEnd,
} from './problem-end.ts'

/** How long the problem must be gone after a reported end. An inferred or expired end has already waited. */
export const SETTLE = MINUTE
/** A problem that returns within this time after its recovery became known belongs to the same incident. */
export const COMES_BACK_WITHIN = 30 * MINUTE
/** Who was told of the opening hears of new conditions in this period after it together. */
export const GATHERING = MINUTE

/** Times are Unix times in milliseconds. */
export type Problem = {
  /** When the present interval began; null while the set of critical conditions is empty. */
  readonly since: number | null
  /** When the last interval ended, and when this became known; null before the first end. */
  readonly endedAt: number | null
  readonly knownAt: number | null
  /** Whether the last end was not reported, so that a repeat can disprove it. */
  readonly isGuess: boolean
  /** The last end that a sender reported while the problem went on; null if none did. */
  readonly reportedAt: number | null
  /** Until when the end does not count yet, because its sender may report the end of its heartbeat; null if it counts. */
  readonly heldUntil: number | null
  /** The last interval that ended. An end that was wrong is no gap, so that the next one began with it. */
  readonly ended: { readonly from: number; readonly to: number } | null
  /** The length of all intervals that have ended, in milliseconds. */
  readonly criticalMs: number
  /** Whether silences cover all critical conditions that go on. */
  readonly isMuted: boolean
  /** Since when this is the case, and how long it was before, in milliseconds. This time is not critical time. */
  readonly mutedSince: number | null
  readonly mutedMs: number
  /** If a silence covered the present interval at first: since when the problem has gone on, and until when it did. */
  readonly covered: { readonly since: number; readonly until: number } | null
  /** When the incident got its severity; null if it has had this severity from the start. */
  readonly raised: Raised | null
  /** Whether the recovery has been announced. */
  readonly isOver: boolean
  /** The critical conditions that go on, and those that the incident has had. */
  readonly firing: readonly string[]
  readonly had: readonly string[]
  /** When the problem came back: the times of the last hour. */
  readonly returns: readonly number[]
  /** When the incident last opened, came back or was reopened. Reminders count from this time. */
  readonly alarmedAt: number
  /** When the incident was found to be flapping; null if it is stable. */
  readonly flapsSince: number | null
  /** The first acknowledgement, even if it has lapsed. */
  readonly firstAcknowledgedAt: number | null
  /** Whether a user resolved the incident while its conditions fired. They open no incident until they have ended. */
  readonly isSuppressed: boolean
  /** Whether alerts fired when the incident was resolved. Its postmortem is written again when the last one ends. */
  readonly awaitsEnds: boolean
  /** Row ids of other services whose incidents were merged into this one, and of the incidents that were on then. */
  readonly others: readonly number[]
  readonly merged: readonly number[]
  /** What people declared in incidents that were merged into this one. It goes on until a user resolves this one. */
  readonly declared: readonly (Burning & { readonly severity?: Severity })[]
  /** The names of all that was ever declared so; `had` has them, too. */
  readonly hadDeclared: readonly string[]
  /** For the service `unattributed`: the name of the alert that the incident is about. */
  readonly about: string | null
}

export const NO_PROBLEM: Problem = {
  ...{ since: null, endedAt: null, knownAt: null, isGuess: false, heldUntil: null, ended: null, criticalMs: 0 },
  ...{ isMuted: false, mutedSince: null, mutedMs: 0, covered: null, raised: null, isOver: false, reportedAt: null },
  ...{ firing: [], had: [], returns: [], others: [], merged: [], declared: [], hadDeclared: [], about: null },
  ...{ alarmedAt: 0, flapsSince: null, firstAcknowledgedAt: null, isSuppressed: false, awaitsEnds: false },
}

/**
 * A critical condition that goes on. `since`: since when it has been critical. `onset`: when it last began to be so. Time
 * under a silence does not count. `begunAt`: when its alert last began to fire, if it has fired before. `covered`: since
 * when it has been critical, and when its silence applied, if this is news.
 */
export type Burning = {
  readonly name: string
  readonly since: number
  readonly onset: number
  readonly begunAt?: number
  readonly covered?: NonNullable<Problem['covered']> & { readonly from: number }
}
/** The end of a condition. `isGuess`: it was not reported. `isOpen`: it is only the last report of what still fires. */
export type Ended = {
  readonly name: string
  readonly endsAt: number
  readonly isGuess: boolean
  readonly isOpen?: boolean
  readonly heldUntil?: number | null
}

/** What is known about the critical conditions of an incident at `now`. */
export type Observation = {
  readonly now: number
  readonly burning: readonly Burning[]
  /** Critical conditions of the incident that go on and are silenced. */
  readonly muted: readonly string[]
  /** The conditions that ended lately. */
  readonly ended: readonly Ended[]
}

/** `settling`: the set is empty, but not yet for the settle time. `muted`: everything that goes on is silenced. */
export type Phase = 'on' | 'settling' | 'off' | 'muted'

/** Returns the phase of a problem at a time. Status, messages, durations and pages use only this function. */
export function phaseOf(problem: Problem, now: number): Phase {
  if (problem.since !== null) return 'on'
  if (problem.isMuted) return 'muted'
  // An announced recovery and a resolution by a user do not wait.
  if (problem.isOver) return 'off'
  const settledAt = settledAtOf(problem)
  return settledAt === null || now >= settledAt ? 'off' : 'settling'
}

/** Returns whether the problem is on, as the API shows it. */
export function problemAt(problem: Problem, now: number): 'on' | 'off' {
  const phase = phaseOf(problem, now)
  return phase === 'on' || phase === 'settling' ? 'on' : 'off'
}

/** Returns when the settle time after the last end is over; null while the problem is on. */
export function settledAtOf({ since, knownAt, isGuess, heldUntil }: Problem): number | null {
  return since !== null || knownAt === null ? null : Math.max(knownAt + (isGuess ? 0 : SETTLE), heldUntil ?? 0)
}

/** Returns the sum of the intervals in which the problem was on, in milliseconds. */
export function criticalMsOf({ since, criticalMs }: Problem, until: number): number {
  return criticalMs + (since === null ? 0 : Math.max(0, until - since))
}

/** Returns for how long silences have covered a problem that went on, in milliseconds. */
export function mutedMsOf({ mutedSince, mutedMs }: Problem, until: number): number {
  return mutedMs + (mutedSince === null ? 0 : Math.max(0, until - mutedSince))
}

/** Returns the problem after an observation. Does not announce anything. */
export function observe(before: Problem, seen: Observation): Problem {
  const after = observed(before, seen)
  const mutedSince = before.mutedSince ?? (before.since === null ? seen.now : after.endedAt)
  if (after.isMuted) return { ...after, mutedSince }
  // What ended while a silence covered it was covered until its end.
  const until = after.since === null ? (after.endedAt ?? seen.now) : seen.now
  return { ...after, mutedSince: null, mutedMs: mutedMsOf(before, until) + after.mutedMs - before.mutedMs }
}

function observed(before: Problem, seen: Observation): Problem {
  const firing = [...new Set(seen.burning.map(({ name }) => name))].sort()
  if (firing.length > 0) {
    const reportedAt = reportedEndOf(before, seen, firing)
    return { ...withLate(begun(before, seen), before, seen, reportedAt), reportedAt, firing, isMuted: false }
  }
  const isMuted = seen.muted.length > 0
  if (before.since === null) {
    // A condition that ended while a silence covered it has ended only now.
    const isEnd = before.isMuted && !isMuted
    const known = isMuted ? before : withReportedEnd(before, seen)
    return { ...known, firing, isMuted, ...(isEnd ? endUnderSilence(before, seen) : {}) }
  }
  const end = endOf(before, seen)
  const was = isMuted ? null : withoutEmptyInterval(before, seen)
  if (was) return { ...was, firing, isMuted }
  const criticalMs = before.criticalMs + Math.max(0, end.endedAt - before.since)
  const ended = { from: begunAtOf(before) ?? before.since, to: end.endedAt }
  return { ...before, ...end, since: null, ended, criticalMs, firing, isMuted }
}

function begun(known: Problem, { now, burning }: Observation): Problem {
  const { endedAt } = known
  if (known.since !== null) return known
  const covers = burning.flatMap(({ covered }) => covered ?? [])
  const [from, until] = [Math.min(...covers.map((one) => one.since)), Math.max(...covers.map((one) => one.until))]
  // What had ended when the silence was over joins up with what goes on.
  const joins = known.isMuted && known.ended !== null && from <= known.ended.to
  const since = joins ? Math.min(from, known.ended.from) : from
  // A silence that left an alert as it became critical has covered nothing.
  const isCovered = until - since >= SECOND
  // What began under a silence was covered although the problem was not on.
  const coveredFrom = Math.max(since, endedAt ?? since, Math.min(...covers.map((one) => one.from)))
  const anew = isCovered && !known.isMuted ? Math.max(0, until - coveredFrom) : 0
  const before = { ...known, covered: isCovered ? { since, until } : null, mutedMs: known.mutedMs + anew }
  if (endedAt === null) return { ...before, since: Math.min(now, ...burning.map(({ since }) => since)) }
  if (isDisproved(known, burning)) return { ...before, since: endedAt }
  const onset = Math.min(now, ...burning.map((one) => one.onset))
  // A condition cannot have begun again before it ended, and it does not count while a silence covers it.
  return { ...before, since: onset > endedAt && !before.isMuted ? onset : now }
}

/** Records conditions that the incident has had. Returns those that are new. */
export function withNames(problem: Problem, names: readonly string[]): { problem: Problem; fresh: readonly string[] } {
  const fresh = names.filter((name) => !problem.had.includes(name))
  return { problem: fresh.length === 0 ? problem : { ...problem, had: [...problem.had, ...fresh] }, fresh }
}

/** Returns the problem of an incident that opens or returns at `now`: reminders count from here. */
export function alarmed(problem: Problem, now: number): Problem {
  return { ...problem, isOver: false, isSuppressed: false, alarmedAt: now }
}

/** Returns the problem of an incident that a user resolves. What fires goes on, even under a silence. It flaps no more. */
export function left(before: Problem, now: number): Problem {
  const problem = { ...withoutDeclared(before), returns: [], flapsSince: null }
  const goesOn = problem.since === null ? problem.isMuted : problem.firing.length > 0
  return goesOn ? { ...problem, knownAt: now, isOver: true, isSuppressed: true } : closed(problem, now)
}

/** Returns the problem that `left` returned after an observation. Once it is over, an incident can open again. */
export function observeLeft(before: Problem, seen: Observation): Problem {
  const after = observe(before, seen)
  return after.since === null && !after.isMuted ? { ...after, isSuppressed: false } : after
}

/** Returns the problem of an incident that a user reopens. The evaluation finds out whether an automatic one is on. */
export function reopened(before: Problem, origin: 'manual' | 'automatic', now: number): Problem {
  const problem = alarmed(before, now)
  const off = origin === 'manual' ? { ...problem, since: now } : { ...problem, knownAt: now, isOver: true }
  return problem.since === null ? off : problem
}

/** Ends the problem by a person's decision. */
export function closed(before: Problem, now: number): Problem {
  const problem = withoutDeclared(before)
  const over = { ...unmuted(problem, now), isOver: true, isSuppressed: problem.firing.length > 0 }
  if (problem.since === null) return over
  const end = { since: null, endedAt: now, knownAt: now, isGuess: false, heldUntil: null }
  return { ...over, ...end, criticalMs: criticalMsOf(problem, now) }
}

/** What a person declared is over with the decision of a person. What fires goes on. */
export function withoutDeclared(problem: Problem): Problem {
  const declared = new Set(problem.declared.map(({ name }) => name))
  return { ...problem, declared: [], firing: problem.firing.filter((name) => !declared.has(name)) }
}

/** Returns a problem that no silence covers from `now` on. */
export function unmuted(problem: Problem, now: number): Problem {
  return { ...problem, isMuted: false, mutedSince: null, mutedMs: mutedMsOf(problem, now) }
}
