/** Decides at the moment of sending whether a message is still true. */

import { type Rated, severityNow } from '../incident/lasted.ts'
import type { LiveIncident } from '../incident/live-incident.ts'
import { digestAtOf } from '../incident/opening.ts'
import { COMES_BACK_WITHIN, type Phase, type Problem, phaseOf, settledAtOf } from '../incident/problem.ts'
import { rank, type Severity } from '../severity.ts'
import type { MessageKind } from './kind.ts'

export type Queued = {
  readonly kind: MessageKind
  /** The critical conditions that the message names. */
  readonly names: readonly string[]
  readonly isDigest: boolean
  readonly createdAt: number
  /** Of `reopened`: whether a user only took an acknowledgement back. */
  readonly isTakenBack?: boolean
  /** Of `worse` about another alert of a condition: whether this alert has ended. */
  readonly isEnded?: boolean
  /** Whether the channel was told that the incident's problem is on. */
  readonly isTold: boolean
  /** Whether the channel knows that the problem is over. */
  readonly isKnown: boolean
  /** When the postmortem of the incident became due that is not written yet; null if there is none. */
  readonly postmortemDueAt: number | null
  /** The severity before it changed, and whether a user raised it. That a user lowers it is not told. */
  readonly severityBefore: Severity | null
  readonly isRaised?: boolean
  readonly incident: Rated & Pick<LiveIncident, 'status' | 'acknowledgedAt'>
}

/** Why a message is not sent. */
export type Untold =
  | 'over'
  | 'resolved'
  | 'changed'
  | 'silence'
  | 'acknowledged'
  | 'unknown'
  | 'rule'
  | 'quiet-hours'
  | 'failing'
  | 'escalation'
  | 'disabled'
  | 'deleted'
  | 'known'

/** `wait`: whether the message is true is known at `until`. */
export type Verdict =
  | { readonly do: 'send' }
  | { readonly do: 'drop'; readonly reason: Untold }
  | { readonly do: 'wait'; readonly until: number }

const SEND: Verdict = { do: 'send' }
/** How long a message that is not true at the moment waits before it is checked again. */
export const RECHECK_MS = 5_000
/** A message about a resolution names the postmortem, and waits for it for so long. */
const POSTMORTEM_WITHIN = 15_000

/** Returns whether to send a message now. A message about a problem is sent only while the problem is on. */
export function verdictOf(queued: Queued, now: number): Verdict {
  const { kind, isDigest, isTold, isKnown, postmortemDueAt, incident } = queued
  const { status, acknowledgedAt } = incident
  if (kind === 'resolved' && status === 'resolved') {
    const isWritten = postmortemDueAt === null || now >= postmortemDueAt + POSTMORTEM_WITHIN
    if (!isWritten) return { do: 'wait', until: now + 500 }
    // The all-clear said when the incident is resolved.
    return isKnown ? drop('known') : SEND
  }
  if (kind === 'resolved') return drop('changed')
  if (kind === 'still-firing' && status === 'resolved') return incident.problem.isSuppressed ? SEND : drop('over')
  if (kind === 'still-firing') return drop('changed')
  if (status === 'resolved' && (kind !== 'recovered' || isDigest)) return drop('resolved')
  if (isDigest) return verdictOnDigest(queued, now)
  if (kind === 'flapping') return isStable(incident.problem, now) ? drop('over') : SEND
  if (kind === 'acknowledged') return acknowledgedAt === null ? drop('changed') : isTold ? SEND : drop('unknown')
  if (queued.isTakenBack && acknowledgedAt !== null) return drop('changed')
  return verdictOnProblem(queued, now)
}

function verdictOnProblem(
  { kind, names, isTold, isKnown, isTakenBack, isEnded, severityBefore, isRaised, incident }: Queued,
  now: number,
): Verdict {
  const { status, problem } = incident
  const phase = phaseOf(problem, now)
  switch (kind) {
    case 'opened':
    case 'group':
    case 'again':
      return whileOn(phase, problem, now)
    case 'worse': {
      if (isEnded) return drop('over')
      const isGone = phase === 'on' && names.length > 0 && !names.some((name) => problem.firing.includes(name))
      // Until the problem is over, the condition can fire again. It is then not news for the incident, but for the channel.
      return isGone ? { do: 'wait', until: now + RECHECK_MS } : whileOn(phase, problem, now)
    }
    case 'reminder':
    case 'escalation':
      if (status !== 'open') return drop(incident.acknowledgedAt === null ? 'over' : 'acknowledged')
      return phase === 'on' ? SEND : drop(phase === 'muted' ? 'silence' : 'over')
    case 'severity': {
      const rise = rank(severityNow(incident)) - rank(severityBefore ?? 'info')
      // For a problem that is over, another severity is a correction.
      return rise === 0 || (isRaised && rise < 0) ? drop('changed') : whileOn(phase, problem, now)
    }
    case 'recovered':
      // Somebody can have resolved the incident although the problem goes on.
      if (phase !== 'off' || problem.isSuppressed) return drop('changed')
      if (isKnown) return drop('known')
      return isTold ? SEND : drop('unknown')
    default:
      return isTakenBack ? whileOn(phase, problem, now) : SEND
  }
}

/** Before the next digest is due, only a return is told that has not ended since. */
function verdictOnDigest({ createdAt, incident: { problem } }: Queued, now: number): Verdict {
  if (isStable(problem, now)) return drop('over')
  const nextAt = digestAtOf(problem, createdAt)
  if (nextAt === null) return drop('changed')
  const burns = problem.since !== null && problem.alarmedAt <= createdAt
  return now >= nextAt || burns ? SEND : { do: 'wait', until: nextAt }
}

/** A problem that has been over for so long does not flap any more. */
function isStable(problem: Problem, now: number): boolean {
  return phaseOf(problem, now) === 'off' && problem.knownAt !== null && now - problem.knownAt >= COMES_BACK_WITHIN
}

function whileOn(phase: Phase, problem: Problem, now: number): Verdict {
  if (phase === 'on') return SEND
  if (phase === 'off') return drop('over')
  if (phase === 'muted') return { do: 'wait', until: now + RECHECK_MS }
  return { do: 'wait', until: settledAtOf(problem) ?? now + RECHECK_MS }
}

function drop(reason: Untold): Verdict {
  return { do: 'drop', reason }
}
