/** The problem of an incident: whether it goes on, since when, and for how long it has been critical. Start here. */
import { distinct } from '../order.ts'
import type { Severity } from '../severity.ts'
import { formatDuration } from '../shown-time.ts'
import { formatTime } from '../text.ts'
import { MINUTE, SECOND } from '../units.ts'
import { criticalOf, DECLARED, type Period, type Times, tracked, union } from './periods.ts'

/** How long the problem must be gone after a reported end. An inferred or expired end has already waited. */
export const SETTLE = MINUTE
/** A problem that returns within this time after its recovery became known belongs to the same incident. */
export const COMES_BACK_WITHIN = 30 * MINUTE
/** Who was told of the opening hears of new conditions in this period after it together. */
export const GATHERING = MINUTE

/** Times are Unix times in milliseconds. */
export type Problem = {
  /** When the present interval began; null while the set of critical conditions is empty. An end that was wrong is no gap. */
  readonly since: number | null
  /** When the last interval ended, and when this became known; null before the first end. */
  readonly endedAt: number | null
  readonly knownAt: number | null
  /** Whether the last end was not reported, so that a repeat can disprove it. */
  readonly isGuess: boolean
  /** Until when the end does not count yet, because its sender may report the end of its heartbeat; null if it counts. */
  readonly heldUntil: number | null
  /** When each condition was critical, and when silences covered it. Every length follows from these times. */
  readonly periods: readonly Period[]
  readonly silenced: readonly Period[]
  /** The severities that users chose before the present one, and until when each of them counts. */
  readonly ratings: readonly { readonly until: number; readonly severity: Severity }[]
  /** Whether silences cover all critical conditions that go on. */
  readonly isMuted: boolean
  /** If a silence covered the present interval at first: since when the problem has gone on, and until when it did. */
  readonly covered: { readonly since: number; readonly until: number } | null
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
  readonly declared: readonly Burning[]
  /** The names of all that was ever declared so; `had` has them, too. */
  readonly hadDeclared: readonly string[]
  /** For the service `unattributed`: the name of the alert that the incident is about. */
  readonly about: string | null
}

