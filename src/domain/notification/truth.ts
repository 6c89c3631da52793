/** Decides at the moment of sending whether a message is still true. */

import type { LiveIncident } from '../incident/live-incident.ts'
import { type Phase, type Problem, phaseOf, settledAtOf } from '../incident/problem.ts'
import type { MessageKind } from './kind.ts'

export type Queued = {
  readonly kind: MessageKind
  /** The critical conditions that the message names. */
  readonly names: readonly string[]
  readonly isDigest: boolean
  readonly incident: Pick<LiveIncident, 'status' | 'acknowledgedAt'> & { readonly problem: Problem }
}

/** Why a message is not sent. */
export type Untold = 'over' | 'resolved' | 'changed' | 'silence' | 'acknowledged' | 'rule' | 'quiet-hours' | 'deleted'

/** `wait`: whether the message is true is known at `until`. */
export type Verdict =
  | { readonly do: 'send' }
  | { readonly do: 'drop'; readonly reason: Untold }
  | { readonly do: 'wait'; readonly until: number }

const SEND: Verdict = { do: 'send' }
/** How long a message about a silenced problem waits before it is checked again. */
const RECHECK_MS = 5_000

/** Returns whether to send a message now. A message about a problem is sent only while the problem is on. */
export function verdictOf({ kind, names, isDigest, incident }: Queued, now: number): Verdict {
  const { status, problem, acknowledgedAt } = incident
  const phase = phaseOf(problem, now)
  if (isDigest) return SEND
  switch (kind) {
    case 'opened':
    case 'group':
    case 'again':
      return status === 'resolved' ? drop('resolved') : whileOn(phase, problem, now)
    case 'worse': {
      const isGone = phase === 'on' && names.length > 0 && !names.some((name) => problem.firing.includes(name))
      if (status === 'resolved') return drop('resolved')
      return isGone ? drop('over') : whileOn(phase, problem, now)
    }
    case 'reminder':
    case 'escalation':
      if (status !== 'open') return drop(status === 'resolved' ? 'resolved' : 'acknowledged')
      return phase === 'on' ? SEND : drop(phase === 'muted' ? 'silence' : 'over')
    case 'recovered':
      return phase === 'off' ? SEND : drop('changed')
    case 'resolved':
    case 'still-firing':
      return status === 'resolved' ? SEND : drop('changed')
    case 'acknowledged':
      return acknowledgedAt === null ? drop('changed') : SEND
    case 'sender-silent':
      return status === 'resolved' ? drop('over') : SEND
    default:
      return SEND
  }
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
