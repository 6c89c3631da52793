/** When the problem of an incident ended, as far as its senders reported it. */
import { formatDuration } from '../shown-time.ts'
import { formatTime } from '../text.ts'
import { MINUTE } from '../units.ts'
import type { Burning, Ended, Observation, Problem } from './problem.ts'

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

/** Returns the problem with the end that a sender reported only after an earlier one had been assumed. */
export function withReportedEnd(before: Problem, { now, ended }: Observation): Problem {
  const { endedAt, isGuess } = before
  if (!isGuess || endedAt === null) return before
  const last = lastOf(before, ended)
  if (!last || last.isGuess || last.endsAt <= endedAt || last.endsAt > now) return before
  // What was on until then has been gone since then.
  const knownAt = Math.max(before.knownAt ?? last.endsAt, last.endsAt)
  return { ...endingAt(before, endedAt, last.endsAt), knownAt, isGuess: false }
}

/**
 * Returns the problem without its present interval if it ended, or was last reported, before that: before the last end, or
 * under the silence after which the interval began. Null if it was on then.
 */
export function withoutEmptyInterval(before: Problem, { now, ended }: Observation): Problem | null {
  const last = lastOf(before, ended)
  const { since, endedAt, ended: was, covered, mutedMs } = before
  const silencedTo = covered?.until ?? 0
  const isSilenced = since !== null && endedAt !== null && silencedTo > endedAt && silencedTo <= since
  if (!last || since === null || endedAt === null || !was || last.endsAt >= since) return null
  if (!last.isGuess && !isSilenced) return null
  const to = Math.max(was.from, Math.min(endedAt, last.endsAt))
  const at = isSilenced ? Math.max(to, last.endsAt) : to
  const known = { since: null, endedAt: at, knownAt: now, isGuess: last.isGuess, heldUntil: null }
  const isMuted = isSilenced ? silencedTo - Math.max(at, endedAt) : 0
  return { ...endingAt(before, endedAt, to), ...known, mutedMs: Math.max(0, mutedMs - isMuted) }
}

function endingAt(problem: Problem, from: number, to: number): Problem {
  const { ended, criticalMs } = problem
  return { ...problem, endedAt: to, criticalMs: criticalMs + to - from, ended: ended && { ...ended, to } }
}

/** Returns the last end of the conditions that the incident had, or else their last report; null if none is known. */
export function lastOf({ had }: Pick<Problem, 'had'>, ended: readonly Ended[]): Ended | null {
  const { true: open = [], false: over = [] } = Object.groupBy(
    ended.filter(({ name }) => had.includes(name)),
    ({ isOpen = false }) => `${isOpen}`,
  )
  return (over.length > 0 ? over : open).reduce<Ended | null>(
    (found, one) => (found && found.endsAt >= one.endsAt ? found : one),
    null,
  )
}

/**
 * Returns the last end that a sender reported of a condition while others go on. The condition itself is known only for
 * some time after its end.
 */
export function reportedEndOf(
  { firing: before, reportedAt }: Problem,
  { now, ended }: Observation,
  firing: readonly string[],
): number | null {
  const own = ended.filter(({ name, isGuess }) => !isGuess && before.includes(name) && !firing.includes(name))
  return own.reduce((last, { endsAt }) => (endsAt > now ? last : Math.max(last ?? endsAt, endsAt)), reportedAt)
}

/** Returns the end of the present interval: the last end that is known, or else `now`. */
export function endOf(problem: Problem, { now, ended, muted }: Observation) {
  const { since, firing } = problem
  if (muted.length > 0) {
    // If only what is silenced goes on because the rest has ended, silences cover the problem since then.
    const isLeft = firing.some((name) => muted.includes(name))
    const at = isLeft ? now : (lastOf({ had: firing }, ended)?.endsAt ?? now)
    return { endedAt: Math.max(since ?? 0, Math.min(now, at)), knownAt: now, isGuess: false, heldUntil: null }
  }
  const last = lastOf(problem, ended)
  const own = ended.filter(({ name }) => problem.had.includes(name))
  const { reportedAt } = problem
  // A last report that is older than a reported end of another condition is not the end.
  if (last?.isGuess && reportedAt !== null && reportedAt > Math.max(last.endsAt, since ?? 0))
    return { endedAt: reportedAt, knownAt: now, isGuess: false, heldUntil: null }
  const endedAt = Math.max(since ?? 0, Math.min(now, last?.endsAt ?? now))
  const heldUntil = own.reduce((until, one) => Math.max(until, one.heldUntil ?? 0), 0)
  return { endedAt, knownAt: now, isGuess: last?.isGuess ?? false, heldUntil: heldUntil || null }
}

/**
 * Returns whether what fires shows that the problem was not over at its last end: it has been firing since before that end
 * or, if another sender goes on repeating what one has reported as ended, since that very moment.
 */
export function isDisproved({ since, endedAt, isGuess, isMuted }: Problem, burning: readonly Burning[]): boolean {
  if (since !== null || endedAt === null || (isMuted && !isGuess)) return false
  return burning.some(({ onset }) => onset <= endedAt)
}

/** Returns the end of a problem that silences cover, and how long it was critical: it can have ended before them. */
export function endUnderSilence(problem: Problem, seen: Observation) {
  const end = endOf(problem, seen)
  const ms = Math.max(0, (problem.endedAt ?? 0) - end.endedAt)
  return { ...end, criticalMs: Math.max(0, problem.criticalMs - ms) }
}

/** Returns when the present interval began; null while the problem is off. An end that was wrong is no gap. */
export function begunAtOf({ since, ended }: Pick<Problem, 'since' | 'ended'>): number | null {
  return ended !== null && since === ended.to ? ended.from : since
}

/**
 * Returns a problem that goes on with what is known only now: a gap, because all that was on ended before the rest began,
 * or a condition that began before the rest.
 * @param ended the last end that a sender reported while the problem went on
 */
export function withLate(
  problem: Problem,
  before: Problem,
  { now, burning }: Observation,
  ended: number | null,
): Problem {
  const { since, endedAt } = problem
  if (since === null || before.since === null) return problem
  const from = Math.min(...burning.map((one) => Math.max(one.since, one.begunAt ?? 0)))
  if (ended !== null && ended > since && from > ended && from <= now) {
    const end = { endedAt: ended, knownAt: now, isGuess: false, heldUntil: null }
    const period = { from: begunAtOf(problem) ?? since, to: ended }
    return { ...problem, ...end, ended: period, since: from, criticalMs: problem.criticalMs + ended - since }
  }
  const fresh = burning.flatMap(({ name, onset }) => (before.firing.includes(name) ? [] : onset))
  return endedAt === null ? problem : { ...problem, since: Math.min(since, Math.max(endedAt, Math.min(...fresh))) }
}