/** A problem that has no critical condition yet. */
export const NO_PROBLEM: Problem = {
  ...{ since: null, endedAt: null, knownAt: null, isGuess: false, heldUntil: null, isMuted: false, covered: null },
  ...{ periods: [], silenced: [], ratings: [], isOver: false },
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
  readonly severity?: Severity | undefined
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
  readonly muted: readonly Burning[]
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

/** Returns since when silences have covered a problem that goes on; null if they do not. */
export function mutedSinceOf({ isMuted, endedAt, periods }: Problem): number | null {
  const last = union(periods).at(-1)
  return isMuted && last ? Math.max(last.from, endedAt ?? 0) : null
}

/** Returns the last end that a sender reported; null if none did. */
export function reportedAtOf({ periods }: Problem): number | null {
  const reported = periods.flatMap(({ to, isGuess }) => (to === null || isGuess ? [] : to))
  return reported.length === 0 ? null : Math.max(...reported)
}

/** Returns the problem after an observation. Does not announce anything. */
export function observe(before: Problem, seen: Observation): Problem {
  const { now, burning, ended } = seen
  const firing = distinct(burning.map(({ name }) => name))
  const isMuted = firing.length === 0 && seen.muted.length > 0
  const problem = { ...before, ...tracked(before, seen), firing, isMuted }
  const on = criticalOf(problem)
  if (firing.length > 0) {
    const since = on.at(-1)?.from ?? now
    return { ...problem, since, endedAt: on.at(-2)?.to ?? before.endedAt, covered: coveredOf(before, problem, seen) }
  }
  const wasOn = before.since !== null
  if (isMuted) {
    const end = { endedAt: on.at(-1)?.to ?? now, knownAt: now, isGuess: false, heldUntil: null }
    return { ...problem, since: null, ...(wasOn ? end : {}) }
  }
  const last = lastPeriodOf(problem)
  if (!last) return { ...problem, since: null }
  const own = ended.filter(({ name }) => before.had.includes(name))
  const heldUntil = own.reduce((until, one) => Math.max(until, one.heldUntil ?? 0), 0) || null
  const end = { endedAt: last.to, isGuess: last.isGuess ?? false }
  if (wasOn || before.isMuted) return { ...problem, since: null, ...end, knownAt: now, heldUntil }
  // What was on until an end that is known only now has been gone since then.
  return { ...problem, ...end, knownAt: before.knownAt && Math.max(before.knownAt, last.to ?? 0) }
}

/** Returns the period that ended last. An end that was reported counts more. */
function lastPeriodOf({ periods }: Times): Period | undefined {
  const orderOf = ({ to, isGuess }: Period) => (to ?? 0) - (isGuess ? 0.5 : 0)
  return periods.toSorted((a, b) => orderOf(b) - orderOf(a))[0]
}

/** Returns the silence that covered a problem at first: since when it goes on, and until when the silence applied. */
function coveredOf(before: Problem, { periods }: Times, { burning, now }: Observation): Problem['covered'] {
  if (before.since !== null) return before.covered
  // Of what was merged, only this is known.
  const hidden = before.isSuppressed ? [] : before.silenced.flatMap(({ name, to }) => (to === null ? name : []))
  const until = Math.max(...burning.flatMap((one) => one.covered?.until ?? (hidden.includes(one.name) ? now : [])))
  // What ended before an all-clear is another problem.
  const since = union(before.isOver ? periods.filter(({ to }) => to === null) : periods).at(-1)?.from ?? until
  // A silence that left an alert as it became critical has covered nothing.
  return until - since >= SECOND ? { since, until } : null
}

/**
 * Returns whether what fires shows that the problem was not over at its last end: it has been firing since before that end
 * or, if another sender goes on repeating what one has reported as ended, since that very moment.
 */
export function isDisproved({ since, endedAt, isGuess, isMuted }: Problem, burning: readonly Burning[]): boolean {
  if (since !== null || endedAt === null || (isMuted && !isGuess)) return false
  return burning.some(({ onset }) => onset <= endedAt)
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

/** Returns the problem of an incident that a person declares, or that a silent sender causes. It goes on since then. */
export function begun(problem: Problem, since: number): Problem {
  return { ...problem, since, periods: [...problem.periods, { name: DECLARED, from: since, to: null }] }
}

/**
 * Returns the problem of an incident that a user resolves. What fires goes on, even under a silence. It flaps no more.
 * @param isReported whether only the sender's next report ends the problem
 */
export function left(before: Problem, now: number, isReported = false): Problem {
  const problem = { ...(isReported ? before : withoutDeclared(before, now)), returns: [], flapsSince: null }
  const goesOn = problem.since === null ? problem.isMuted : isReported || problem.firing.length > 0
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
  if (problem.since !== null) return problem
  return origin === 'manual' ? begun(problem, now) : { ...problem, knownAt: now, isOver: true }
}

/** Ends the problem by a person's decision. */
export function closed(before: Problem, now: number): Problem {
  const problem = withoutDeclared(before, now)
  const [periods, silenced] = [problem.periods, problem.silenced].map((all) => all.map((one) => endedAt(one, now)))
  const times = { periods: periods ?? [], silenced: silenced ?? [] }
  const over = { ...problem, ...times, isMuted: false, isOver: true, isSuppressed: problem.firing.length > 0 }
  if (problem.since === null) return over
  return { ...over, since: null, endedAt: now, knownAt: now, isGuess: false, heldUntil: null }
}

const endedAt = (one: Period, now: number): Period => (one.to === null ? { ...one, to: Math.max(one.from, now) } : one)

/** What a person declared is over with the decision of a person. What fires goes on. */
function withoutDeclared(problem: Problem, now: number): Problem {
  const declared = new Set(problem.declared.map(({ name }) => name))
  const periods = problem.periods.map((one) =>
    one.name === DECLARED || declared.has(one.name) ? endedAt(one, now) : one,
  )
  return { ...problem, periods, declared: [], firing: problem.firing.filter((name) => !declared.has(name)) }
}

/** After how many milliseconds the end of a problem is known late, for example because another condition had no end. */
const LATE = 5 * MINUTE

/** Says that a problem is over. Adds its end if that was known late. */
export function endText({ isGuess, endedAt }: Problem, now: number): string {
  const isLate = !isGuess && endedAt !== null && now - endedAt >= LATE
  return isLate ? `the problem had ended at ${formatTime(endedAt)}` : 'the problem is over'
}

/** Returns why an incident was resolved: `known`, unless nobody reported the end of its problem. */
export function overText({ isGuess, endedAt }: Problem, now: number, known: string): string {
  return isGuess ? `the problem had not been reported for ${formatDuration(now - (endedAt ?? now))}` : known
}
