/** The message of a Kubernetes event: what it adds to the reason, and the reason where none was sent. */

import type { Severity } from '../severity.ts'
import { FAILED, type Failure, MESSAGES, REASONS } from './reason-table.ts'

export type Judgement = {
  /** One condition, and the alert's name: the reason, or the one name of several: 'CrashLoopBackOff'. */
  readonly group: string
  /** For this event alone, before repetition. */
  readonly severity: Severity
  /** Null for info. */
  readonly failure: Failure | null
  /** 'reason table', 'message subtype: …', 'failure pattern', 'type Warning', 'type Normal' or 'unknown'. */
  readonly rule: string
}

const COMBINED = '(combined from similar events): '

/** A message as it is compared: without the mark of an aggregated event and the blanks around it. */
export function plainMessage(message: string): string {
  let plain = message.trim()
  while (plain.startsWith(COMBINED)) plain = plain.slice(COMBINED.length).trimStart()
  return plain
}

/** The reason as sent, else the one that its message speaks of, '' where neither tells; `message` is plain. */
export function reasonOf(reason: string, message: string): string {
  const given = reason.trim()
  if (given !== '') return given
  return [...MESSAGES, ...FAILED].find(([pattern]) => pattern.test(message))?.[1] ?? ''
}

/**
 * Tells apart the conditions that share a reason, by what the kubelet writes into the message; null where the
 * reason's row in the table is all there is.
 */
export function subtypeOf(reason: string, message: string, kind: string): Judgement | null {
  switch (reason) {
    case 'BackOff':
      return backOff(message)
    case 'Failed':
      return failed(message)
    case 'Unhealthy':
    case 'ProbeError':
      return probe(message)
    case 'Killing':
      return killing(message)
    case 'NodeNotReady':
      return podOfNode(message, kind)
    default:
      return reason.startsWith('Issuing')
        ? { group: reason, severity: 'info', failure: null, rule: 'reason table' }
        : null
  }
}

function backOff(message: string): Judgement | null {
  const rule = 'message subtype: '
  if (/^back-?off (?:\S+ )?restarting /i.test(message))
    return { group: 'CrashLoopBackOff', severity: 'error', failure: 'crash', rule: `${rule}restarting` }
  if (/^back-?off (?:\S+ )?pulling /i.test(message))
    return { group: 'ImagePullBackOff', severity: 'error', failure: 'image', rule: `${rule}pulling` }
  return null
}

function failed(message: string): Judgement | null {
  const group = FAILED.find(([pattern]) => pattern.test(message))?.[1]
  if (group === undefined) return null
  const row = REASONS.get(group)
  // A kubelet that says Failed could not start the container: never milder than Failed itself.
  const severity = row?.severity === 'critical' ? 'critical' : 'error'
  return { group, severity, failure: row?.failure ?? 'other', rule: `message subtype: ${group}` }
}

function probe(message: string): Judgement | null {
  const which = /^(liveness|readiness|startup) probe\b/i.exec(message)?.[1]?.toLowerCase()
  if (which === undefined) return null
  const severity = which === 'liveness' ? 'error' : 'warning'
  return { group: `Unhealthy (${which})`, severity, failure: 'probe', rule: `message subtype: ${which}` }
}

function killing(message: string): Judgement | null {
  const which =
    /\bfailed (liveness|startup) probe\b/i.exec(message)?.[1]?.toLowerCase() ??
    (/\bliveness probe failed\b|\bis unhealthy\b/i.test(message) ? 'liveness' : null)
  if (which === null) return null
  return { group: `Unhealthy (${which})`, severity: 'warning', failure: 'probe', rule: `message subtype: ${which}` }
}

// No event tells when the node of a pod is back, so the pod's condition must not last as the node's own does.
function podOfNode(message: string, kind: string): Judgement | null {
  if (kind !== 'Pod' || /\bstatus is now\b/.test(message)) return null
  return { group: 'NodeNotReady (pod)', severity: 'critical', failure: 'node', rule: 'reason table' }
}
