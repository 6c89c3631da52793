/** Maps the severity terms of all senders to one scale. */

import type { AlertDraft, Labels } from './event/event.ts'
import { cacheByName } from './memoize.ts'

/** Worst first. */
export const SEVERITIES = ['critical', 'error', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/** The verbs that describe a service with a problem of a given severity. */
export const STATES = {
  critical: { is: 'is critical', hasBeen: 'has been critical', was: 'was critical' },
  error: { is: 'has errors', hasBeen: 'has had errors', was: 'had errors' },
  warning: { is: 'has a warning', hasBeen: 'has had a warning', was: 'had a warning' },
  info: { is: 'has a notice', hasBeen: 'has had a notice', was: 'had a notice' },
} as const satisfies Record<Severity, object>

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
 * Returns an alert's severity, the original label value (null if there is none), and the rule that applied. Tries the
 * labels severity, priority and level, in this order. Missing data and evaluation errors are problems with the
 * monitoring itself and are always warnings.
 */
export function severityOf(draft: AlertDraft): { severity: Severity | 'none'; raw: string | null; rule: string } {
  const label = severityLabel(draft.labels)
  const raw = label === null ? null : (draft.labels[label] ?? null)
  if (draft.nature === 'no-data')
    return { severity: 'warning', raw, rule: 'no data: a problem with the monitoring itself' }
  if (label === null || raw === null) return { severity: 'warning', raw: null, rule: 'no severity label' }
  return {
    severity: parseSeverity(raw),
    raw,
    rule: isSeverityWord(raw) ? `label ${label}` : `label ${label}: unknown value`,
  }
}

/** Returns the label that contains the severity, or null if there is none. */
export function severityLabel(labels: Labels): (typeof LABELS)[number] | null {
  return LABELS.find((name) => normalised(labels[name] ?? '') !== '') ?? null
}

/**
 * Maps a sender's term to a severity. Ignores case and whitespace. Unknown or missing terms are warnings. 'none' means
 * that no alert is opened.
 */
export function parseSeverity(raw: string | undefined): Severity | 'none' {
  return VOCABULARY.get(normalised(raw ?? '')) ?? 'warning'
}

const normalised = cacheByName((raw) => raw.replace(/\s/g, '').toLowerCase())

/** Returns whether a term is a known severity. */
export function isSeverityWord(word: string): boolean {
  return VOCABULARY.has(normalised(word))
}

/** Returns the worse of two severities. */
export function worst(a: Severity, b: Severity): Severity {
  return rank(a) >= rank(b) ? a : b
}

/** Returns a number for comparing severities: info 0, warning 1, error 2, critical 3. */
export function rank(severity: Severity): number {
  return SEVERITIES.length - 1 - SEVERITIES.indexOf(severity)
}
