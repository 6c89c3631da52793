/** Severity: how bad a sender says that something is, in one vocabulary. */

import type { AlertDraft, Labels } from './event/event.ts'
import { recallNames } from './memoize.ts'

/** From the worst to the mildest. */
export const SEVERITIES = ['critical', 'error', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

const WORDS: Readonly<Record<Severity | 'none', string>> = {
  critical: 'critical crit fatal emergency emerg disaster page p0 p1 sev0 sev1',
  error: 'error err high major alert p2 sev2',
  warning: 'warning warn medium average minor moderate ticket p3 sev3',
  info: 'info informational information notice low debug p4 p5',
  none: 'none ok normal cleared',
}

const VOCABULARY: ReadonlyMap<string, Severity | 'none'> = new Map(
  [...SEVERITIES, 'none' as const].flatMap((severity) => WORDS[severity].split(' ').map((word) => [word, severity])),
)

const LABELS = ['severity', 'priority', 'level'] as const

/**
 * The severity of an alert, the label's text as sent (null where there is none) and the rule that decided.
 * The first of the labels severity, priority, level that is not blank counts. No data and evaluation errors
 * are faults of the monitoring, not of the service: warning, whatever the label says.
 */
export function severityOf(draft: AlertDraft): {
  severity: Severity | 'none'
  raw: string | null
  rule: string
} {
  const label = severityLabel(draft.labels)
  const raw = label === null ? null : (draft.labels[label] ?? null)
  if (draft.nature === 'no-data') return { severity: 'warning', raw, rule: 'no data: a fault of monitoring' }
  if (label === null || raw === null) return { severity: 'warning', raw: null, rule: 'no severity label' }
  const known = VOCABULARY.has(normalised(raw))
  return { severity: parseSeverity(raw), raw, rule: known ? `label ${label}` : `label ${label}: unknown word` }
}

function severityLabel(labels: Labels): (typeof LABELS)[number] | null {
  return LABELS.find((name) => normalised(labels[name] ?? '') !== '') ?? null
}

/**
 * A sender's word as a severity; case and blanks don't matter. An unknown or missing word is a warning:
 * neither hidden nor paged for. 'none' means that there is no alert at all.
 */
export function parseSeverity(raw: string | undefined): Severity | 'none' {
  return VOCABULARY.get(normalised(raw ?? '')) ?? 'warning'
}

const normalised = recallNames((raw) => raw.replace(/\s/g, '').toLowerCase())

/** The worse of two severities. */
export function worst(a: Severity, b: Severity): Severity {
  return rank(a) >= rank(b) ? a : b
}

/** A number to compare by: info 0, warning 1, error 2, critical 3. */
export function rank(severity: Severity): number {
  return SEVERITIES.length - 1 - SEVERITIES.indexOf(severity)
}
